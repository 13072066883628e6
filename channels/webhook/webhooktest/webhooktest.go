// Package webhooktest is a program for tests that gets webhooks as docs/webhook.md advises:
// it verifies them and keeps the keys that it has seen. It refuses, redirects and loses its
// answers on demand.
package webhooktest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/webhook"
)

// Secret signs the requests.
const Secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"

// tolerance is how old a request may be.
const tolerance = 5 * time.Minute

// Server is the program. Safe for concurrent use.
type Server struct {
	URL string

	mu       sync.Mutex
	changed  chan struct{}
	seen     map[string]bool
	taken    []webhook.Event
	requests int
	answers  []answer
	losing   int
}

type answer struct {
	status int
	header http.Header
}

// Start starts the program. It ends with the test.
func Start(t testing.TB) *Server {
	s := &Server{changed: make(chan struct{}), seen: map[string]bool{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL + "/hooks"
	return s
}

// Answer makes the next n requests fail with a status. retryAfter may be empty.
func (s *Server) Answer(n, status int, retryAfter string) {
	header := http.Header{"Location": {s.URL + "/elsewhere"}}
	if retryAfter != "" {
		header.Set("Retry-After", retryAfter)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.answers = append(s.answers, answer{status, header})
	}
}

// LoseAnswers makes the program take the next n requests and cut the connection.
func (s *Server) LoseAnswers(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losing = n
}

// Taken returns the events, in order, each once.
func (s *Server) Taken() []webhook.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.taken)
}

// Requests returns how many requests came.
func (s *Server) Requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// Await waits until n events came, and returns all. The error is that of ctx.
func (s *Server) Await(ctx context.Context, n int) ([]webhook.Event, error) {
	for {
		s.mu.Lock()
		count, changed := len(s.taken), s.changed
		s.mu.Unlock()
		if count >= n {
			return s.Taken(), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s.Taken(), ctx.Err()
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if len(s.answers) > 0 {
		next := s.answers[0]
		s.answers = s.answers[1:]
		maps.Copy(w.Header(), next.header)
		w.WriteHeader(next.status)
		return
	}
	event, err := read(r.Header, body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if key := r.Header.Get("Idempotency-Key"); !s.seen[key] {
		s.seen[key] = true
		s.taken = append(s.taken, event)
		close(s.changed)
		s.changed = make(chan struct{})
	}
	if s.losing > 0 {
		s.losing--
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusNoContent)
}

var (
	errOld       = errors.New("the request is too old")
	errSignature = errors.New("the signature is not valid")
)

// read verifies a request and returns its event.
func read(header http.Header, body []byte) (e webhook.Event, err error) {
	id := header.Get("Webhook-Id")
	at, err := strconv.ParseInt(header.Get("Webhook-Timestamp"), 10, 64)
	if err != nil || math.Abs(time.Since(time.Unix(at, 0)).Seconds()) > tolerance.Seconds() {
		return e, errOld
	}
	want, err := webhook.Sign(Secret, id, at, body)
	if err != nil {
		return e, err
	}
	if !slices.Contains(strings.Fields(header.Get("Webhook-Signature")), want) {
		return e, errSignature
	}
	return e, json.Unmarshal(body, &e)
}
