// Package qqtest is a QQ for tests: a server in this process, on loopback, with one bot,
// its access tokens, the gateway and webhooks, messages and files, and faults on demand.
//
// It follows Tencent's documentation of the bot API (v2) and, for what that leaves open, such
// as error codes, reports of its users.
package qqtest

import (
	"context"
	"fmt"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The bot of every server.
const (
	AppID  = "102000001"
	Secret = "DG5g3B4j9X2KOErG"
	BotID  = "6158788878435714165"
)

// Some people and a group.
const (
	Ana     = "ANA0AEA33253A2797FB897C50B81D7ED"
	Ben     = "BEN0AEA33253A2797FB897C50B81D7ED"
	Ops     = "C9F778FE6ADF9D1D1DBE395BF744A33A"
	AnaChat = "user/" + Ana
	OpsChat = "group/" + Ops
)

// Server is a QQ with one bot. Its calls are named "token", "gateway", "me", "messages",
// "files" and "media"; a "heartbeat" can fail, too. Safe for concurrent use.
type Server struct {
	*faulty.Server
	settings

	mu       sync.Mutex
	minted   int
	tokens   map[string]time.Time // valid until
	messages map[string]*inbound  // by ID
	sent     []Sent
	answered map[answer]bool
	files    map[string]file // by file_info
	media    map[string][]byte
	kicked   map[string]bool

	target      string // where events are posted to; empty: the gateway
	session     *session
	connections map[*connection]bool
	opened      int
}

// inbound is a message that somebody wrote.
type inbound struct {
	chat    string
	at      time.Time
	expired bool
	replies int
	event   event
}

// answer identifies a reply.
type answer struct {
	id  string
	seq int
}

type file struct {
	chat, name string
	content    []byte
	kind       int
}

type settings struct {
	heartbeat time.Duration
	lasts     time.Duration // of a token
	windows   map[string]time.Duration
	replies   int // to a message
	textLimit int // characters of a message
	noLinks   bool
	noFiles   bool
	retries   []time.Duration
}

// Option changes a server.
type Option func(*settings)

// Heartbeat sets the interval of heartbeats; default: QQ's 41 s.
func Heartbeat(d time.Duration) Option { return func(o *settings) { o.heartbeat = d } }

// Tokens sets how long a token is valid; default: two hours.
func Tokens(lasts time.Duration) Option { return func(o *settings) { o.lasts = lasts } }

// Windows sets for how long messages can be answered; default: an hour in direct chats and
// five minutes in groups.
func Windows(direct, group time.Duration) Option {
	return func(o *settings) { o.windows = map[string]time.Duration{"user": direct, "group": group} }
}

// Replies sets how often a message can be answered; default: QQ's five.
func Replies(n int) Option { return func(o *settings) { o.replies = n } }

// TextLimit sets how many characters a message holds; default: 5,000.
func TextLimit(n int) Option { return func(o *settings) { o.textLimit = n } }

// WithoutLinks refuses messages with links, as QQ does unless they are registered.
func WithoutLinks() Option { return func(o *settings) { o.noLinks = true } }

// WithoutFiles refuses files other than images, video and voice.
func WithoutFiles() Option { return func(o *settings) { o.noFiles = true } }

// Retries sets the pauses between deliveries to a webhook; default: 10, 100 and 500 ms.
func Retries(pauses ...time.Duration) Option { return func(o *settings) { o.retries = pauses } }

// Start runs a server until the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &Server{
		settings: settings{
			heartbeat: 41 * time.Second, lasts: 2 * time.Hour, replies: 5, textLimit: 5000,
			windows: map[string]time.Duration{"user": time.Hour, "group": 5 * time.Minute},
			retries: []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond},
		},
		tokens: map[string]time.Time{}, messages: map[string]*inbound{}, answered: map[answer]bool{},
		files: map[string]file{}, media: map[string][]byte{}, kicked: map[string]bool{}, connections: map[*connection]bool{},
	}
	for _, option := range options {
		option(&s.settings)
	}
	s.Server = faulty.Start(t, s.routes(), func(r *http.Request) string {
		if strings.HasPrefix(r.URL.Path, "/media/") {
			return "media"
		}
		return names[path.Base(r.URL.Path)]
	})
	return s
}

var names = map[string]string{
	"getAppAccessToken": "token", "gateway": "gateway", "bot": "gateway", "@me": "me", "messages": "messages", "files": "files", "websocket": "websocket",
}

// TokenURL is where access tokens are issued.
func (s *Server) TokenURL() string { return s.URL() + "/app/getAppAccessToken" }

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /app/getAppAccessToken", s.serve(s.issueToken))
	mux.HandleFunc("GET /gateway", s.serve(s.withToken(s.gateway)))
	mux.HandleFunc("GET /gateway/bot", s.serve(s.withToken(s.gateway)))
	mux.HandleFunc("GET /users/@me", s.serve(s.withToken(s.me)))
	mux.HandleFunc("POST /v2/{kind}/{id}/messages", s.serve(s.withToken(s.post)))
	mux.HandleFunc("POST /v2/{kind}/{id}/files", s.serve(s.withToken(s.upload)))
	mux.HandleFunc("GET /media/{name}", s.serve(s.download))
	mux.HandleFunc("GET /websocket", s.serveSocket)
	return mux
}

// AwaitConnections waits until n connections to the gateway were opened and the last is
// still open.
func (s *Server) AwaitConnections(ctx context.Context, n int) error {
	return s.Await(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.opened >= n && len(s.connections) > 0
	})
}

// mint returns a new ID. The lock is held.
func (s *Server) mint(prefix string) string {
	s.minted++
	return fmt.Sprintf("%s%06d", prefix, s.minted)
}

// kindOf returns the kind of a chat: user or group.
func kindOf(chat string) string {
	kind, _, _ := strings.Cut(chat, "/")
	return kind
}
