// Package http is the channel for programs: Holdfast's HTTP API, and a chat
// completions API for OpenAI clients.
package http

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	nethttp "net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
)

const (
	defaultListen    = "127.0.0.1:8090"
	defaultMaxText   = 1 << 20
	defaultKeepAlive = 15 * time.Second

	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
	shutdownTimeout = 5 * time.Second
	maxHeaderBytes  = 64 << 10
)

// Channel serves the API.
type Channel struct {
	options  Options
	listener net.Listener
}

// New opens the listener, so a port in use is an error here. It refuses to listen
// beyond loopback without a token. [Channel.Run] closes the listener.
func New(o Options) (*Channel, error) {
	o.Listen, o.MaxText, o.KeepAlive = cmp.Or(o.Listen, defaultListen), cmp.Or(o.MaxText, defaultMaxText), cmp.Or(o.KeepAlive, defaultKeepAlive)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Token == "" && !isLoopback(o.Listen) {
		return nil, fmt.Errorf("http: %s is reachable from other machines and no token is set: set channels.http.token, or listen on 127.0.0.1", o.Listen)
	}
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("http: listen: %w", err)
	}
	return &Channel{options: o, listener: listener}, nil
}

// Addr returns the address that the channel listens on.
func (c *Channel) Addr() net.Addr { return c.listener.Addr() }

// Run implements [channels.Receiver]. When ctx ends it closes open waits and streams,
// accepts the messages already on their way, and returns nil within 5 seconds. It can
// be called once.
func (c *Channel) Run(ctx context.Context, b channels.Backend) error {
	log := c.options.Logger.With("channel", Name)
	server := &nethttp.Server{
		Handler:           newAPI(c.options, log, b).handler(),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(c.listener) }()
	log.Info("started", "address", c.Addr().String())

	select {
	case err := <-served:
		return fmt.Errorf("http: serve: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		log.Warn("open connections closed", "err", err)
		_ = server.Close()
	}
	<-served //nolint:errcheck // always ErrServerClosed
	log.Info("stopped")
	return nil
}
