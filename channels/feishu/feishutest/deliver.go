package feishutest

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Delivery is an event that is delivered until it is acknowledged or not repeated any more.
type Delivery struct {
	Message string // the ID of the message that it is about
	Payload []byte // the event
	id      string
	done    chan struct{}
	err     error  // once done is closed
	Reply   []byte // of the client, once it acknowledged
}

var errRefused = errors.New("feishutest: not acknowledged")

// Wait waits until the delivery was acknowledged or given up.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
		return d.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SayOption changes a message that somebody writes.
type SayOption func(*Message)

// Mentioning has the message mention somebody: the text says @_user_1 and so on.
func Mentioning(people ...string) SayOption {
	return func(m *Message) { m.Mentions = append(m.Mentions, people...) }
}

// InTopic puts the message into the topic that a message began.
func InTopic(root string) SayOption { return func(m *Message) { m.Root = root } }

// As gives the message another type and content, as JSON.
func As(kind, content string) SayOption {
	return func(m *Message) { m.Type, m.Content = kind, content }
}

// Say has somebody write a message in a group or, if chat is empty, to the bot.
func (s *Server) Say(person, chat, said string, options ...SayOption) *Delivery {
	s.mu.Lock()
	content, _ := json.Marshal(map[string]string{"text": said})
	m := Message{Chat: chat, Sender: person, Type: "text", Content: string(content)}
	for _, o := range options {
		o(&m)
	}
	if chat == "" {
		m.Chat = s.direct(person).ID
	}
	if root := s.find(m.Root); root != nil {
		if root.Thread == "" {
			root.Thread = s.id("omt_")
		}
		m.Thread, m.Parent = root.Thread, root.ID
	}
	added := s.add(m)
	payload := s.event("im.message.receive_v1", s.messageEvent(added))
	s.Changed()
	s.mu.Unlock()
	return s.Deliver(added.ID, payload)
}

func (s *Server) messageEvent(m *Message) any {
	kind := "group"
	if s.chats[m.Chat].Person != "" {
		kind = "p2p"
	}
	var mentions []any
	for i, id := range m.Mentions {
		mentions = append(mentions, map[string]any{
			"key": "@_user_" + strconv.Itoa(i+1), "id": s.ids(id), "name": s.nameOf(id), "tenant_key": Tenant,
		})
	}
	message := map[string]any{
		"message_id": m.ID, "chat_id": m.Chat, "chat_type": kind, "message_type": m.Type, "content": m.Content,
		"create_time": strconv.FormatInt(m.At.UnixMilli(), 10), "update_time": strconv.FormatInt(m.At.UnixMilli(), 10), "user_agent": "Mozilla/5.0",
	}
	for field, value := range map[string]string{"root_id": m.Root, "parent_id": m.Parent, "thread_id": m.Thread} {
		if value != "" {
			message[field] = value
		}
	}
	if len(mentions) > 0 {
		message["mentions"] = mentions
	}
	sender := "user"
	if m.Sender == Bot {
		sender = "app"
	}
	return map[string]any{"sender": map[string]any{"sender_id": s.ids(m.Sender), "sender_type": sender, "tenant_key": Tenant}, "message": message}
}

func (s *Server) ids(id string) map[string]any {
	return map[string]any{"open_id": id, "union_id": strings.Replace(id, "ou_", "on_", 1), "user_id": nil}
}

// event returns the payload of an event.
func (s *Server) event(kind string, about any) []byte {
	payload, _ := json.Marshal(map[string]any{
		"schema": "2.0",
		"header": map[string]any{
			"event_id": s.id("ev"), "event_type": kind, "create_time": strconv.FormatInt(s.now().UnixMilli(), 10),
			"token": s.token, "app_id": AppID, "tenant_key": Tenant,
		},
		"event": about,
	})
	return payload
}

// Event delivers an event of any kind.
func (s *Server) Event(kind string, about any) *Delivery {
	s.mu.Lock()
	payload := s.event(kind, about)
	s.mu.Unlock()
	return s.Deliver("", payload)
}

// Click has somebody click on the button of a message that has this label. In is where they
// saw it; empty: in its chat.
func (s *Server) Click(person, message, label, in string) *Delivery {
	s.mu.Lock()
	m := s.find(message)
	if m == nil {
		s.mu.Unlock()
		s.t.Errorf("feishutest: no message %s", message)
		return &Delivery{done: closed(), err: errRefused}
	}
	if in == "" {
		in = m.Chat
	}
	var card any
	_ = json.Unmarshal([]byte(s.shown(m).Content), &card) // it was checked
	var value any
	walk(card, func(element map[string]any) {
		text, _ := element["text"].(map[string]any)
		if element["tag"] != "button" || text["content"] != label {
			return
		}
		behaviors, _ := element["behaviors"].([]any)
		if len(behaviors) == 1 {
			callback, _ := behaviors[0].(map[string]any)
			value = callback["value"]
		}
	})
	payload := s.event("card.action.trigger", map[string]any{
		"operator": map[string]any{"tenant_key": Tenant, "open_id": person, "union_id": "on_x", "user_id": nil},
		"token":    "c-token", "host": "im_message",
		"action":  map[string]any{"tag": "button", "value": value, "timezone": "Europe/Paris"},
		"context": map[string]any{"open_message_id": m.ID, "open_chat_id": in},
	})
	s.mu.Unlock()
	if value == nil {
		s.t.Errorf("feishutest: message %s has no button %q", message, label)
	}
	return s.Deliver(message, payload)
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// Deliver delivers a payload.
func (s *Server) Deliver(message string, payload []byte) *Delivery {
	s.mu.Lock()
	d := &Delivery{Message: message, Payload: payload, id: s.id("d"), done: make(chan struct{})}
	s.mu.Unlock()
	s.start(d)
	return d
}

// Redeliver delivers an event again, as after an acknowledgement that was lost.
func (s *Server) Redeliver(d *Delivery) *Delivery { return s.Deliver(d.Message, d.Payload) }

// start delivers in the background. Deliveries reach a connection in the order of the calls.
func (s *Server) start(d *Delivery) {
	began := make(chan struct{})
	s.Go(func(ctx context.Context) {
		defer close(d.done)
		d.err = s.attempt(ctx, d, began)
		for _, delay := range s.retries {
			if d.err == nil {
				return
			}
			select {
			case <-time.After(delay):
			case <-ctx.Done():
				return
			}
			d.err = s.attempt(ctx, d, make(chan struct{}))
		}
	})
	<-began
}

// attempt delivers once. began is closed once it is on its way.
func (s *Server) attempt(ctx context.Context, d *Delivery, began chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, s.ackWithin)
	defer cancel()
	if s.webhook {
		close(began)
		return s.postEvent(ctx, d)
	}
	s.mu.Lock()
	var c *connection
	for c = range s.connections { // a random one
		break
	}
	s.mu.Unlock()
	if c == nil {
		close(began)
		return errRefused
	}
	waits := s.push(c, d.id, d.Payload)
	close(began)
	select {
	case a, answered := <-waits:
		switch {
		case !answered:
			return errCut
		case a.code != http.StatusOK:
			return fmt.Errorf("%w: code %d", errRefused, a.code)
		}
		d.Reply = a.data
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// PointAt sets the address of the webhook.
func (s *Server) PointAt(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.address = address
}

// postEvent delivers to the webhook.
func (s *Server) postEvent(ctx context.Context, d *Delivery) error {
	body := s.Seal(d.Payload)
	status, reply, err := s.Post(ctx, body, s.Sign(body, time.Now()))
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("%w: status %d", errRefused, status)
	}
	d.Reply = reply
	return nil
}

// Post sends a body to the webhook.
func (s *Server) Post(ctx context.Context, body []byte, header http.Header) (status int, reply []byte, err error) {
	s.mu.Lock()
	address := s.address
	s.mu.Unlock()
	return s.Server.Post(ctx, address, header.Clone(), body)
}

// Sign returns the headers of a request with this body at a time.
func (s *Server) Sign(body []byte, at time.Time) http.Header {
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}}
	if s.encryptKey == "" {
		return header
	}
	timestamp, nonce := strconv.FormatInt(at.Unix(), 10), rand.Text()
	sum := sha256.Sum256([]byte(timestamp + nonce + s.encryptKey + string(body)))
	header.Set("X-Lark-Request-Timestamp", timestamp)
	header.Set("X-Lark-Request-Nonce", nonce)
	header.Set("X-Lark-Signature", hex.EncodeToString(sum[:]))
	return header
}

// Seal encrypts a payload, if there is a key.
func (s *Server) Seal(payload []byte) []byte {
	if s.encryptKey == "" {
		return payload
	}
	key := sha256.Sum256([]byte(s.encryptKey))
	block, _ := aes.NewCipher(key[:]) // the key has 32 bytes
	padding := aes.BlockSize - len(payload)%aes.BlockSize
	plain := append(bytes.Clone(payload), bytes.Repeat([]byte{byte(padding)}, padding)...)
	sealed := make([]byte, aes.BlockSize+len(plain))
	_, _ = rand.Read(sealed[:aes.BlockSize]) // it does not fail
	cipher.NewCBCEncrypter(block, sealed[:aes.BlockSize]).CryptBlocks(sealed[aes.BlockSize:], plain)
	body, _ := json.Marshal(map[string]string{"encrypt": base64.StdEncoding.EncodeToString(sealed)})
	return body
}

// Challenge checks the webhook's address as the platform does when it is entered.
func (s *Server) Challenge(ctx context.Context) error {
	payload, _ := json.Marshal(map[string]string{"type": "url_verification", "challenge": "c-1", "token": s.token})
	status, reply, err := s.Post(ctx, s.Seal(payload), http.Header{"Content-Type": {"application/json"}})
	if err != nil {
		return err
	}
	var answer struct{ Challenge string }
	if json.Unmarshal(reply, &answer) != nil || answer.Challenge != "c-1" {
		return fmt.Errorf("feishutest: status %d: %s", status, reply)
	}
	return nil
}
