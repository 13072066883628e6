// Package faulty is what the fakes of platforms have in common: an HTTP server on loopback
// that fails on demand, and waiting for what happens at it.
package faulty

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Always is an unlimited number of calls.
const Always = -1

// Any matches every method.
const Any = "*"

// Fault is how a call fails.
type Fault struct {
	Status int // 0: the connection is cut
	Header http.Header
	Body   string
	Lose   bool // the call is carried out before the connection is cut
}

// JSON returns a fault with a body that is encoded as JSON.
func JSON(status int, body any) Fault {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // a test's mistake
	}
	return Fault{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: string(encoded)}
}

// Call is a call that was made.
type Call struct {
	*http.Request        // without its body
	Method        string // as faults name it
	Content       []byte // the body
	Status        int    // of the answer; 0: the connection was cut
}

// Server is an HTTP server on a free port of 127.0.0.1. Safe for concurrent use.
type Server struct {
	base string
	web  *http.Server
	gate *Gate

	client  *http.Client    // of webhooks
	ctx     context.Context // ends with the test
	running sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	calls   map[string]int
	made    []Call
	plans   []*plan
	before  map[string]func(*http.Request)
}

// plan is what happens to future calls of some methods.
type plan struct {
	of    func(method string) bool
	left  int // or Always
	fault Fault
}

// maxBody bounds the body of a call.
const maxBody = 256 << 20

// JSON returns the body; nil if it is no object of JSON.
func (c Call) JSON() (body map[string]any) {
	_ = json.Unmarshal(c.Content, &body)
	return body
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
		client:  &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}},
		changed: make(chan struct{}), calls: map[string]int{}, before: map[string]func(*http.Request){},
	}
	ctx, stop := context.WithCancel(context.Background())
	s.ctx = ctx
	s.web = &http.Server{
		Handler:     http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, name(r), handler) }),
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	s.running.Go(func() { _ = s.web.Serve(s.gate) })
	t.Cleanup(func() {
		s.mu.Lock()
		stop()
		s.mu.Unlock()
		_ = s.web.Close()
		s.gate.Cut()
		s.client.CloseIdleConnections()
		s.running.Wait()
	})
	return s
}

// Context ends with the test.
func (s *Server) Context() context.Context { return s.ctx }

// Go runs f in the background, unless the test has ended. The end of the test ends its
// context, and waits for it.
func (s *Server) Go(f func(ctx context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.running.Go(func() { f(s.ctx) })
	}
}

// URL is the server's address, without a slash at the end.
func (s *Server) URL() string { return s.base }

// serve counts a call and lets it fail as planned.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, method string, handler http.Handler) {
	content, _ := io.ReadAll(io.LimitReader(r.Body, maxBody)) // what is cut off will not be understood
	s.mu.Lock()
	s.calls[method]++
	before := s.before[method]
	fault, planned := s.fault(method)
	s.change()
	s.mu.Unlock()
	if before != nil {
		before(withBody(r, content))
	}
	answered := &statusWriter{ResponseWriter: w}
	switch {
	case !planned:
		handler.ServeHTTP(answered, withBody(r, content))
	case fault.Lose:
		handler.ServeHTTP(httptest.NewRecorder(), withBody(r, content))
	case fault.Status != 0:
		maps.Copy(w.Header(), fault.Header)
		answered.WriteHeader(fault.Status)
		_, _ = io.WriteString(w, fault.Body)
	}
	s.mu.Lock()
	s.made = append(s.made, Call{r, method, content, answered.status})
	s.change()
	s.mu.Unlock()
	if planned && answered.status == 0 {
		hangUp(w)
	}
}

func withBody(r *http.Request, content []byte) *http.Request {
	r.Body = io.NopCloser(bytes.NewReader(content))
	return r
}

// statusWriter knows the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *statusWriter) Write(data []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(data)
}

// Hijack implements http.Hijacker.
func (w *statusWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.ResponseWriter).Hijack()
}

// fault returns what is planned for a call, if anything is. The lock is held.
func (s *Server) fault(method string) (f Fault, planned bool) {
	i := slices.IndexFunc(s.plans, func(p *plan) bool { return p.of(method) })
	if i < 0 {
		return f, false
	}
	p := s.plans[i]
	if p.left > 0 {
		p.left--
	}
	if p.left == 0 {
		s.plans = slices.Delete(s.plans, i, i+1)
	}
	return p.fault, true
}

// Fail makes the next n calls of a method, or Always, fail.
func (s *Server) Fail(method string, n int, f Fault) {
	s.FailSome(func(called string) bool { return called == method || method == Any }, n, f)
}

// FailSome makes the next n calls of some methods, or Always, fail.
func (s *Server) FailSome(of func(method string) bool, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n != 0 {
		s.plans = append(s.plans, &plan{of, n, f})
	}
}

// LoseResponse carries out the next n calls of a method and cuts their connections instead
// of answering.
func (s *Server) LoseResponse(method string, n int) { s.Fail(method, n, Fault{Lose: true}) }

// Fails reports whether something other than a call fails as planned for this name, and
// counts as one.
func (s *Server) Fails(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, planned := s.fault(name)
	return planned
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

// Made returns the calls of a method, or Any, that have ended, in that order. Those that
// failed are among them.
func (s *Server) Made(method string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Call
	for _, c := range s.made {
		if c.Method == method || method == Any {
			all = append(all, c)
		}
	}
	return all
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
