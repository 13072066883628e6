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
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
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
	*faulty.Server

	mu      sync.Mutex
	privacy bool
	skew    time.Duration // how far the clock was put forward

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

	floods map[int64]*flood
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		privacy: true, people: map[int64]*User{}, chats: map[int64]*chat{}, files: map[string]*File{}, clicks: map[string]*Click{}, floods: map[int64]*flood{},
		lastUpdate: 500_000_000, lastAt: time.Now(),
	}
	s.populate()
	s.Server = faulty.Start(t, http.HandlerFunc(s.route), func(r *http.Request) string { return path.Base(r.URL.Path) })
	return s
}

// route finds what a request is for: the token is a part of the path.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	rest, file := strings.CutPrefix(r.URL.Path, "/file")
	rest, isBot := strings.CutPrefix(rest, "/bot")
	token, rest, _ := strings.Cut(rest, "/")
	switch {
	case !isBot || token != Token:
		answer(w, refused(http.StatusNotFound, "Not Found"))
	case file:
		s.serveFile(w, rest)
	default:
		s.serve(w, r, rest)
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
