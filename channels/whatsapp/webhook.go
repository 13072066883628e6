package whatsapp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// storeTimeout bounds storing what a request reports.
const storeTimeout = 10 * time.Second

// newWebhook returns the server to which WhatsApp delivers.
func newWebhook(p *platform) *chat.Webhook {
	return &chat.Webhook{
		Name: Name, Title: "WhatsApp", Listen: p.o.Listen, Path: p.o.Path, Logger: p.o.Logger,
		Verify: func(header http.Header, body []byte) error {
			return verify(header.Get("X-Hub-Signature-256"), p.o.AppSecret, body)
		},
		ReadAll: p.read,
		Confirm: p.confirm,
	}
}

// Addr returns the address that the webhook listens on; nil while it does not.
func (p *platform) Addr() net.Addr { return p.webhook.Addr() }

// confirm answers the request by which Meta checks the address.
func (p *platform) confirm(query url.Values) (string, bool) {
	same := subtle.ConstantTimeCompare([]byte(query.Get("hub.verify_token")), []byte(p.o.VerifyToken)) == 1
	return query.Get("hub.challenge"), same && query.Get("hub.mode") == "subscribe"
}

// verify checks that a request is Meta's. A repeated one passes: its messages are recognized
// by their IDs.
func verify(signature, secret string, body []byte) error {
	given, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	if err != nil || !strings.HasPrefix(signature, "sha256=") || !hmac.Equal(given, mac.Sum(nil)) {
		return errors.New("verify the signature: not meta's")
	}
	return nil
}

// update is a request of the webhook.
type update struct {
	Object string `json:"object"`
	Entry  []struct {
		Changes []struct {
			Field string `json:"field"`
			Value change `json:"value"`
		} `json:"changes"`
	} `json:"entry"`
}

// change is what happened to a number.
type change struct {
	Metadata struct {
		PhoneNumberID string `json:"phone_number_id"`
	} `json:"metadata"`
	Contacts []contact         `json:"contacts"`
	Messages []json.RawMessage `json:"messages"`
	Statuses []status          `json:"statuses"`
}

type contact struct {
	WaID    string `json:"wa_id"`
	UserID  string `json:"user_id"`
	Profile struct {
		Name string `json:"name"`
	} `json:"profile"`
}

// status is the report of what became of a message of ours.
type status struct {
	ID     string    `json:"id"`
	Status string    `json:"status"`
	Key    string    `json:"biz_opaque_callback_data"`
	Errors []refusal `json:"errors"`
}

// read returns the messages of a request, and records what it reports. A message that
// cannot be read is skipped: it would be the same again.
func (p *platform) read(_ http.Header, body []byte) (all []chat.Delivery, err error) {
	defer chat.RecoverPanic(&err)
	var u update
	if err := json.Unmarshal(body, &u); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	for _, entry := range u.Entry {
		for _, c := range entry.Changes {
			switch {
			case c.Field != "messages":
				continue
			case c.Value.Metadata.PhoneNumberID != p.o.PhoneNumberID:
				p.o.Logger.Info("message to another number ignored", "phone_number_id", c.Value.Metadata.PhoneNumberID)
				continue
			}
			found, err := p.readChange(ctx, c.Value)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func (p *platform) readChange(ctx context.Context, c change) (all []chat.Delivery, err error) {
	for _, s := range c.Statuses {
		if err := p.readStatus(ctx, s); err != nil {
			return nil, err
		}
	}
	for _, raw := range c.Messages {
		var m message
		d, err := chat.Delivery(nil), json.Unmarshal(raw, &m)
		if err == nil {
			d, err = p.readMessage(&m, c.Contacts)
		}
		if err != nil {
			p.o.Logger.Error("invalid message", "err", err)
		}
		if d == nil || err != nil {
			continue
		}
		if err := p.wrote(ctx, m.chat(), m.sentAt()); err != nil && !errors.Is(err, errNoStore) {
			return nil, fmt.Errorf("store when a person wrote: %w", err)
		}
		all = append(all, d)
	}
	return all, nil
}

// readStatus records that a message was sent.
func (p *platform) readStatus(ctx context.Context, s status) error {
	switch s.Status {
	case "sent", "delivered", "read":
		if s.ID == "" || s.Key == "" {
			return nil
		}
		if err := p.reported(ctx, s.Key, s.ID); err != nil && !errors.Is(err, errNoStore) {
			return fmt.Errorf("store a report: %w", err)
		}
	case "failed":
		why := ""
		if len(s.Errors) > 0 {
			why = s.Errors[0].Error()
		}
		p.o.Logger.Error("whatsapp did not deliver a message", "id", s.ID, "err", why)
	}
	return nil
}
