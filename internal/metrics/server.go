package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast-ai/holdfast/internal/health"
)

const (
	path          = "/metrics"
	livePath      = "/healthz"
	readyPath     = "/readyz"
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	scrapeTimeout = 5 * time.Second
	// scrapesAtOnce bounds what scrapes cost the store.
	scrapesAtOnce = 4
)

// Server serves the metrics of a process over HTTP.
type Server struct {
	listener net.Listener
	http     *http.Server
	served   chan struct{}
}

// Serve serves the metrics at /metrics until the server is closed, and for probes /healthz
// and, with a check, /readyz. It fails if the port is in use.
func (m *Metrics) Serve(ctx context.Context, listen string, check health.Check, log *slog.Logger) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if err != nil {
		return nil, err
	}
	failures := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux()
	mux.Handle("GET "+path, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: failures, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: scrapesAtOnce, Timeout: scrapeTimeout,
	}))
	mux.HandleFunc("GET "+livePath, func(w http.ResponseWriter, _ *http.Request) { health.Report{Status: health.OK}.Write(w) })
	if check != nil {
		mux.HandleFunc("GET "+readyPath, func(w http.ResponseWriter, r *http.Request) { check(r.Context()).Write(w) })
	}
	s := &Server{
		listener: listener,
		http:     &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, ErrorLog: failures},
		served:   make(chan struct{}),
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics server stopped", "err", err)
		}
	}()
	return s, nil
}

// URL returns the URL of the metrics.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + path }

// Close stops the server after pending scrapes.
func (s *Server) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		_ = s.http.Close()
	}
	<-s.served
}
