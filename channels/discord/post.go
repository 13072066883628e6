package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	nonceLength = 25
	// withoutPreviews keeps Discord from loading the links in a message.
	withoutPreviews = 1 << 2
	onlyForCaller   = 1 << 6
)

// outgoing is a message as Discord takes it.
type outgoing struct {
	Content      string         `json:"content"`
	Nonce        string         `json:"nonce,omitempty"`
	EnforceNonce bool           `json:"enforce_nonce,omitempty"`
	Reference    *reference     `json:"message_reference,omitempty"`
	Mentions     mentionRules   `json:"allowed_mentions"`
	Components   []component    `json:"components"`
	Attachments  []outgoingFile `json:"attachments,omitempty"`
	Flags        int            `json:"flags,omitempty"`
}

// mentionRules say who is notified of what a message mentions: nobody.
type mentionRules struct {
	Parse [0]string `json:"parse"`
}

// reference names the message that one answers.
type reference struct {
	MessageID string `json:"message_id"`
	MustExist bool   `json:"fail_if_not_exists"`
}

type outgoingFile struct {
	ID       int    `json:"id"`
	Filename string `json:"filename"`
}

// component is a row of buttons, or one of them.
type component struct {
	Type       int         `json:"type"`
	Components []component `json:"components,omitempty"`
	Style      int         `json:"style,omitempty"`
	Label      string      `json:"label,omitempty"`
	CustomID   string      `json:"custom_id,omitempty"`
}

const (
	typeRow    = 1
	typeButton = 2
)

// styles are the colours of buttons: grey, green and red.
var styles = map[chat.Action]int{chat.ActionStop: 2, chat.ActionApprove: 3, chat.ActionDeny: 4}

// outgoingOf returns the content of a message for Discord.
func outgoingOf(msg chat.Message) outgoing {
	out := outgoing{Content: contentOf(msg), Components: []component{}, Flags: withoutPreviews}
	if len(msg.Buttons) == 0 {
		return out
	}
	row := component{Type: typeRow}
	for _, b := range msg.Buttons {
		row.Components = append(row.Components, component{Type: typeButton, Style: styles[b.Action], Label: b.Label, CustomID: customID(b)})
	}
	out.Components = append(out.Components, row)
	return out
}

// targetOf returns the ID of the channel or thread to write to.
func targetOf(at chat.Place) string {
	if at.Thread != "" {
		return at.Thread
	}
	return channelOf(at.Chat)
}

const messagesRoute = "/channels/%s/messages"

// Post implements [chat.Platform]. In a server, a reply refers to what it answers.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	out := outgoingOf(msg)
	if msg.ID != "" {
		out.Nonce, out.EnforceNonce = msg.Key()[:nonceLength], true
	}
	if _, isMessage := parseID(at.ReplyTo); isMessage && msg.Part <= 1 && !IsDirect(at.Chat) {
		out.Reference = &reference{MessageID: at.ReplyTo}
	}
	r := request{method: http.MethodPost, route: messagesRoute, ids: []string{targetOf(at)}, file: msg.File, data: msg.Content}
	if msg.File != "" {
		out.Attachments = []outgoingFile{{Filename: msg.File}}
	}
	r.body = out
	var posted struct {
		ID string `json:"id"`
	}
	err := p.call(ctx, r, &posted)
	return posted.ID, err
}

// Busy implements [chat.Throttled].
func (p *platform) Busy(at chat.Place) bool {
	return p.limits.Busy(http.MethodPost+" "+messagesRoute, targetOf(at))
}

const messageRoute = "/channels/%s/messages/%s"

// Edit implements [chat.Editor].
func (p *platform) Edit(ctx context.Context, at chat.Place, id string, msg chat.Message) error {
	err := p.call(ctx, request{method: http.MethodPatch, route: messageRoute, ids: []string{targetOf(at), id}, body: outgoingOf(msg)}, nil)
	if c := code(err); c == unknownMessage || c == notOurMessage {
		return fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

// Delete implements [chat.Editor].
func (p *platform) Delete(ctx context.Context, at chat.Place, id string) error {
	err := p.call(ctx, request{method: http.MethodDelete, route: messageRoute, ids: []string{targetOf(at), id}}, nil)
	if code(err) == unknownMessage || errors.Is(err, channels.ErrGone) {
		return nil
	}
	return err
}

// Whisper implements [chat.Whisperer]: by a direct message.
func (p *platform) Whisper(ctx context.Context, at chat.Place, person, text string) error {
	if !IsDirect(at.Chat) {
		direct, err := p.openDirect(ctx, person)
		if err != nil {
			return err
		}
		at = chat.Place{Chat: direct}
	}
	_, err := p.Post(ctx, at, chat.Message{Text: text})
	return err
}

// openDirect returns the direct chat with a person.
func (p *platform) openDirect(ctx context.Context, person string) (string, error) {
	var direct channel
	err := p.call(ctx, request{method: http.MethodPost, route: "/users/@me/channels", body: map[string]string{"recipient_id": person}}, &direct)
	return chatOf("", direct.ID), err
}
