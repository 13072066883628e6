package qqtest

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// event is a frame of the gateway, or the body of a webhook's request.
type event struct {
	Op   int             `json:"op"`
	ID   string          `json:"id,omitempty"`
	Data json.RawMessage `json:"d,omitempty"`
	Seq  int64           `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
}

// Attachment is a file of a message.
type Attachment struct {
	Name    string
	Type    string // such as image/png, file, voice
	Content []byte
	URL     string // empty: that of Content at this server
}

// Delivery is a message on its way to the bot. It can be waited for if it goes to the webhook.
type Delivery struct {
	faulty.Push
	ID  string // of the message
	Seq int64  // of the gateway's event; 0: there was no session, or it goes to the webhook
}

// Say has somebody write to the bot: directly, or in a group where they mention it.
func (s *Server) Say(chat, sender, text string, files ...Attachment) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.mint("ROBOT1.0_said-")
	author, kind, where := map[string]any{"id": sender, "user_openid": sender}, "C2C_MESSAGE_CREATE", map[string]any{}
	if kindOf(chat) == "group" {
		author, kind = map[string]any{"id": sender, "member_openid": sender}, "GROUP_AT_MESSAGE_CREATE"
		where["group_openid"], where["group_id"] = strings.TrimPrefix(chat, "group/"), strings.TrimPrefix(chat, "group/")
		text = " " + text
	}
	data := map[string]any{"id": id, "author": author, "content": text, "timestamp": time.Now().Format(time.RFC3339)}
	maps.Copy(data, where)
	var attached []map[string]any
	for _, f := range files {
		if f.URL == "" {
			name := s.mint("media-")
			s.media[name] = f.Content
			f.URL = s.URL() + "/media/" + name
		}
		attached = append(attached, map[string]any{"content_type": f.Type, "filename": f.Name, "size": len(f.Content), "url": f.URL})
	}
	if attached != nil {
		data["attachments"] = attached
	}
	encoded, _ := json.Marshal(data)
	m := &inbound{chat: chat, at: time.Now(), event: event{ID: kind + ":" + id, Data: encoded, Type: kind}}
	s.messages[id] = m
	return s.deliver(id, m.event)
}

// Redeliver delivers a message again, as a new event.
func (s *Server) Redeliver(id string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deliver(id, s.messages[id].event)
}

// Emit delivers any event over the gateway.
func (s *Server) Emit(kind, data string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deliver("", event{Data: json.RawMessage(data), Type: kind})
}

// deliver delivers an event. The lock is held.
func (s *Server) deliver(id string, e event) Delivery {
	d := Delivery{ID: id}
	if target := s.target; target != "" {
		body, _ := json.Marshal(e)
		isAck := func(answer []byte) bool {
			var ack struct{ Op int }
			return json.Unmarshal(answer, &ack) == nil && ack.Op == 12
		}
		header := func() http.Header { return Sign(Secret, time.Now(), body) }
		d.Push = s.Push(body, s.retries, func() string { return target }, header, isAck)
		return d
	}
	if s.session == nil {
		return d // nobody gets it
	}
	d.Seq = s.session.add(e)
	for c := range s.connections {
		c.flush()
	}
	s.Changed()
	return d
}

// ServeEvents posts events to this URL instead of using the gateway; "" returns to it.
func (s *Server) ServeEvents(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target = target
}

// Challenge checks the webhook's address as QQ's console does. The error says what is wrong.
func (s *Server) Challenge(ctx context.Context) error {
	s.mu.Lock()
	target := s.target
	s.mu.Unlock()
	const token, stamp = "Arq0D5A61EgUu4OxUvOp", "1725442341"
	body := []byte(`{"d":{"plain_token":"` + token + `","event_ts":"` + stamp + `"},"op":13}`)
	_, answer, err := s.Post(ctx, target, http.Header{"User-Agent": {"QQBot-Callback"}, "X-Bot-Appid": {AppID}}, body)
	if err != nil {
		return err
	}
	var got struct {
		Token     string `json:"plain_token"`
		Signature string `json:"signature"`
	}
	_ = json.Unmarshal(answer, &got)
	signature, _ := hex.DecodeString(got.Signature)
	if got.Token != token || !ed25519.Verify(key(Secret).Public().(ed25519.PublicKey), []byte(stamp+token), signature) {
		return fmt.Errorf("the challenge was answered with %q", answer)
	}
	return nil
}

// key derives the key of an app from its secret.
func key(secret string) ed25519.PrivateKey {
	seed := secret
	for len(seed) < ed25519.SeedSize {
		seed += seed
	}
	return ed25519.NewKeyFromSeed([]byte(seed[:ed25519.SeedSize]))
}

// Sign returns the headers of a signed request.
func Sign(secret string, at time.Time, body []byte) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "QQBot-Callback")
	header.Set("X-Bot-Appid", AppID)
	header.Set("X-Signature-Method", "Ed25519")
	header.Set("X-Signature-Timestamp", stamp)
	header.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(key(secret), append([]byte(stamp), body...))))
	return header
}
