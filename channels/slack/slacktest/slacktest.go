// Package slacktest is a Slack for tests: a server in this process, on
// loopback, that Slack's own client libraries talk to over real HTTP and
// WebSockets. It has one workspace with people, channels and messages, the Web
// API's methods over them, Socket Mode and the Events API with their
// redeliveries, and faults on demand. It runs independently of its clients, which can
// be killed and restarted.
//
// It follows docs.slack.dev and, for what that leaves open, Slack's client libraries
// and reports of their users.
package slacktest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Server is a Slack with one workspace. Safe for concurrent use.
type Server struct {
	settings
	base    string
	gate    *faulty.Gate
	web     *http.Server
	client  *http.Client // posts to the app
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed and replaced at every change
	minted  int           // number of generated IDs
	stamp   int64         // the last ts, in microseconds
	scopes  []string

	users     []*User
	groups    map[string][]string // members of user groups
	channels  []*channel
	files     map[string]*File
	uploads   map[string]*File // not completed yet
	responses map[string]*responseURL
	views     []View
	homes     map[string]home // by user

	calls    []*Call
	faults   faults
	lastPost map[string]time.Time // by channel

	target      string // where events are posted to; empty: Socket Mode
	tickets     map[string]bool
	connections []*connection
	connected   int // number of connections opened so far
	next        int // index of the connection for the next envelope
	envelopes   map[string]*envelope
	events      []*Event
	last        chan struct{} // closed after the first delivery of the last event
}

// Start runs a server until the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s, err := New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New runs a server on a free port of 127.0.0.1, until Close.
func New(options ...Option) (*Server, error) {
	s := &Server{
		settings: defaults(), changed: make(chan struct{}), client: &http.Client{CheckRedirect: stay},
		files: map[string]*File{}, uploads: map[string]*File{}, responses: map[string]*responseURL{},
		tickets: map[string]bool{}, envelopes: map[string]*envelope{}, last: make(chan struct{}),
	}
	close(s.last)
	for _, option := range options {
		option(&s.settings)
	}
	s.scopes = s.granted
	s.populate()

	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.address)
	if err != nil {
		return nil, err
	}
	s.base = "http://" + listener.Addr().String()
	s.gate = faulty.NewGate(listener)
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.web = &http.Server{Handler: s.routes(), ErrorLog: log.New(io.Discard, "", 0)}
	s.running.Go(func() { _ = s.web.Serve(s.gate) })
	return s, nil
}

// Close stops the server, cuts connections and abandons deliveries.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.change()
	s.mu.Unlock()
	s.stop()
	_ = s.web.Close()
	s.gate.Cut()
	s.client.CloseIdleConnections()
	s.running.Wait()
}

// URL is the server's address, without a slash at the end.
func (s *Server) URL() string { return s.base }

// APIURL is the API URL for clients, with a slash at the end.
func (s *Server) APIURL() string { return s.base + "/api/" }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/api/", s.serveAPI)
	mux.HandleFunc("GET /link/", s.serveSocket)
	mux.HandleFunc("POST /upload/v1/{file}", s.serveUpload)
	mux.HandleFunc("GET /files-pri/{file}/{name}", s.serveFile)
	mux.HandleFunc("POST /actions/{id}", s.serveResponseURL)
	mux.HandleFunc("POST /commands/{id}", s.serveResponseURL)
	mux.HandleFunc("GET /{$}", serveSignIn)
	return mux
}

// spawn runs f in the background until the server closes. The lock is held.
func (s *Server) spawn(f func()) {
	if !s.closed {
		s.running.Go(f)
	}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Down makes the server unreachable until Up: it cuts existing and new connections.
func (s *Server) Down() { s.gate.Down() }

// Up ends Down.
func (s *Server) Up() { s.gate.Up() }
