package dispatch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"

	"github.com/holdfast-ai/holdfast/config"
)

// connectTimeout bounds the first contact with Temporal.
const connectTimeout = 10 * time.Second

// ConnectOptions are the options of [Connect].
type ConnectOptions struct {
	Config   config.Temporal
	Address  string // host:port; the embedded engine's, or the one in Config
	Identity string // names this process in histories
	Logger   *slog.Logger
	Metrics  client.MetricsHandler // nil: no metrics
}

// Connect connects to Temporal.
func Connect(ctx context.Context, o ConnectOptions) (*Client, error) {
	options := client.Options{
		HostPort: o.Address, Namespace: o.Config.Namespace, Identity: o.Identity, MetricsHandler: o.Metrics,
		Logger: log.NewStructuredLogger(slog.New(warnings{o.Logger.With("component", "temporal").Handler()})),
	}
	if o.Config.UseTLS() {
		settings, err := tlsConfig(o.Config.TLS)
		if err != nil {
			return nil, fmt.Errorf("connect to Temporal at %s: %w", o.Address, err)
		}
		options.ConnectionOptions.TLS = settings
	}
	if o.Config.APIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(o.Config.APIKey.Reveal())
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	connected, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("connect to Temporal at %s (temporal.address): %w", o.Address, err)
	}
	return New(connected, o.Config.Namespace), nil
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
			return nil, errors.New("temporal.tls.ca contains no certificate")
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

// warnings passes on warnings and errors only: the SDK logs routine events as
// information.
type warnings struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
