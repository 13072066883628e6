package node

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// dialTimeout bounds the first contact with Temporal.
const dialTimeout = 10 * time.Second

// SearchAttributes are what a session's workflow sets.
func SearchAttributes() []string {
	return []string{protocol.SearchChannel, protocol.SearchSession, protocol.SearchSender}
}

// dial connects to Temporal at an address. The identity names this process in
// histories. With a nil handler nothing is counted.
func Dial(
	ctx context.Context, c config.Temporal, address, identity string, logger *slog.Logger, handler client.MetricsHandler,
) (client.Client, error) {
	options := client.Options{
		HostPort: address, Namespace: c.Namespace, Identity: identity, MetricsHandler: handler,
		Logger: log.NewStructuredLogger(slog.New(quieter{logger.With("component", "temporal").Handler()})),
	}
	if c.UseTLS() {
		settings, err := tlsConfig(c.TLS)
		if err != nil {
			return nil, fmt.Errorf("connect to Temporal at %s: %w", address, err)
		}
		options.ConnectionOptions.TLS = settings
	}
	if c.APIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(c.APIKey.Reveal())
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	connected, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("connect to Temporal at %s (temporal.address): %w", address, err)
	}
	return connected, nil
}

func tlsConfig(c config.TLS) (*tls.Config, error) {
	settings := &tls.Config{ServerName: c.ServerName, MinVersion: tls.VersionTLS12}
	if c.CA != "" {
		pem, err := os.ReadFile(c.CA)
		if err != nil {
			return nil, fmt.Errorf("read temporal.tls.ca: %w", err)
		}
		settings.RootCAs = x509.NewCertPool()
		if !settings.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("temporal.tls.ca has no certificate in it")
		}
	}
	if c.Cert != "" {
		pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
		if err != nil {
			return nil, fmt.Errorf("read temporal.tls.cert and key: %w", err)
		}
		settings.Certificates = []tls.Certificate{pair}
	}
	return settings, nil
}

// registerSearchAttributes makes the search attributes known to a cluster that is
// not ours; the embedded engine does so itself. A cluster that does not let us
// look is taken to know them: an administrator will have seen to it.
func registerSearchAttributes(ctx context.Context, c client.Client, namespace string, logger *slog.Logger) error {
	types := map[string]enumspb.IndexedValueType{}
	known, err := c.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		logger.Warn("search attributes not looked up, taken to be there", "needed", SearchAttributes(), "err", err)
		return nil
	}
	for _, name := range SearchAttributes() {
		if _, there := known.GetCustomAttributes()[name]; !there {
			types[name] = enumspb.INDEXED_VALUE_TYPE_KEYWORD
		}
	}
	if len(types) == 0 {
		return nil
	}
	_, err = c.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: namespace, SearchAttributes: types,
	})
	if _, exists := errors.AsType[*serviceerror.AlreadyExists](err); exists || err == nil {
		return nil
	}
	return fmt.Errorf("register the search attributes %v (an administrator of the cluster can, with `temporal operator search-attribute create`): %w",
		SearchAttributes(), err)
}

// quieter passes on a library's warnings and errors: what it finds worth an
// information is a detail to us.
type quieter struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (q quieter) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && q.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (q quieter) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quieter{q.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (q quieter) WithGroup(name string) slog.Handler { return quieter{q.Handler.WithGroup(name)} }
