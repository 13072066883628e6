// Package whatsapptest is a WhatsApp Cloud API for tests: a server in this process, on
// loopback, with one business number, messages and media, webhooks with their redeliveries
// and reports, the 24-hour window, and faults on demand.
//
// It follows Meta's documentation and, for what that leaves open, reports of its users.
package whatsapptest

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The number and the app of every server.
const (
	PhoneNumberID = "106540352242922"
	AccessToken   = "EAAJB-test"
	AppSecret     = "5f3c7e1c0ffee"
	VerifyToken   = "meatyhamhock"
	version       = "v23.0"
)

// Some people.
const (
	Ana    = "16505551234"
	Ben    = "4915112345678"
	Hidden = "US.13491208655302741918" // hides the number
)

// window is how long after a person's message the number may write.
const window = 24 * time.Hour

// Server is a WhatsApp with one business number. Safe for concurrent use.
type Server struct {
	settings
	base    string
	gate    *faulty.Gate
	web     *http.Server
	client  *http.Client
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed and replaced at every change
	minted  int
	calls   []Call
	planned []*plan
	wrote   map[string]time.Time // by person
	said    map[string]object    // messages of people, by ID
	sent    []Sent
	media   map[string]file
	budget  map[string]int // messages that a person may still be sent; any number where none is set
	gone    map[string]bool
	target  string
	silent  bool // no reports are delivered
}

type object = map[string]any

type file struct {
	name, kind string
	content    []byte
}

type settings struct {
	address string
	retries []time.Duration
}

// Option changes a server.
type Option func(*settings)

// Address sets the address to listen on; default: a free port of 127.0.0.1.
func Address(address string) Option { return func(o *settings) { o.address = address } }

// Retries sets the pauses between deliveries of a webhook; default: 10, 100 and 500 ms.
func Retries(pauses ...time.Duration) Option { return func(o *settings) { o.retries = pauses } }

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

// New runs a server on 127.0.0.1 until Close.
func New(options ...Option) (*Server, error) {
	s := &Server{
		settings: settings{address: "127.0.0.1:0", retries: []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond}},
		changed:  make(chan struct{}), client: &http.Client{Timeout: 5 * time.Second},
		wrote: map[string]time.Time{}, said: map[string]object{}, media: map[string]file{}, budget: map[string]int{}, gone: map[string]bool{},
	}
	for _, option := range options {
		option(&s.settings)
	}
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

// URL is the server's address, without a version.
func (s *Server) URL() string { return s.base }

// APIURL is the address of the API, with its version.
func (s *Server) APIURL() string { return s.base + "/" + version }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{version}/"+PhoneNumberID+"/messages", s.serve("messages", s.post))
	mux.HandleFunc("POST /{version}/"+PhoneNumberID+"/media", s.serve("media", s.upload))
	mux.HandleFunc("GET /{version}/"+PhoneNumberID, s.serve("number", s.number))
	mux.HandleFunc("GET /{version}/{id}", s.serve("file", s.about))
	mux.HandleFunc("GET /whatsapp_business/attachments/{id}", s.serve("download", s.download))
	return mux
}

// Await waits until cond is true; it is checked after every change. The error is that of
// ctx.
func (s *Server) Await(ctx context.Context, cond func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
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

// change wakes waiters. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// mint returns a new ID. The lock is held.
func (s *Server) mint(prefix string) string {
	s.minted++
	return fmt.Sprintf("%s%06d", prefix, s.minted)
}

// spawn runs f in the background until the server closes. The lock is held.
func (s *Server) spawn(f func()) {
	if !s.closed {
		s.running.Go(f)
	}
}

// Down makes the server unreachable until Up: it cuts existing and new connections.
func (s *Server) Down() { s.gate.Down() }

// Up ends Down.
func (s *Server) Up() { s.gate.Up() }
