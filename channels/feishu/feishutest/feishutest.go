// Package feishutest is a Feishu for tests: the parts of the Open API that a bot needs over
// real HTTP, and deliveries over real long connections and webhooks. It can lose answers,
// refuse, ask to wait, cut connections, repeat deliveries, split them and go away.
package feishutest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The world that [Start] makes.
const (
	AppID     = "cli_a1b2c3d4e5f60718"
	AppSecret = "app-secret"
	Tenant    = "t1"
	Bot       = "ou_bot"
	BotName   = "Holdfast"

	Ana = "ou_ana"
	Ben = "ou_ben"
	Cai = "ou_cai" // of another tenant

	General = "oc_general" // a group with the bot, Ana and Ben
	Topics  = "oc_topics"  // a topic group with the same people
	Closed  = "oc_closed"  // a group without the bot
)

// The permissions that an app can lack.
const (
	ScopeCards     = "cardkit:card:write"
	ScopeReactions = "im:message.reactions:write_only"
	ScopeHistory   = "im:message.group_msg"
	ScopeContacts  = "contact:user.base:readonly"
)

// Option changes what [Start] makes.
type Option func(*Server)

// Without takes permissions from the app.
func Without(scopes ...string) Option {
	return func(s *Server) { s.lacking = append(s.lacking, scopes...) }
}

// RetryDelays has deliveries that were not acknowledged repeated after these pauses. The
// platform's own are 15 s, 5 min, 1 h and 6 h; by default nothing is repeated.
func RetryDelays(delays ...time.Duration) Option { return func(s *Server) { s.retries = delays } }

// AckWithin bounds how long an acknowledgement may take. The platform's own limit is 3 s.
func AckWithin(d time.Duration) Option { return func(s *Server) { s.ackWithin = d } }

// InPieces has the long connection split payloads into pieces of n bytes.
func InPieces(n int) Option { return func(s *Server) { s.pieceSize = n } }

// Webhook has events delivered to an address, encrypted if key is not empty. [Server.PointAt]
// gives the address later.
func Webhook(key, token string) Option {
	return func(s *Server) { s.webhook, s.encryptKey, s.token = true, key, token }
}

// PingInterval is what connections are told, in seconds.
func PingInterval(seconds int) Option { return func(s *Server) { s.pingSeconds = seconds } }

// Server is a Feishu.
type Server struct {
	*faulty.Server
	t testing.TB

	lacking     []string
	retries     []time.Duration
	ackWithin   time.Duration
	pieceSize   int
	webhook     bool
	encryptKey  string
	token       string
	pingSeconds int

	mu          sync.Mutex
	serial      int
	skipped     time.Duration
	tokens      map[string]time.Time // until when they are valid
	people      map[string]string    // names by open ID
	chats       map[string]*Chat
	messages    []*Message
	keys        map[string]sentKey
	reactions   []*Reaction
	files       map[string]File
	cards       map[string]*Card
	ephemeral   []Ephemeral
	pings       int
	address     string // to which webhooks go
	connections map[*connection]bool
	refuseConns int
}

// Chat is a direct chat or a group.
type Chat struct {
	ID      string
	Name    string
	Person  string // of a direct chat
	Topics  bool   // every message begins a topic
	Members []string
	Closed  bool // it was dissolved
}

type sentKey struct {
	message string
	at      time.Time
}

// Start starts a Feishu that ends with the test.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	members := []string{Bot, Ana, Ben}
	s := &Server{
		t: t, tokens: map[string]time.Time{}, keys: map[string]sentKey{}, files: map[string]File{}, cards: map[string]*Card{},
		connections: map[*connection]bool{}, ackWithin: 3 * time.Second, pingSeconds: 120,
		people: map[string]string{Ana: "Ana Souza", Ben: "Ben Okafor", Cai: "Cai Lin"},
		chats: map[string]*Chat{
			General: {ID: General, Name: "general", Members: members},
			Topics:  {ID: Topics, Name: "topics", Members: members, Topics: true},
			Closed:  {ID: Closed, Name: "closed", Members: []string{Ana}},
		},
	}
	for _, o := range options {
		o(s)
	}
	routes, mux := s.routes(), http.NewServeMux()
	for pattern, to := range routes {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, to) })
	}
	mux.HandleFunc("GET /connect", s.connect)
	s.Server = faulty.Start(t, mux, func(r *http.Request) string {
		_, pattern := mux.Handler(r)
		return routes[pattern].name
	})
	return s
}

// AddChat adds a group with the bot and these people.
func (s *Server) AddChat(c Chat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Members = append(c.Members, Bot)
	s.chats[c.ID] = &c
}

// AddPerson adds somebody.
func (s *Server) AddPerson(id, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[id] = name
}

// Dissolve closes a group, or makes a person unreachable.
func (s *Server) Dissolve(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if IsPerson(id) {
		s.direct(id).Closed = true
		return
	}
	if c := s.chats[id]; c != nil {
		c.Closed = true
	}
}

// IsPerson reports whether an ID is a person's.
func IsPerson(id string) bool { return strings.HasPrefix(id, "ou_") }

// Skip lets time pass at the platform.
func (s *Server) Skip(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped += d
}

// now is the platform's time. The mutex is held.
func (s *Server) now() time.Time { return time.Now().Add(s.skipped) }

// id returns a new ID. The mutex is held.
func (s *Server) id(prefix string) string {
	s.serial++
	return fmt.Sprintf("%s%026d", prefix, s.serial)
}

// direct returns the direct chat with a person. The mutex is held.
func (s *Server) direct(person string) *Chat {
	id := "oc_p2p_" + strings.TrimPrefix(person, "ou_")
	if s.chats[id] == nil {
		s.chats[id] = &Chat{ID: id, Person: person, Members: []string{Bot, person}}
	}
	return s.chats[id]
}

// has reports whether the app has a permission.
func (s *Server) has(scope string) bool { return !slices.Contains(s.lacking, scope) }
