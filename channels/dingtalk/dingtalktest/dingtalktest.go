// Package dingtalktest is a DingTalk for tests: a server in this process, on loopback, with
// an app's robot in stream mode, its messages, cards and files. It follows DingTalk's
// description of the stream protocol, its client libraries and what users report.
package dingtalktest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The methods, as faults name them.
const (
	OpenStream  = "/v1.0/gateway/connections/open"
	Connect     = "/connect"
	AccessToken = "/v1.0/oauth2/accessToken"
	SendGroup   = "/v1.0/robot/groupMessages/send"
	SendPerson  = "/v1.0/robot/oToMessages/batchSend"
	Download    = "/v1.0/robot/messageFiles/download"
	CreateCard  = "/v1.0/card/instances/createAndDeliver"
	UpdateCard  = "/v1.0/card/instances"
	StreamCard  = "/v1.0/card/streaming"
	Upload      = "/media/upload"
)

// The app, people and a group.
const (
	ClientID     = "dingapp1"
	ClientSecret = "s3cret"
	Template     = "template-1.schema"
	Ana          = "manager1"
	Ben          = "staff2"
	Group        = "cidGroup1=="
)

// Server is a DingTalk with one app. Safe for concurrent use.
type Server struct {
	*faulty.Server

	pings atomic.Int64

	mu          sync.Mutex
	minted      int
	tickets     map[string]bool
	tokens      map[string]bool
	connections []*connection
	next        int                  // index of the connection for the next delivery
	deliveries  map[string]*Delivery // by the ID of the push
	said        []*Delivery          // in order
	topics      map[string]bool
	posts       []Post
	cards       map[string]*Card
	order       []string // of cards
	files       map[string][]byte
	uploads     map[string]file
	gone        map[string]bool // groups without the robot
	limited     map[string]int  // messages to people that are withheld
}

type file struct {
	name    string
	content []byte
}

// connection is a stream. Writes are made under its mutex.
type connection struct {
	mu     sync.Mutex
	socket *websocket.Conn
	gone   bool
}

// Post is a message that the robot sent.
type Post struct {
	Key      string
	To       string // a group or a person
	Template string
	Title    string
	Text     string
	File     string
	Content  []byte
}

// Card is a card that the robot created.
type Card struct {
	ID        string
	To        string
	Text      string
	Variables map[string]string
	Created   int // how often it was tried
	Streamed  int
	Final     bool
}

// Start runs a server until the test ends.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{
		tickets: map[string]bool{}, tokens: map[string]bool{}, deliveries: map[string]*Delivery{}, topics: map[string]bool{}, cards: map[string]*Card{},
		files: map[string][]byte{}, uploads: map[string]file{}, gone: map[string]bool{}, limited: map[string]int{},
	}
	s.Server = faulty.Start(t, s.routes(), func(r *http.Request) string { return r.URL.Path })
	t.Cleanup(s.Cut)
	return s
}

func (s *Server) act() (done func()) {
	s.mu.Lock()
	return func() {
		s.mu.Unlock()
		s.Changed()
	}
}

// mint returns a new ID. The lock is held.
func (s *Server) mint(prefix string) string {
	s.minted++
	return prefix + strconv.Itoa(s.minted)
}

// Delivery is something that is delivered to the app, perhaps several times.
type Delivery struct {
	s     *Server
	ID    string // the message's
	topic string
	data  string
	codes []int // of the answers
	sent  int
}

// SayOption changes a message.
type SayOption func(map[string]any)

// With sets a field of the message.
func With(field string, value any) SayOption { return func(m map[string]any) { m[field] = value } }

// InGroup has the message written in a group, mentioning the robot.
func InGroup(group string) SayOption {
	return func(m map[string]any) { m["conversationType"], m["conversationId"], m["isInAtList"] = "2", group, true }
}

// Message returns a message from a person as it is delivered.
func (s *Server) Message(from, text string, options ...SayOption) map[string]any {
	s.mu.Lock()
	id := s.mint("msg")
	s.mu.Unlock()
	m := map[string]any{
		"msgId": id, "conversationId": "cidDirect-" + from, "conversationType": "1", "senderStaffId": from, "senderId": "$:LWCP_v1:$" + from,
		"senderNick": "Nick of " + from, "chatbotUserId": "$:LWCP_v1:$robot", "createAt": time.Now().UnixMilli(), "msgtype": "text",
		"text": map[string]any{"content": " " + text}, "robotCode": ClientID, "sessionWebhook": s.URL() + "/robot/sendBySession?session=x",
		"sessionWebhookExpiredTime": time.Now().Add(90 * time.Minute).UnixMilli(),
	}
	for _, option := range options {
		option(m)
	}
	return m
}

// Say has a person write to the robot.
func (s *Server) Say(from, text string, options ...SayOption) *Delivery {
	m := s.Message(from, text, options...)
	encoded, _ := json.Marshal(m)
	id, _ := m["msgId"].(string)
	return s.Deliver("/v1.0/im/bot/messages/get", id, string(encoded))
}

// Click has a person click a button of a card.
func (s *Server) Click(from, card, action string) *Delivery {
	content, _ := json.Marshal(map[string]any{"cardPrivateData": map[string]any{"actionIds": []string{action}, "params": map[string]any{}}})
	encoded, _ := json.Marshal(map[string]any{"type": "actionCallback", "outTrackId": card, "userId": from, "userIdType": 1, "corpId": "ding1", "content": string(content)})
	return s.Deliver("/v1.0/card/instances/callback", "", string(encoded))
}

// Deliver delivers data to one of the app's connections.
func (s *Server) Deliver(topic, id, data string) *Delivery {
	d := &Delivery{s: s, ID: id, topic: topic, data: data}
	s.mu.Lock()
	s.said = append(s.said, d)
	s.mu.Unlock()
	d.Again()
	return d
}

// Again delivers the same again, with another ID of the push.
func (d *Delivery) Again() {
	d.s.mu.Lock()
	push := d.s.mint("push_")
	d.s.deliveries[push] = d
	d.sent++
	d.s.mu.Unlock()
	d.s.Send(map[string]any{"specVersion": "1.0", "type": "CALLBACK", "data": d.data, "headers": map[string]any{
		"appId": "app", "contentType": "application/json", "messageId": push, "time": strconv.FormatInt(time.Now().UnixMilli(), 10), "topic": d.topic,
	}})
}

// Retry delivers what was not acknowledged again and again, until the test ends.
func (s *Server) Retry(t testing.TB, every time.Duration) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-time.After(every):
			case <-ctx.Done():
				return
			}
			for _, d := range s.unacknowledged() {
				d.Again()
			}
		}
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
}

// unacknowledged returns what was not answered with 200, in the order of its first push.
func (s *Server) unacknowledged() (all []*Delivery) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.said {
		if !slices.Contains(d.codes, http.StatusOK) {
			all = append(all, d)
		}
	}
	return all
}

// Codes returns the codes of the answers so far.
func (d *Delivery) Codes() []int {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return append([]int(nil), d.codes...)
}

// Wait waits until every push was answered. It returns an error if the last answer is not
// 200, or that of ctx.
func (d *Delivery) Wait(ctx context.Context) error {
	answered := func() bool {
		d.s.mu.Lock()
		defer d.s.mu.Unlock()
		return len(d.codes) >= d.sent
	}
	if err := d.s.Await(ctx, answered); err != nil {
		return err
	}
	codes := d.Codes()
	if code := codes[len(codes)-1]; code != http.StatusOK {
		return fmt.Errorf("answered with %d", code)
	}
	return nil
}

// Send sends a frame over one of the connections, the next one each time. Without one it is
// lost, as DingTalk's are.
func (s *Server) Send(frame any) {
	s.mu.Lock()
	var c *connection
	for range s.connections {
		s.next = (s.next + 1) % len(s.connections)
		if c = s.connections[s.next]; !c.gone {
			break
		}
	}
	s.mu.Unlock()
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if text, is := frame.(string); is {
		_ = c.socket.WriteMessage(websocket.TextMessage, []byte(text))
		return
	}
	_ = c.socket.WriteJSON(frame)
}

// Connections returns how many streams are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := 0
	for _, c := range s.connections {
		if !c.gone {
			open++
		}
	}
	return open
}

// Opened returns how many streams were ever opened.
func (s *Server) Opened() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connections)
}

// Cut cuts all streams.
func (s *Server) Cut() {
	s.mu.Lock()
	all := s.connections
	s.mu.Unlock()
	for _, c := range all {
		_ = c.socket.Close()
	}
}

// Leave announces the end of all streams, and ends them after a while.
func (s *Server) Leave(after time.Duration) {
	s.mu.Lock()
	all := append([]*connection(nil), s.connections...)
	s.mu.Unlock()
	for _, c := range all {
		c.mu.Lock()
		_ = c.socket.WriteJSON(map[string]any{"type": "SYSTEM", "headers": map[string]any{"topic": "disconnect", "contentType": "application/json"}, "data": `{"reason":"connection is expired"}`})
		c.mu.Unlock()
		time.AfterFunc(after, func() { _ = c.socket.Close() })
	}
}

// Posts returns the plain messages that the robot sent.
func (s *Server) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Post(nil), s.posts...)
}

// Cards returns the cards that the robot created, in order.
func (s *Server) Cards() []Card {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Card
	for _, id := range s.order {
		card := *s.cards[id]
		card.Variables = maps.Clone(card.Variables)
		all = append(all, card)
	}
	return all
}

// RevokeTokens makes all access tokens invalid.
func (s *Server) RevokeTokens() {
	defer s.act()()
	clear(s.tokens)
}

// Remove removes the robot from a group.
func (s *Server) Remove(group string) {
	defer s.act()()
	s.gone[group] = true
}

// Withhold withholds the next n messages to a person.
func (s *Server) Withhold(person string, n int) {
	defer s.act()()
	s.limited[person] = n
}

// Store stores a file and returns its download code.
func (s *Server) Store(content []byte) (code string) {
	defer s.act()()
	code = s.mint("code")
	s.files[code] = content
	return code
}

// Topics returns what the app has subscribed to.
func (s *Server) Topics() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for topic := range s.topics {
		all = append(all, topic)
	}
	return strings.Join(all, " ")
}
