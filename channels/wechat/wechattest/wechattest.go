// Package wechattest is a WeChat for tests: a server in this process, on loopback, with the
// bot API for personal accounts (iLink), the CDN for files and the login by a QR code. It
// follows Tencent's own client and what users report about the service.
package wechattest

import (
	"encoding/base64"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The methods, as faults name them. Those of the API are its own names.
const (
	GetUpdates  = "getupdates"
	SendMessage = "sendmessage"
	GetConfig   = "getconfig"
	SendTyping  = "sendtyping"
	UploadURL   = "getuploadurl"
	QRCode      = "get_bot_qrcode"
	QRStatus    = "get_qrcode_status"
	Upload      = "upload"
	Download    = "download"
)

// The bot, and somebody to talk to.
const (
	BotID = "bot1@im.bot"
	Ana   = "o9cq80ana@im.wechat"
	Ben   = "o9cq80ben@im.wechat"
)

// The API's error codes.
const (
	Refused = -2
	Expired = -14
)

// Server is a WeChat with one bot. Safe for concurrent use.
type Server struct {
	*faulty.Server

	mu       sync.Mutex
	token    string // of the bot's login; empty: it has expired
	minted   int
	inbox    []map[string]any // what was written to the bot, in order
	held     int              // polls that wait
	acked    int              // messages before the last poll's cursor
	hold     time.Duration    // how long a poll without news is held
	window   time.Duration
	limit    int                 // messages that may follow one of a person's
	contexts map[string]*context // by token
	opened   map[string]*context // by the message that opened it
	posts    []Post
	typing   []Typing
	refusing int               // messages that are refused like after a burst
	files    map[string][]byte // in the CDN, encrypted
	uploads  map[string]bool
	logins   map[string]*Login
	last     *Login
}

// context is what a message of a person allows. Its copies have other tokens.
type context struct {
	user  string
	at    time.Time
	posts int
}

// Post is a message that the bot sent.
type Post struct {
	ID       string
	To       string
	ClientID string
	Token    string // the context token
	Text     string
	File     string // name of a file, "image" for an image
	Content  []byte // of a file, decrypted
}

// Typing is a call that shows or hides "typing".
type Typing struct {
	To string
	On bool
}

// Start runs a server until the test ends. The bot is logged in with Token.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		token: "token-0", hold: 20 * time.Second, window: 24 * time.Hour, limit: 10, contexts: map[string]*context{}, opened: map[string]*context{},
		files: map[string][]byte{}, uploads: map[string]bool{}, logins: map[string]*Login{},
	}
	mux := http.NewServeMux()
	for method, handle := range map[string]func(http.ResponseWriter, *http.Request, map[string]any){
		GetUpdates: s.getUpdates, SendMessage: s.sendMessage, GetConfig: s.getConfig, SendTyping: s.sendTyping, UploadURL: s.getUploadURL,
		"msg/notifystart": s.notify, "msg/notifystop": s.notify,
	} {
		mux.HandleFunc("POST /ilink/bot/"+method, s.authorized(handle))
	}
	mux.HandleFunc("POST /ilink/bot/"+QRCode, s.getQRCode)
	mux.HandleFunc("GET /ilink/bot/"+QRStatus, s.getQRStatus)
	mux.HandleFunc("POST /c2c/upload", s.upload)
	mux.HandleFunc("GET /c2c/download", s.download)
	s.Server = faulty.Start(t, mux, func(r *http.Request) string {
		path := strings.TrimPrefix(r.URL.Path, "/ilink/bot/")
		return strings.TrimPrefix(path, "/c2c/")
	})
	return s
}

// CDNURL is the address of the CDN.
func (s *Server) CDNURL() string { return s.URL() + "/c2c" }

// Token is the token of the bot's login.
func (s *Server) Token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token
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
	return strconv.Itoa(7_450_000_000_000_000_000 + s.minted) // more than a float holds
}

// SayOption changes a message of a person.
type SayOption func(map[string]any)

// With sets a field of the message.
func With(field string, value any) SayOption { return func(m map[string]any) { m[field] = value } }

// Items replaces what is in the message.
func Items(items ...map[string]any) SayOption { return With("item_list", items) }

// Text is a part of a message.
func Text(text string) map[string]any {
	return map[string]any{"type": 1, "text_item": map[string]any{"text": text}}
}

// Voice is a voice message with WeChat's transcript.
func Voice(transcript string) map[string]any {
	return map[string]any{"type": 3, "voice_item": map[string]any{"text": transcript, "encode_type": 6}}
}

// Say has a person write to the bot and returns the message's ID.
func (s *Server) Say(from, text string, options ...SayOption) string {
	defer s.act()()
	id := s.mint()
	m := map[string]any{
		"message_id": id, "from_user_id": from, "to_user_id": BotID, "client_id": "c-" + id, "create_time_ms": time.Now().UnixMilli(),
		"message_type": 1, "message_state": 2, "item_list": []map[string]any{Text(text)}, "context_token": "context-" + id,
	}
	for _, option := range options {
		option(m)
	}
	s.deliver(m)
	return id
}

// Greet opens a person's window without a message, and returns its token.
func (s *Server) Greet(from string) (token string) {
	defer s.act()()
	token = "context-" + s.mint()
	s.contexts[token] = &context{user: from, at: time.Now()}
	return token
}

// Written returns how many messages were written to the bot. [Position] returns how many of
// them are before a cursor.
func (s *Server) Written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.inbox)
}

// Acknowledged returns how many messages are before the cursor of the last poll.
func (s *Server) Acknowledged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked
}

// Raw delivers anything as a message.
func (s *Server) Raw(message map[string]any) {
	defer s.act()()
	s.inbox = append(s.inbox, message)
}

// Again delivers the message with an ID again, as a copy with another token.
func (s *Server) Again(id string) {
	defer s.act()()
	for _, m := range s.inbox {
		if m["message_id"] == id {
			again := map[string]any{}
			maps.Copy(again, m)
			again["context_token"] = "context-" + s.mint()
			s.deliver(again)
			return
		}
	}
}

// deliver adds a message and opens its window. The lock is held.
func (s *Server) deliver(m map[string]any) {
	s.inbox = append(s.inbox, m)
	from, _ := m["from_user_id"].(string)
	token, _ := m["context_token"].(string)
	id, _ := m["message_id"].(string)
	if s.opened[id] == nil {
		s.opened[id] = &context{user: from, at: time.Now()}
	}
	s.contexts[token] = s.opened[id]
}

// Posts returns what the bot sent.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Post(nil), s.posts...)
}

// Typing returns what the bot showed of its typing.
func (s *Server) Typing() []Typing {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Typing(nil), s.typing...)
}

// Held returns how many polls wait for news.
func (s *Server) Held() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held
}

// HoldPolls sets how long a poll without news is held.
func (s *Server) HoldPolls(d time.Duration) {
	defer s.act()()
	s.hold = d
}

// Expire ends the bot's login.
func (s *Server) Expire() {
	defer s.act()()
	s.token = ""
}

// Throttle refuses the next n messages, as after a burst.
func (s *Server) Throttle(n int) {
	defer s.act()()
	s.refusing = n
}

// Limit sets how many messages may follow one of a person's.
func (s *Server) Limit(n int) {
	defer s.act()()
	s.limit = n
}

// Store puts a file into the CDN and returns it as a person's client sends it. kind is 2 for
// an image and 4 for a file.
func (s *Server) Store(kind int, name string, content []byte) map[string]any {
	defer s.act()()
	id := s.mint()
	key := []byte("0123456789abcdef")
	s.files[id] = encrypt(content, key)
	m := map[string]any{"encrypt_query_param": id, "aes_key": base64.StdEncoding.EncodeToString(key), "encrypt_type": 1}
	if kind == 2 {
		return map[string]any{"type": 2, "image_item": map[string]any{"media": m, "mid_size": len(content)}}
	}
	return map[string]any{"type": 4, "file_item": map[string]any{"media": m, "file_name": name, "len": strconv.Itoa(len(content))}}
}
