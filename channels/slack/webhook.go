package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slack-go/slack"
)

const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	maxHeaderBytes = 64 << 10
	maxBody        = 1 << 20
	// rejectedEvery is how often a rejected request is logged, lest a flood of them
	// fills the disk.
	rejectedEvery = 10 * time.Second
)

// Addr returns the address that [ModeHTTP] listens on; nil while it does not.
func (c *Channel) Addr() net.Addr {
	if address := c.address.Load(); address != nil {
		return *address
	}
	return nil
}

// webhook is where Slack delivers to in ModeHTTP.
type webhook struct {
	*receiver
	path     string
	stopping context.Context // ends when Run is to
	rejected atomic.Int64    // since it was logged last
}

// runHTTP receives over HTTP until ctx ends.
func (r *receiver) runHTTP(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", r.c.o.Listen)
	if err != nil {
		return fmt.Errorf("listen for slack: %w", err)
	}
	address := listener.Addr()
	r.c.address.Store(&address)
	defer r.c.address.Store(nil)

	w := &webhook{receiver: r, path: "/" + strings.Trim(r.c.o.Path, "/"), stopping: ctx}
	server := &http.Server{
		Handler:           w,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(r.log.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 2)
	served := make(chan struct{})
	go func() {
		defer close(served)
		failed <- fmt.Errorf("serve slack: %w", server.Serve(listener))
	}()
	r.log.Info("listening for slack", "address", address.String(), "path", w.path)
	r.jobs.Go(func() {
		if err := r.identify(ctx); err != nil {
			failed <- err
		}
	})

	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTimeout)
	defer cancel()
	if shut := server.Shutdown(grace); shut != nil {
		r.log.Warn("connections cut off", "err", shut)
		_ = server.Close()
	}
	<-served
	r.log.Info("stopped")
	return err
}

// ServeHTTP implements http.Handler.
func (w *webhook) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	w.jobs.Add(1)
	defer w.jobs.Done()
	switch {
	case request.URL.Path == strings.TrimSuffix(w.path, "/")+"/health" && (request.Method == http.MethodGet || request.Method == http.MethodHead):
		out.WriteHeader(http.StatusOK)
	case request.URL.Path != w.path:
		http.Error(out, "nothing here", http.StatusNotFound)
	case request.Method != http.MethodPost:
		out.Header().Set("Allow", http.MethodPost)
		http.Error(out, "slack posts to this address", http.StatusMethodNotAllowed)
	default:
		w.take(out, request)
	}
}

// take answers with 2xx only what is durable or asks for nothing.
func (w *webhook) take(out http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(out, request.Body, maxBody))
	if err != nil {
		w.reject(out, request, http.StatusRequestEntityTooLarge, err)
		return
	}
	if err := verify(request.Header, w.c.o.SigningSecret, body); err != nil {
		w.reject(out, request, http.StatusUnauthorized, err)
		return
	}
	kind, payload, err := unwrap(request.Header.Get("Content-Type"), body)
	var reply any
	if err == nil {
		reply, err = w.handle(kind, payload)
	}
	switch {
	case err == nil:
		answer(out, reply)
	case errors.Is(err, errMalformed):
		w.log.Error("request of slack's not understood", "type", kind, "err", err)
		http.Error(out, "not understood", http.StatusBadRequest)
	default:
		if w.stopping.Err() == nil {
			w.log.Error("not acknowledged, slack will deliver it again",
				"type", kind, "retry", request.Header.Get("X-Slack-Retry-Num"), "err", err)
		}
		http.Error(out, "not now", http.StatusServiceUnavailable)
	}
}

// handle does what a request asks for. It does not stop when Slack hangs up.
func (w *webhook) handle(kind string, payload []byte) (any, error) {
	w.awaitReady()
	j, err := w.read(kind, payload)
	if err != nil || j.do == nil {
		return nil, err
	}
	at, err := w.lanes.enter(w.stopping, j.lane)
	if err != nil {
		return nil, err
	}
	defer at.leave()
	return w.perform(w.stopping, at, j)
}

// awaitReady waits a while for Slack to say who we are, as just after a start: a
// click is not delivered again.
func (w *webhook) awaitReady() {
	timer := time.NewTimer(readyPatience)
	defer timer.Stop()
	select {
	case <-w.ready:
	case <-timer.C:
	case <-w.stopping.Done():
	}
}

// readyPatience leaves of Slack's three seconds what accepting takes.
const readyPatience = 2 * time.Second

// reject answers a request that is not Slack's.
func (w *webhook) reject(out http.ResponseWriter, request *http.Request, status int, why error) {
	w.rejected.Add(1)
	if w.c.told.first("rejected", rejectedEvery) {
		w.log.Warn("request rejected", "status", status, "remote", request.RemoteAddr, "rejected", w.rejected.Swap(0), "err", why)
	}
	http.Error(out, http.StatusText(status), status)
}

// verify checks that a request is Slack's and at most five minutes old. The same
// one again passes: what it brings is known by its ID.
func verify(header http.Header, secret string, body []byte) error {
	verifier, err := slack.NewSecretsVerifier(header, secret)
	if err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}
	_, _ = verifier.Write(body) // a hash takes all
	if err := verifier.Ensure(); err != nil {
		return fmt.Errorf("verify the signature: %w", err)
	}
	return nil
}

// unwrap returns what a request brings, as Socket Mode would.
func unwrap(contentType string, body []byte) (kind string, payload []byte, err error) {
	if media, _, _ := mime.ParseMediaType(contentType); media != "application/x-www-form-urlencoded" {
		return kindEvent, body, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, fmt.Errorf("%w: form: %w", errMalformed, err)
	}
	switch {
	case form.Has("payload"):
		return kindInteraction, []byte(form.Get("payload")), nil
	case form.Has("command"):
		fields := make(map[string]string, len(form))
		for name := range form {
			fields[name] = form.Get(name)
		}
		payload, err = json.Marshal(fields)
		return kindCommand, payload, err
	case form.Has("ssl_check"):
		return "ssl_check", nil, nil
	}
	return "", nil, fmt.Errorf("%w: a form with neither payload nor command", errMalformed)
}

// answer acknowledges a request.
func answer(out http.ResponseWriter, reply any) {
	if reply == nil {
		out.WriteHeader(http.StatusOK)
		return
	}
	out.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(out).Encode(reply) // a client that is gone is nobody to tell
}
