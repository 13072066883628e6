package whatsapptest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Attachment is a file of a message.
type Attachment struct {
	Name    string // only of documents; "elsewhere": it is not at Meta
	Type    string // image, document, audio, video
	MIME    string
	Caption string
	Content []byte
}

// Delivery is what goes to the webhook at once.
type Delivery struct {
	faulty.Push
	IDs []string // of its messages
}

// Say has a person write.
func (s *Server) Say(person, text string, files ...Attachment) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(files) == 0 {
		return s.deliver([]object{s.message(person, object{"type": "text", "text": object{"body": text}})})
	}
	var all []object
	for i, f := range files {
		id := s.mint("media-")
		s.media[id] = file{f.Name, f.MIME, f.Content}
		about := object{"id": id, "mime_type": f.MIME, "sha256": "x"}
		if f.Type == "document" {
			about["filename"] = f.Name
		}
		if caption := f.Caption; caption != "" || i == 0 && text != "" {
			about["caption"] = caption + text
		}
		all = append(all, s.message(person, object{"type": f.Type, f.Type: about}))
	}
	return s.deliver(all)
}

// SayAll has a person write several messages, which one request delivers.
func (s *Server) SayAll(person string, texts ...string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []object
	for _, text := range texts {
		all = append(all, s.message(person, object{"type": "text", "text": object{"body": text}}))
	}
	return s.deliver(all)
}

// Click has a person press a button.
func (s *Server) Click(person string, b Button) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deliver([]object{s.message(person, object{"type": "interactive", "interactive": object{
		"type": "button_reply", "button_reply": object{"id": b.ID, "title": b.Title},
	}})})
}

// Redeliver delivers messages again, in one request.
func (s *Server) Redeliver(ids ...string) Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []object
	for _, id := range ids {
		all = append(all, s.said[id])
	}
	return s.deliver(all)
}

// message returns a message of a person. The lock is held.
func (s *Server) message(person string, m object) object {
	id := s.mint("wamid.said-")
	m["id"], m["timestamp"] = id, strconv.FormatInt(time.Now().Unix(), 10)
	if person == Hidden {
		m["from_user_id"] = person
	} else {
		m["from"], m["from_user_id"] = person, "US.1"+person
	}
	s.said[id], s.wrote[person] = m, time.Now()
	delete(s.budget, person)
	return m
}

// deliver posts messages to the webhook. The lock is held.
func (s *Server) deliver(messages []object) Delivery {
	d := Delivery{}
	var contacts []object
	for _, m := range messages {
		d.IDs = append(d.IDs, m["id"].(string))
		c := object{"profile": object{"name": "Someone"}, "user_id": m["from_user_id"]}
		if m["from"] != nil {
			c["wa_id"] = m["from"]
		}
		contacts = append(contacts, c)
	}
	body := Update(PhoneNumberID, object{"contacts": contacts, "messages": messages})
	d.Push = s.push(body)
	return d
}

// report delivers what became of a message. The lock is held.
func (s *Server) report(m Sent) {
	if s.silent || s.target == "" {
		return
	}
	status := object{"id": m.ID, "status": "sent", "timestamp": strconv.FormatInt(time.Now().Unix(), 10), "recipient_id": m.To}
	if m.Key != "" {
		status["biz_opaque_callback_data"] = m.Key
	}
	s.push(Update(PhoneNumberID, object{"statuses": []object{status}}))
}

// Update returns the body of a request with what happened to a number.
func Update(number string, value map[string]any) []byte {
	value["messaging_product"] = "whatsapp"
	value["metadata"] = object{"display_phone_number": "15550783881", "phone_number_id": number}
	body, err := json.Marshal(object{"object": "whatsapp_business_account", "entry": []object{{
		"id": "102290129340398", "changes": []object{{"field": "messages", "value": value}},
	}}})
	if err != nil {
		panic(err)
	}
	return body
}

// ServeEvents posts to this URL what happens.
func (s *Server) ServeEvents(target string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target = target
}

// Subscribe checks the webhook's address as Meta does when it is entered.
func (s *Server) Subscribe(ctx context.Context, token string) error {
	s.mu.Lock()
	target := s.target
	s.mu.Unlock()
	query := url.Values{"hub.mode": {"subscribe"}, "hub.challenge": {"1158201444"}, "hub.verify_token": {token}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return err
	}
	status, answer, err := s.Do(request)
	if err == nil && (status != http.StatusOK || string(answer) != "1158201444") {
		err = fmt.Errorf("the challenge was answered with status %d: %s", status, answer)
	}
	return err
}

// push posts a body to the webhook until it is acknowledged. Another process may serve the
// address by a later attempt.
func (s *Server) push(body []byte) faulty.Push {
	target := func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.target
	}
	return s.Push(body, s.retries, target, func() http.Header { return Sign(AppSecret, body) }, func([]byte) bool { return true })
}

// Sign returns the headers of a signed request.
func Sign(secret string, body []byte) http.Header {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	header := http.Header{}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "facebookexternalua")
	header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	return header
}
