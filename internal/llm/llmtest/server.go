// Package llmtest has a scripted chat-completion server, as strict about transcripts
// as the strictest provider, and the conformance suite for providers.
package llmtest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest/wire"
)

// Model is the only model that the server lists; it answers for any model.
const Model = "scripted"

// Request is a request that the server received.
type Request struct {
	wire.Request
	Number  int    // counted from 1, including invalid requests
	Invalid string // why it was rejected; empty if valid
	Header  http.Header
}

// LastUser returns the text of the last user message.
func (r Request) LastUser() string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return m.Content.Text
		}
	}
	return ""
}

// Results returns the texts of the tool results at the end, in order.
func (r Request) Results() []string {
	var texts []string
	for _, m := range slices.Backward(r.Messages) {
		if m.Role != "tool" {
			break
		}
		texts = append(texts, m.Content.Text)
	}
	slices.Reverse(texts)
	return texts
}

// Server is a scripted provider. Safe for concurrent use.
type Server struct {
	URL string // base URL for a client, with /v1

	decide  func(Request) Step
	decides sync.Mutex // serializes decide

	mu       sync.Mutex
	requests []Request
	arrived  chan struct{} // closed and replaced when a request arrives
	release  chan struct{}
	end      chan struct{}
}

// NewServer starts a server that plays the steps of script in order, one per valid
// request. Requests after the last step get a permanent error.
func NewServer(t testing.TB, script ...Step) *Server {
	next := 0
	return NewFunc(t, func(Request) Step {
		if next == len(script) {
			return Refuse(http.StatusBadRequest, "script_over", "llmtest: the script has no more steps")
		}
		next++
		return script[next-1]
	})
}

// NewFunc starts a server that calls decide, one request at a time, for each valid
// request. It ends with the test.
func NewFunc(t testing.TB, decide func(Request) Step) *Server {
	s := &Server{decide: decide, arrived: make(chan struct{}), release: make(chan struct{}), end: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) { wire.WriteModels(w, Model) })
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(s.end)
		server.CloseClientConnections()
		server.Close()
	})
	s.URL = server.URL + "/v1"
	return s
}

// NewStub starts a server that answers each request with text and records nothing, for
// benchmarks. It returns the base URL for a client.
func NewStub(t testing.TB, text string) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		req, err := wire.ReadRequest(w, r)
		if err != nil {
			wire.WriteError(w, http.StatusBadRequest, "", err.Error())
			return
		}
		wire.Write(w, req, wire.Completion{Content: text, Usage: openai.Usage{PromptTokens: 1, CompletionTokens: 1, TotalTokens: 2}})
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// Requests returns all requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Count returns how many requests there were so far.
func (s *Server) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// Invalid returns why requests were rejected, in order. Tests of whole turns require
// it to be empty.
func (s *Server) Invalid() []string {
	var reasons []string
	for _, r := range s.Requests() {
		if r.Invalid != "" {
			reasons = append(reasons, "request "+strconv.Itoa(r.Number)+": "+r.Invalid)
		}
	}
	return reasons
}

// Await waits until n requests have arrived in total, or ctx ends.
func (s *Server) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		count, arrived := len(s.requests), s.arrived
		s.mu.Unlock()
		if count >= n {
			return nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Release ends the hanging steps of all requests so far.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.release)
	s.release = make(chan struct{})
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	body, err := wire.ReadRequest(w, r)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return // the client disconnected while sending: ignore the request
	}
	req := Request{Request: body, Header: r.Header.Clone()}
	if err == nil {
		err = Validate(body)
	}
	if err != nil {
		req.Invalid = err.Error()
	}
	step, release := s.next(&req)
	if req.Invalid != "" {
		wire.WriteError(w, http.StatusBadRequest, "invalid_transcript", req.Invalid)
		return
	}
	if step.after != nil {
		select {
		case <-step.after:
		case <-r.Context().Done():
			return
		case <-s.end:
			return
		}
	}
	s.play(w, r, body, step, release)
}

// next records req and returns its step. A later Release closes release, which ends
// a hanging step.
func (s *Server) next(req *Request) (step Step, release <-chan struct{}) {
	s.decides.Lock()
	defer s.decides.Unlock()
	s.mu.Lock()
	req.Number = len(s.requests) + 1
	s.requests = append(s.requests, *req)
	close(s.arrived)
	s.arrived = make(chan struct{})
	release = s.release
	s.mu.Unlock()
	if req.Invalid == "" {
		step = s.decide(*req)
	}
	return step, release
}

func (s *Server) play(w http.ResponseWriter, r *http.Request, req wire.Request, step Step, release <-chan struct{}) {
	switch {
	case step.hang:
		s.silence(r, release)
		panic(http.ErrAbortHandler)
	case step.status != 0:
		if step.retryAfter != "" {
			w.Header().Set("Retry-After", step.retryAfter)
		}
		wire.WriteError(w, step.status, step.code, step.message)
	case step.raw != nil:
		w.Header().Set("Content-Type", step.rawType)
		_, _ = w.Write(step.raw) // the client may be gone
	case step.cutting || step.stalling || step.drip > 0:
		s.playEvents(w, r, req, step, release)
	default:
		wire.Write(w, req, step.completion)
	}
}

// playEvents sends a stream event by event, even if none was requested.
func (s *Server) playEvents(w http.ResponseWriter, r *http.Request, req wire.Request, step Step, release <-chan struct{}) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w).Flush
	for i, event := range wire.Events(req, step.completion) {
		if step.stalling && i == step.stall {
			_ = flush()
			s.silence(r, release)
			panic(http.ErrAbortHandler)
		}
		if step.cutting && i == step.cut {
			_ = flush()
			panic(http.ErrAbortHandler)
		}
		if step.drip > 0 {
			select {
			case <-time.After(step.drip):
			case <-r.Context().Done():
				return
			case <-s.end:
				return
			}
		}
		if _, err := w.Write(event); err != nil || flush() != nil {
			return
		}
	}
}

// silence waits until the client disconnects, or the test releases it or ends.
func (s *Server) silence(r *http.Request, release <-chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-release:
	case <-s.end:
	}
}
