// Package faulty is what the fakes of platforms have in common: an HTTP server on loopback
// that fails on demand, and waiting for what happens at it.
package faulty

import (
	"bytes"
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Always is an unlimited number of calls.
const Always = -1

// Any matches every method.
const Any = "*"

// Fault is how a call fails without being carried out.
type Fault struct {
	Status int // 0: the connection is cut
	Header http.Header
	Body   string
}

// Server is an HTTP server on a free port of 127.0.0.1. Safe for concurrent use.
type Server struct {
	base string
	web  *http.Server
	gate *Gate

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	calls   map[string]int
	plans   []*plan
	before  map[string]func(*http.Request)
}

// plan is what happens to future calls of a method.
type plan struct {
	method string
	left   int // or Always
	lose   bool
	fault  Fault
}

// Start runs a server until the test ends. name names the method of a request.
func Start(t testing.TB, handler http.Handler, name func(*http.Request) string) *Server {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		base: "http://" + listener.Addr().String(), gate: NewGate(listener),
		changed: make(chan struct{}), calls: map[string]int{}, before: map[string]func(*http.Request){},
	}
	ctx, stop := context.WithCancel(context.Background())
	s.web = &http.Server{
		Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, name(r), handler) }),
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.web.Serve(s.gate)
	}()
	t.Cleanup(func() {
		stop()
		_ = s.web.Close()
		s.gate.Cut()
		<-served
	})
	return s
}

// URL is the server's address, without a slash at the end.
func (s *Server) URL() string { return s.base }

// serve counts a call and lets it fail as planned.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, method string, handler http.Handler) {
	s.mu.Lock()
	s.calls[method]++
	before := s.before[method]
	p := s.plan(method)
	s.change()
	s.mu.Unlock()
	if before != nil {
		before(r)
	}
	switch {
	case p == nil:
		handler.ServeHTTP(w, r)
	case p.lose:
		handler.ServeHTTP(httptest.NewRecorder(), r)
		hangUp(w)
	case p.fault.Status == 0:
		_, _ = io.Copy(io.Discard, r.Body)
		hangUp(w)
	default:
		_, _ = io.Copy(io.Discard, r.Body)
		maps.Copy(w.Header(), p.fault.Header)
		w.WriteHeader(p.fault.Status)
		_, _ = io.Copy(w, bytes.NewBufferString(p.fault.Body))
	}
}

// plan returns what is planned for a call; nil: nothing. The lock is held.
func (s *Server) plan(method string) *plan {
	i := slices.IndexFunc(s.plans, func(p *plan) bool { return p.method == method || p.method == Any })
	if i < 0 {
		return nil
	}
	p := s.plans[i]
	if p.left > 0 {
		p.left--
	}
	if p.left == 0 {
		s.plans = slices.Delete(s.plans, i, i+1)
	}
	return p
}

// Fail makes the next n calls of a method, or Always, fail.
func (s *Server) Fail(method string, n int, f Fault) {
	s.add(&plan{method: method, left: n, fault: f})
}

// LoseResponse carries out the next n calls of a method and cuts their connections instead
// of answering.
func (s *Server) LoseResponse(method string, n int) {
	s.add(&plan{method: method, left: n, lose: true})
}

func (s *Server) add(p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, p)
}

// Before calls f before each call of a method. The answer waits for f.
func (s *Server) Before(method string, f func(*http.Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before[method] = f
}

// Heal removes all faults.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = nil
	clear(s.before)
}

// Calls returns how often a method was called, faults included.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// Down makes the server unreachable until Up: it cuts existing and new connections.
func (s *Server) Down() { s.gate.Down() }

// Up ends Down.
func (s *Server) Up() { s.gate.Up() }

// Await waits until cond is true. It checks after every call and [Server.Changed]; cond may
// call the server. The error is that of ctx.
func (s *Server) Await(ctx context.Context, cond func() bool) error {
	for {
		changed := s.Change()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Change returns a channel that is closed at the next change.
func (s *Server) Change() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Changed wakes those who wait.
func (s *Server) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change()
}

// change wakes those who wait. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// hangUp closes a connection without an answer.
func hangUp(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}
