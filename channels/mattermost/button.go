package mattermost

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// press is what a button is for. The server keeps it with the post, shows it to nobody, and
// sends it when somebody clicks.
type press struct {
	Action chat.Action `json:"action"`
	Value  string      `json:"value"`
	Chat   string      `json:"chat"`
	Thread string      `json:"thread"`
	Secret string      `json:"secret"` // proves that we made the button
}

// click is what the server sends when somebody clicks.
type click struct {
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name"`
	ChannelID string `json:"channel_id"`
	PostID    string `json:"post_id"`
	Context   press  `json:"context"`
}

// secret returns the secret of a button.
func (p *platform) secret(b press) string {
	b.Secret = ""
	encoded, _ := json.Marshal(b) // it has only strings
	mac := hmac.New(sha256.New, []byte("holdfast button "+p.o.Token))
	mac.Write(encoded)
	return hex.EncodeToString(mac.Sum(nil))
}

var styles = map[chat.Action]string{chat.ActionApprove: "good", chat.ActionDeny: "danger", chat.ActionStop: "default"}

// actions returns buttons as Mattermost takes them.
func (p *platform) actions(at chat.Place, buttons []chat.Button) []any {
	var all []any
	for _, b := range buttons {
		of := press{Action: b.Action, Value: b.Value, Chat: at.Chat, Thread: at.Thread}
		of.Secret = p.secret(of)
		all = append(all, map[string]any{
			"id": string(b.Action), "type": "button", "name": b.Label, "style": styles[b.Action],
			"integration": map[string]any{"url": p.o.CallbackURL, "context": of},
		})
	}
	return all
}

var errForged = errors.New("the button is not ours")

// newHook returns the server to which Mattermost sends clicks.
func newHook(p *platform) *chat.Webhook {
	return &chat.Webhook{
		Name: Name, Title: "Mattermost", Listen: p.o.Listen, Path: p.o.Path, Logger: p.o.Logger,
		Verify: func(_ http.Header, body []byte) error {
			var c click
			err := json.Unmarshal(body, &c)
			if err != nil || !hmac.Equal([]byte(c.Context.Secret), []byte(p.secret(c.Context))) || c.ChannelID != channelOf(c.Context.Chat) {
				return errForged
			}
			return nil
		},
		Read: func(_ http.Header, body []byte) (chat.Delivery, any, error) {
			d, err := readClick(body)
			return d, struct{}{}, err // the server wants an object
		},
	}
}

// readClick parses a click. Repeated ones of a person on a button are the same.
func readClick(body []byte) (chat.Delivery, error) {
	var c click
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	if !isID.MatchString(c.UserID) || !isID.MatchString(c.PostID) {
		return nil, fmt.Errorf("%w: a click without user or post", chat.ErrMalformed)
	}
	d := &chat.Click{Action: c.Context.Action, Value: c.Context.Value}
	d.PlatformID = strings.Join([]string{c.PostID, c.UserID}, "-")
	d.Chat, d.Thread, d.Sender, d.SenderName = c.Context.Chat, c.Context.Thread, c.UserID, c.UserName
	d.Direct = IsDirect(d.Chat)
	return d, nil
}

// Hook implements [chat.Hooked].
func (p *platform) Hook() *chat.Webhook { return p.hook }

// Addr returns the address to which clicks are sent; nil while there is none.
func (p *platform) Addr() net.Addr {
	if p.hook == nil {
		return nil
	}
	return p.hook.Addr()
}

// Whisper implements [chat.Whisperer]: in a channel by a direct message.
func (p *platform) Whisper(ctx context.Context, at chat.Place, person, text string) error {
	if !IsDirect(at.Chat) {
		direct, err := p.OpenDirect(ctx, person)
		if err != nil {
			return err
		}
		at = chat.Place{Chat: direct}
	}
	_, err := p.Post(ctx, at, chat.Message{Text: text})
	return err
}
