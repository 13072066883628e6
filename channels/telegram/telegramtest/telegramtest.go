// Package telegramtest is a Telegram for tests: a server of the Bot API in this process, on
// loopback, that any bot library talks to over real HTTP. It has people, groups and topics,
// queues updates until they are confirmed, delivers them by long polling or to a webhook,
// checks what bots send as Telegram does, and has faults on demand. It runs independently of
// its clients, which can be killed and restarted.
//
// It follows core.telegram.org/bots/api and, for what that leaves open, the source of
// Telegram's own server (github.com/tdlib/telegram-bot-api).
package telegramtest

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// The bot and its world.
const (
	Token    = "100001:AAtest-token_that-is-secret"
	BotID    = 100001
	BotName  = "holdfast_bot"
	Ana      = 1001 // a person, and the private chat with her
	Ben      = 1002
	Bot2     = 100002         // another bot
	Group    = -2001          // a group
	Forum    = -1001000000001 // a supergroup with topics
	Channel  = -1001000000002 // a channel that the bot is not in
	Topic    = 42             // a topic of Forum
	OldGroup = -2002          // a group that became New
	NewGroup = -1001000000003
)

// Server is a Telegram with one bot. Safe for concurrent use.
type Server struct {
	base    string
	web     *http.Server
	client  *http.Client // posts to the webhook
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	privacy bool
	skew    time.Duration // how far the clock was put forward
	down    bool
	open    map[net.Conn]bool

	people   map[int64]*User
	chats    map[int64]*chat
	direct   int64 // the last ID of a message in private chats and groups: they share a counter
	files    map[string]*File
	minted   int
	commands []Command

	lastUpdate int64
	lastAt     time.Time
	queue      []*Delivery   // not confirmed
	poll       chan struct{} // of the poll that is under way; closed by the next one
	webhook    webhook
	clicks     map[string]*Click

	calls  []Call
	faults []*plan
	floods map[int64]*flood
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s, err := New("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// New runs a server on an address, until Close.
func New(address string) (*Server, error) {
	s := &Server{
		changed: make(chan struct{}), client: &http.Client{Timeout: 10 * time.Second}, open: map[net.Conn]bool{}, privacy: true,
		people: map[int64]*User{}, chats: map[int64]*chat{}, files: map[string]*File{}, clicks: map[string]*Click{}, floods: map[int64]*flood{},
		lastUpdate: 500_000_000, lastAt: time.Now(),
	}
	s.populate()
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	s.base = "http://" + listener.Addr().String()
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.web = &http.Server{Handler: http.HandlerFunc(s.route), ErrorLog: log.New(io.Discard, "", 0), ConnState: s.track}
	s.running.Go(func() { _ = s.web.Serve(listener) })
	return s, nil
}

// route finds what a request is for: the token is a part of the path.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	rest, file := strings.CutPrefix(r.URL.Path, "/file")
	rest, isBot := strings.CutPrefix(rest, "/bot")
	token, rest, _ := strings.Cut(rest, "/")
	switch {
	case s.isDown():
		cut(w)
	case !isBot || token != Token:
		answer(w, refused(http.StatusNotFound, "Not Found"))
	case file:
		s.serveFile(w, rest)
	default:
		s.serve(w, r, rest)
	}
}

// Close stops the server and abandons deliveries.
func (s *Server) Close() {
	s.stop()
	_ = s.web.Close()
	s.client.CloseIdleConnections()
	s.running.Wait()
}

// URL is the server's address, without a slash at the end.
func (s *Server) URL() string { return s.base }

// Down cuts all connections, and refuses new ones until Up.
func (s *Server) Down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	for c := range s.open {
		_ = c.Close()
	}
}

// Up ends Down.
func (s *Server) Up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
}

func (s *Server) isDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

// track knows the open connections.
func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.open[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(s.open, c)
	case http.StateActive, http.StateIdle:
	}
}

// change wakes those who wait. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Await waits until a condition holds, which is looked at after each change.
func (s *Server) Await(ctx context.Context, holds func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// now is the server's time. The lock is held.
func (s *Server) now() time.Time { return time.Now().Add(s.skew) }

// Advance puts the clock forward: updates are kept for a day, and numbered anew after a week
// without any.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew += d
	s.expire()
}

// SetPrivacy sets whether the bot sees only what is for it in groups. It does at first.
func (s *Server) SetPrivacy(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.privacy = on
}
