// Package discordtest is a Discord for tests: a server in this process, on loopback, that
// Discord's client libraries talk to over real HTTP and WebSockets. It has one server (guild)
// with people, channels and messages, the REST API over them, the gateway with sessions that
// can be resumed, interactions, rate limits, and faults on demand. It runs independently of its
// clients, which can be killed and restarted.
//
// It follows docs.discord.com and, for what that leaves open, Discord's client libraries.
package discordtest

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// What there is from the start.
const (
	Token       = "MTAwMDAwMDAwMDAwMDAwMDAw.fake.token-for-tests"
	Self        = "100000000000000000" // the bot's user
	Application = "100000000000000001"
	BotRole     = "100000000000000002" // the bot's own role
	Guild       = "200000000000000000"
	Owner       = "200000000000000001"
	Ana         = "300000000000000001"
	Bob         = "300000000000000002"
	Robot       = "300000000000000003" // another bot
	General     = "400000000000000001"
	Ops         = "400000000000000002"
	Secret      = "400000000000000003" // only the owner and the bot see it
	Forum       = "400000000000000004"
	// Mention mentions the bot.
	Mention = "<@" + Self + ">"
)

// ContentIntent is the privileged intent by which a bot reads all messages.
const ContentIntent = 1 << 15

// Server is a Discord with one server. Safe for concurrent use.
type Server struct {
	*faulty.Server
	settings

	mu       sync.Mutex
	last     int64 // ID
	users    map[string]*User
	channels map[string]*Channel
	order    []string // of the channels
	messages map[string][]*Message
	nonces   map[string]nonce
	commands []map[string]any
	buckets  map[string]*bucket

	sessions     []*session
	connections  map[*connection]struct{}
	identifies   int
	resumes      int
	deaf         bool                    // heartbeats are not answered
	interactions map[string]*Interaction // by token
	flags        int64
}

type settings struct {
	heartbeat   time.Duration
	noncesLast  time.Duration
	limit       int // messages per window and channel; 0: not limited
	window      time.Duration
	interaction time.Duration // in which one is to be answered
	remaining   int           // identifies of the day
	reset       time.Duration
	noContent   bool // the intent is off
}

// Option changes how a server behaves.
type Option func(*settings)

// Heartbeat sets how often a heartbeat is wanted.
func Heartbeat(every time.Duration) Option { return func(s *settings) { s.heartbeat = every } }

// NoncesLast sets for how long a nonce is recognized.
func NoncesLast(d time.Duration) Option { return func(s *settings) { s.noncesLast = d } }

// Limited limits the messages of a channel.
func Limited(messages int, window time.Duration) Option {
	return func(s *settings) { s.limit, s.window = messages, window }
}

// Identifies sets how many sessions may be begun, and when there are more.
func Identifies(remaining int, reset time.Duration) Option {
	return func(s *settings) { s.remaining, s.reset = remaining, reset }
}

// WithoutContent turns the Message Content intent off.
func WithoutContent() Option { return func(s *settings) { s.noContent = true } }

// Start runs a server until the test ends.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := &Server{
		settings: settings{heartbeat: 41250 * time.Millisecond, noncesLast: 3 * time.Minute, interaction: 3 * time.Second, remaining: 1000, reset: 24 * time.Hour},
		messages: map[string][]*Message{}, nonces: map[string]nonce{}, buckets: map[string]*bucket{},
		connections: map[*connection]struct{}{}, interactions: map[string]*Interaction{},
	}
	for _, option := range options {
		option(&s.settings)
	}
	if !s.noContent {
		s.flags = 1 << 19
	}
	s.populate()
	s.Server = faulty.Start(t, s.handler(), func(r *http.Request) string { return r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v10") })
	return s
}

// APIURL returns the address of the API.
func (s *Server) APIURL() string { return s.URL() + "/api/v10" }

// await waits until a condition holds, which is called with the mutex held.
func (s *Server) await(ctx context.Context, condition func() bool) error {
	return s.Await(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return condition()
	})
}

// mint returns an ID of now. The mutex is held.
func (s *Server) mint() string { return s.mintAt(time.Now()) }

// mintAt returns an ID of a time, or the next one. The mutex is held.
func (s *Server) mintAt(at time.Time) string {
	id := (at.UnixMilli() - 1_420_070_400_000) << 22
	if at.Before(time.Now().Add(-time.Second)) { // of the past: unique, but not the last
		s.last++
		return strconv.FormatInt(id+s.last&0x3fffff, 10)
	}
	s.last = max(id, s.last+1)
	return strconv.FormatInt(s.last, 10)
}
