// Package matrixtest is a Matrix homeserver for tests: a server in this process, on
// loopback, with the part of the client-server API that chat clients use. It follows the
// specification (v1.11) and how Synapse behaves where that leaves a choice.
package matrixtest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The methods, as faults name them.
const (
	Sync     = "sync"
	Send     = "send"
	Redact   = "redact"
	Messages = "messages"
	Event    = "event"
	Members  = "joined_members"
	Typing   = "typing"
	Join     = "join"
	Leave    = "leave"
	Create   = "createRoom"
	WhoAmI   = "whoami"
	Upload   = "upload"
	Download = "download" // authenticated
	Legacy   = "legacy download"
)

// The accounts. Those of people are for other clients.
const (
	Host  = "example.org"
	Bot   = "@holdfast:example.org"
	Ana   = "@ana:example.org"
	Ben   = "@ben:example.org"
	Token = "syt_holdfast_secret"
	// BotName is the bot's display name.
	BotName = "Holdfast Bot"
)

// maxEvent is the size of an event.
const maxEvent = 65_536

// Server is a homeserver. Safe for concurrent use.
type Server struct {
	*faulty.Server

	mu       sync.Mutex
	tokens   map[string]string // users, by access token
	names    map[string]string // display names, by user
	rooms    map[string]*room
	aliases  map[string]string // rooms, by address
	position int               // of the last event in all rooms
	minted   int
	sent     map[string]string          // event IDs, by token and transaction
	filters  map[string]json.RawMessage // by ID
	account  map[string]json.RawMessage // account data, by user and type
	media    map[string]Media           // by URI
	typing   []TypingCall
	syncs    map[string]string // the since of the last call of /sync, by user
	held     map[string]int    // up to where there was no news for a call that is held, by user
	old      bool              // knows no authenticated media
	lost     map[string]bool   // positions that it does not know any more
}

// room is a room with everything that happened in it.
type room struct {
	id      string
	events  []*Happened
	typing  []string // users
	typedAt int      // the position when that changed
}

// Happened is an event.
type Happened struct {
	Position int            `json:"-"`
	ID       string         `json:"event_id"`
	Room     string         `json:"room_id"`
	Type     string         `json:"type"`
	Sender   string         `json:"sender"`
	StateKey *string        `json:"state_key,omitempty"`
	Redacts  string         `json:"redacts,omitempty"`
	SentAt   int64          `json:"origin_server_ts"`
	Content  map[string]any `json:"content"`
	Unsigned map[string]any `json:"unsigned,omitempty"`
}

// Media is a stored file.
type Media struct {
	Name    string
	Type    string
	Content []byte
}

// TypingCall is a call that shows or hides "typing".
type TypingCall struct {
	Room, User string
	On         bool
}

// Start runs a homeserver until the test ends, with the accounts and no rooms. Tokens of
// people are "token-" and the local part of their ID.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		tokens: map[string]string{Token: Bot, "token-ana": Ana, "token-ben": Ben},
		names:  map[string]string{Bot: BotName, Ana: "Ana", Ben: "Ben"},
		rooms:  map[string]*room{}, aliases: map[string]string{}, sent: map[string]string{}, filters: map[string]json.RawMessage{},
		account: map[string]json.RawMessage{}, media: map[string]Media{}, syncs: map[string]string{}, held: map[string]int{}, lost: map[string]bool{},
	}
	s.Server = faulty.Start(t, s.routes(), methodOf)
	return s
}

// methodOf names the method of a request.
func methodOf(r *http.Request) string {
	path := r.URL.Path
	for part, name := range map[string]string{
		"/send/": Send, "/redact/": Redact, "/event/": Event, "/typing/": Typing, "/client/v1/media/download/": Download, "/media/v3/download/": Legacy, "/join/": Join,
	} {
		if strings.Contains(path, part) {
			return name
		}
	}
	return path[strings.LastIndexByte(path, '/')+1:]
}

// act takes the lock and returns a function that releases it and wakes waiters.
func (s *Server) act() (done func()) {
	s.mu.Lock()
	return func() {
		s.mu.Unlock()
		s.Changed()
	}
}

// mint returns a new ID. The lock is held.
func (s *Server) mint() string {
	s.minted++
	sum := sha256.Sum256(fmt.Append(nil, s.minted))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// add adds an event to a room. The lock is held.
func (s *Server) add(in *room, kind, sender string, state *string, content map[string]any) *Happened {
	s.position++
	e := &Happened{
		Position: s.position, ID: "$" + s.mint(), Room: in.id, Type: kind, Sender: sender, StateKey: state, SentAt: time.Now().UnixMilli(), Content: content,
	}
	if before := in.state(kind, state); before != nil {
		e.Unsigned = map[string]any{"prev_content": before.Content}
	}
	in.events = append(in.events, e)
	return e
}

// state returns the state event of a type; nil: there is none.
func (r *room) state(kind string, key *string) *Happened {
	for i := len(r.events) - 1; key != nil && i >= 0; i-- {
		if e := r.events[i]; e.Type == kind && e.StateKey != nil && *e.StateKey == *key {
			return e
		}
	}
	return nil
}

// membership returns how a user is in a room.
func (r *room) membership(user string) string {
	if e := r.state("m.room.member", &user); e != nil {
		membership, _ := e.Content["membership"].(string)
		return membership
	}
	return ""
}

// members returns who is in a room.
func (r *room) members() (all []string) {
	seen := map[string]bool{}
	for _, e := range r.events {
		if e.Type == "m.room.member" && !seen[*e.StateKey] {
			seen[*e.StateKey] = true
			if r.membership(*e.StateKey) == "join" {
				all = append(all, *e.StateKey)
			}
		}
	}
	return all
}

// member changes how a user is in a room. The lock is held.
func (s *Server) member(in *room, by, user, membership string, more map[string]any) {
	content := map[string]any{"membership": membership, "displayname": s.names[user]}
	maps.Copy(content, more)
	s.add(in, "m.room.member", by, &user, content)
}

// newRoom makes a room. The lock is held.
func (s *Server) newRoom(by string) *room {
	r := &room{id: "!" + s.mint()[:18] + ":" + Host}
	s.rooms[r.id] = r
	nobody := ""
	s.add(r, "m.room.create", by, &nobody, map[string]any{"room_version": "11"})
	s.member(r, by, by, "join", nil)
	s.add(r, "m.room.power_levels", by, &nobody, map[string]any{"users": map[string]any{by: 100}})
	s.add(r, "m.room.join_rules", by, &nobody, map[string]any{"join_rule": "invite"})
	s.add(r, "m.room.history_visibility", by, &nobody, map[string]any{"history_visibility": "shared"})
	return r
}

// Room makes a room of people that the bot is in.
func (s *Server) Room(people ...string) string {
	defer s.act()()
	r := s.newRoom(people[0])
	for _, who := range append(people[1:], Bot) {
		s.member(r, people[0], who, "invite", nil)
		s.member(r, who, who, "join", nil)
	}
	return r.id
}

// Named makes a room with an ID of the test's choice, in which the bot and people are.
func (s *Server) Named(id string, people ...string) {
	made := s.Room(people...)
	defer s.act()()
	r := s.rooms[made]
	delete(s.rooms, made)
	r.id = id
	for _, e := range r.events {
		e.Room = id
	}
	s.rooms[id] = r
}

// Invite makes a room to which somebody invites the bot.
func (s *Server) Invite(by string, direct, encrypted bool) string {
	defer s.act()()
	r := s.newRoom(by)
	if encrypted {
		nobody := ""
		s.add(r, "m.room.encryption", by, &nobody, map[string]any{"algorithm": "m.megolm.v1.aes-sha2"})
	}
	more := map[string]any{}
	if direct {
		more["is_direct"] = true
	}
	s.member(r, by, Bot, "invite", more)
	return r.id
}

// Membership returns how a user is in a room, and why.
func (s *Server) Membership(id, user string) (membership, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.rooms[id].state("m.room.member", &user); e != nil {
		reason, _ = e.Content["reason"].(string)
	}
	return s.rooms[id].membership(user), reason
}

// Move changes how a user is in a room.
func (s *Server) Move(id, by, user, membership string) {
	defer s.act()()
	s.member(s.rooms[id], by, user, membership, nil)
}

// Address gives a room an address.
func (s *Server) Address(id, alias string) {
	defer s.act()()
	s.aliases[alias] = id
}

// SayOption changes a message of a person.
type SayOption func(map[string]any)

// With sets a field of the message's content.
func With(field string, value any) SayOption { return func(c map[string]any) { c[field] = value } }

// WithFile makes the message a file, with its text as the caption.
func WithFile(s *Server, name, kind string, content []byte) SayOption {
	uri := s.Store(name, kind, content)
	return func(c map[string]any) {
		c["msgtype"], c["url"], c["filename"] = "m.file", uri, name
		c["info"] = map[string]any{"mimetype": kind, "size": len(content)}
		if c["body"] == "" {
			c["body"] = name
		}
	}
}

// InThread puts the message into a thread.
func InThread(root string) SayOption {
	return With("m.relates_to", map[string]any{
		"rel_type": "m.thread", "event_id": root, "is_falling_back": true, "m.in_reply_to": map[string]any{"event_id": root},
	})
}

// ReplyingTo makes the message a reply.
func ReplyingTo(id string) SayOption {
	return With("m.relates_to", map[string]any{"m.in_reply_to": map[string]any{"event_id": id}})
}

// Mentioning makes the message mention users.
func Mentioning(users ...string) SayOption {
	return With("m.mentions", map[string]any{"user_ids": users})
}

// Say has a person write in a room, and returns the message's event ID.
func (s *Server) Say(by, id, text string, options ...SayOption) string {
	content := map[string]any{"msgtype": "m.text", "body": text, "m.mentions": map[string]any{}}
	for _, option := range options {
		option(content)
	}
	return s.Happen(by, id, "m.room.message", nil, content)
}

// Happen adds any event to a room.
func (s *Server) Happen(by, id, kind string, state *string, content map[string]any) string {
	defer s.act()()
	return s.add(s.rooms[id], kind, by, state, content).ID
}

// Edit has a person edit a message, and returns the edit's event ID.
func (s *Server) Edit(by, id, of, text string) string {
	return s.Say(by, id, "* "+text, With("m.new_content", map[string]any{"msgtype": "m.text", "body": text}),
		With("m.relates_to", map[string]any{"rel_type": "m.replace", "event_id": of}))
}

// Remove has a person remove a message.
func (s *Server) Remove(by, id, of string) {
	defer s.act()()
	s.redact(s.rooms[id], by, of)
}

// redact removes what a message says. The lock is held.
func (s *Server) redact(in *room, by, of string) *Happened {
	because := s.add(in, "m.room.redaction", by, nil, map[string]any{"redacts": of})
	because.Redacts = of // for clients that look for it where it used to be
	for _, e := range in.events {
		if e.ID == of {
			e.Content, e.Unsigned = map[string]any{}, map[string]any{"redacted_because": because}
		}
	}
	return because
}

// Again delivers an event again.
func (s *Server) Again(id, event string) {
	defer s.act()()
	r := s.rooms[id]
	for _, e := range r.events {
		if e.ID == event {
			again := *e
			s.position++
			again.Position = s.position
			r.events = append(r.events, &again)
			return
		}
	}
}

// Number is how many events are before a position.
func Number(position string) int {
	n, _ := positionOf(position)
	return n
}

// Position is that of the last event, as /sync returns it.
func (s *Server) Position() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return token(s.position)
}

// Since is where the bot's last call of /sync began.
func (s *Server) Since() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.syncs[Bot]
}

// Listening waits until the bot has received and accepted everything, and waits for more.
func (s *Server) Listening(ctx context.Context) error {
	return s.Await(ctx, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		at, holds := s.held[Bot]
		return holds && at == s.position
	})
}

// Forget makes the positions before now unknown, as a new database would.
func (s *Server) Forget() {
	defer s.act()()
	for i := range s.position + 1 {
		s.lost[token(i)] = true
	}
}

// Revoke ends the bot's login.
func (s *Server) Revoke() {
	defer s.act()()
	delete(s.tokens, Token)
}

// Restart makes the server forget which transactions it has seen, as some do.
func (s *Server) Restart() {
	defer s.act()()
	clear(s.sent)
}

// Store stores a file and returns its URI.
func (s *Server) Store(name, kind string, content []byte) string {
	defer s.act()()
	uri := "mxc://" + Host + "/" + s.mint()[:24]
	s.media[uri] = Media{name, kind, content}
	return uri
}

// Media returns a stored file.
func (s *Server) Media(uri string) Media {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.media[uri]
}

// BeOld makes the server one from before authenticated media.
func (s *Server) BeOld() {
	defer s.act()()
	s.old = true
}

// TypingCalls returns what was shown of typing.
func (s *Server) TypingCalls() []TypingCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]TypingCall(nil), s.typing...)
}

// Events returns all events of a type in a room.
func (s *Server) Events(id, kind string) (all []Happened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.rooms[id].events {
		if e.Type == kind {
			all = append(all, *e)
		}
	}
	return all
}

// Shown is a message as people see it: edited, and not removed.
type Shown struct {
	ID, Sender string
	Body, HTML string
	Thread     string
	ReplyTo    string
	Type       string // msgtype
	File       *Media
	Size       int // of its last event, in bytes
	Edits      int
}

// Shown returns the messages of a room.
func (s *Server) Shown(id string) (all []Shown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := map[string]int{}
	for _, e := range s.rooms[id].events {
		relation, _ := e.Content["m.relates_to"].(map[string]any)
		target, _ := relation["event_id"].(string)
		_, known := at[e.ID]
		switch {
		case e.Type != "m.room.message" || len(e.Content) == 0 || known:
		case relation["rel_type"] == "m.replace":
			i, found := at[target]
			if changed, is := e.Content["m.new_content"].(map[string]any); is && found && all[i].Sender == e.Sender {
				all[i].fill(changed, e)
				all[i].Edits++
			}
		default:
			m := Shown{ID: e.ID, Sender: e.Sender}
			if relation["rel_type"] == "m.thread" {
				m.Thread = target
			}
			if reply, is := relation["m.in_reply_to"].(map[string]any); is && relation["is_falling_back"] != true {
				m.ReplyTo, _ = reply["event_id"].(string)
			}
			m.fill(e.Content, e)
			if uri, is := e.Content["url"].(string); is {
				stored := s.media[uri]
				m.File = &stored
			}
			at[e.ID] = len(all)
			all = append(all, m)
		}
	}
	return all
}

func (m *Shown) fill(content map[string]any, e *Happened) {
	m.Body, _ = content["body"].(string)
	m.HTML, _ = content["formatted_body"].(string)
	m.Type, _ = content["msgtype"].(string)
	m.Size = size(e)
}

// size is that of an event, as homeservers count it.
func size(e *Happened) int {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(e) // it was decoded from JSON
	return b.Len() + signatures
}

// signatures is about what a homeserver adds to an event.
const signatures = 1500
