package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	maxBody        = 1 << 20
	// readyTimeout bounds the wait for the platform to say who we are, as just after a
	// start: platforms want an answer within a few seconds, and some deliver clicks once.
	readyTimeout = 2 * time.Second
	// rejectedEvery limits how often rejected requests are logged.
	rejectedEvery = 10 * time.Second
)

// ErrMalformed is wrapped by the error of a delivery that the platform cannot have meant.
var ErrMalformed = errors.New("malformed payload")

// Webhook is an HTTP server to which a platform delivers.
type Webhook struct {
	Name   string // of the platform
	Title  string // the name as people know it, such as "Slack"
	Listen string // host:port
	Path   string
	// Verify checks that the platform sent a request.
	Verify func(header http.Header, body []byte) error
	// Read returns what a request delivers; nil if nothing. reply is the response, unless a
	// [Command] is answered by Reply.
	Read func(header http.Header, body []byte) (d Delivery, reply any, err error)
	// ReadAll is Read for a platform whose requests deliver several messages: the response
	// is a success once all were accepted.
	ReadAll func(header http.Header, body []byte) ([]Delivery, error)
	// Confirm answers the GET by which some platforms check the address; nil: not supported.
	Confirm func(query url.Values) (answer string, ok bool)
	// Reply is the response that has the answer to a [Command]; nil: an empty one.
	Reply  func(answer string) any
	Logger *slog.Logger

	address  atomic.Pointer[net.Addr]
	rejected atomic.Int64 // requests since they were logged last
	logged   throttle
}

// Addr returns the address that the server listens on; nil while it does not.
func (w *Webhook) Addr() net.Addr {
	if address := w.address.Load(); address != nil {
		return *address
	}
	return nil
}

// Serve receives until ctx ends. It answers with 2xx only what in accepted or what asks
// for nothing.
func (w *Webhook) Serve(ctx context.Context, in Inbox) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", w.Listen)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", w.Name, err)
	}
	address := listener.Addr()
	w.address.Store(&address)
	defer w.address.Store(nil)
	var waiting unused
	server := &http.Server{
		Handler:           w.handler(ctx, in),
		ConnState:         waiting.track,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(w.Logger.Handler(), slog.LevelDebug),
	}
	server.RegisterOnShutdown(waiting.close)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	w.Logger.Info("listening for webhooks", "channel", w.Name, "address", address.String(), "path", w.path())
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", w.Name, err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		w.Logger.Warn("messages were still being accepted", "err", err)
		_ = server.Close() // an error cannot be reported
	}
	<-failed //nolint:errcheck // always ErrServerClosed after Shutdown
	w.Logger.Info("stopped")
	return nil
}

func (w *Webhook) path() string { return "/" + strings.Trim(w.Path, "/") }

func (w *Webhook) handler(ctx context.Context, in Inbox) http.Handler {
	path := strings.TrimSuffix(w.path(), "/")
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path+"/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST "+cmp.Or(path, "/{$}"), func(out http.ResponseWriter, request *http.Request) { w.take(ctx, in, out, request) })
	if w.Confirm != nil {
		mux.HandleFunc("GET "+cmp.Or(path, "/{$}"), w.confirm)
	}
	return mux
}

func (w *Webhook) confirm(out http.ResponseWriter, request *http.Request) {
	answer, ok := w.Confirm(request.URL.Query())
	if !ok {
		http.Error(out, "not the expected token", http.StatusForbidden)
		return
	}
	_, _ = io.WriteString(out, answer) // the platform will ask again
}

// take handles one request. It does not stop when the platform hangs up.
func (w *Webhook) take(ctx context.Context, in Inbox, out http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(out, request.Body, maxBody))
	if err != nil {
		w.reject(out, request, http.StatusRequestEntityTooLarge, err)
		return
	}
	if err := w.Verify(request.Header, body); err != nil {
		w.reject(out, request, http.StatusUnauthorized, err)
		return
	}
	reply, err := w.deliver(ctx, in, request.Header, body)
	switch {
	case err == nil:
		respond(out, reply)
	case errors.Is(err, ErrMalformed):
		w.Logger.Error("invalid request", "err", err)
		http.Error(out, "not understood", http.StatusBadRequest)
	default:
		if ctx.Err() == nil {
			w.Logger.Error("not acknowledged, will be delivered again", "err", err)
		}
		http.Error(out, "not now", http.StatusServiceUnavailable)
	}
}

func (w *Webhook) deliver(ctx context.Context, in Inbox, header http.Header, body []byte) (reply any, err error) {
	wait, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	_ = in.Ready(wait) // Read decides what it can do without
	if w.ReadAll != nil {
		all, err := w.ReadAll(header, body)
		if err != nil {
			return nil, err
		}
		return nil, in.DeliverAll(ctx, all)
	}
	d, reply, err := w.Read(header, body)
	if err != nil || d == nil {
		return reply, err
	}
	answer, err := in.Deliver(ctx, d)
	switch {
	case err != nil:
		return nil, err
	case answer == "" || w.Reply == nil:
		return reply, nil
	}
	return w.Reply(answer), nil
}

// reject answers a request that is not the platform's.
func (w *Webhook) reject(out http.ResponseWriter, request *http.Request, status int, why error) {
	w.rejected.Add(1)
	if w.logged.first("rejected", rejectedEvery) {
		w.Logger.Warn("request rejected", "status", status, "remote", request.RemoteAddr, "rejected", w.rejected.Swap(0), "err", why)
	}
	http.Error(out, http.StatusText(status), status)
}

func respond(out http.ResponseWriter, reply any) {
	if reply == nil {
		return
	}
	out.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(out).Encode(reply) // an error means that the client is gone
}
