package dispatch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// connectTimeout bounds the first contact with Temporal.
const connectTimeout = 10 * time.Second

// reconnect are the pauses before another attempt to connect. The SDK's grow to 10 s, for
// which work would wait after an outage.
var reconnect = grpc.ConnectParams{
	Backoff:           backoff.Config{BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
	MinConnectTimeout: 20 * time.Second,
}

// ConnectOptions are the options of [Connect].
type ConnectOptions struct {
	Config   config.Temporal
	Address  string                                  // host:port
	Dial     func(context.Context) (net.Conn, error) // instead of Address; may wait
	Identity string                                  // names this process in histories
	Store    string                                  // ID of the store; empty: work is not marked with it
	Guard    bool                                    // refuse work that is marked with another store
	Logger   *slog.Logger
	Metrics  client.MetricsHandler // nil: no metrics
}

// Connect connects to Temporal.
func Connect(ctx context.Context, o ConnectOptions) (*Client, error) {
	transit := &transit{}
	options, err := o.options(transit)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	connected, err := client.DialContext(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("connect to Temporal at %s (temporal.address): %w", o.Address, err)
	}
	return o.client(connected, transit), nil
}

// Open returns a client that connects when it is first used, and again whenever the
// connection is lost.
func Open(o ConnectOptions) (*Client, error) {
	transit := &transit{}
	options, err := o.options(transit)
	if err != nil {
		return nil, err
	}
	lazy, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("open a connection to Temporal: %w", err)
	}
	return o.client(lazy, transit), nil
}

func (o ConnectOptions) client(sdk client.Client, transit *transit) *Client {
	return &Client{sdk: sdk, namespace: o.Config.Namespace, names: protocol.NewNames(o.Config.Prefix), transit: transit}
}

func (o ConnectOptions) options(transit *transit) (client.Options, error) {
	options := client.Options{
		HostPort: o.Address, Namespace: o.Config.Namespace, Identity: o.Identity, MetricsHandler: o.Metrics,
		Logger: newLogger(o.Logger), ContextPropagators: []workflow.ContextPropagator{origin{o.Store}},
		Interceptors: []interceptor.ClientInterceptor{transit},
	}
	if o.Guard {
		options.Interceptors = append(options.Interceptors, &storeGuard{store: o.Store, namespace: o.Config.Namespace, log: o.Logger})
	}
	options.ConnectionOptions.DialOptions = []grpc.DialOption{
		grpc.WithConnectParams(reconnect), grpc.WithChainUnaryInterceptor(transit.call),
	}
	if o.Dial != nil {
		options.HostPort = "passthrough:///engine"
		options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithContextDialer(
			func(ctx context.Context, _ string) (net.Conn, error) { return o.Dial(ctx) },
		))
	}
	if o.Config.UseTLS() {
		settings, err := tlsConfig(o.Config.TLS)
		if err != nil {
			return client.Options{}, fmt.Errorf("connect to Temporal at %s: %w", o.Address, err)
		}
		options.ConnectionOptions.TLS = settings
	}
	if o.Config.APIKey != "" {
		options.Credentials = client.NewAPIKeyStaticCredentials(o.Config.APIKey.Reveal())
	}
	return options, nil
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
