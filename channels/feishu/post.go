package feishu

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// The names of methods that have a rate limit of their own for each chat.
const (
	methodSend = "send a message"
	methodEdit = "edit a message"
)

// body is what a message is made of.
type body struct {
	kind    string // such as interactive
	content string // JSON
	key     string // uuid; empty: none
}

// Post implements [chat.Platform].
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	if msg.File != "" {
		return p.postFile(ctx, at, msg)
	}
	if msg.Draft {
		if id, err := p.postStreaming(ctx, at, msg); id != "" || err != nil {
			return id, err
		}
	}
	return p.postCard(ctx, at, msg, "")
}

// postCard posts a message as a card, or without markup if the platform refuses that.
func (p *platform) postCard(ctx context.Context, at chat.Place, msg chat.Message, image string) (string, error) {
	b := body{kind: "interactive", content: encoded(p.cardOf(at, msg, image)), key: keyOf(msg)}
	id, err := p.send(ctx, at, msg.Part, b)
	if code(err) == codeBadCard {
		b.content = encoded(plainCard(at, msg))
		return p.send(ctx, at, msg.Part, b)
	}
	return id, err
}

// keyOf returns the uuid of a message. The platform takes 50 characters.
func keyOf(msg chat.Message) string {
	if msg.ID == "" {
		return ""
	}
	return msg.Key()
}

// send sends a message: in a topic and below the message that it answers as a reply, else
// into the chat. Only the first part of an answer quotes what it answers.
func (p *platform) send(ctx context.Context, at chat.Place, part int, b body) (id string, err error) {
	for _, target := range replyTargets(at, part) {
		id, err = p.create(ctx, at, request{path: "/open-apis/im/v1/messages/" + url.PathEscape(target) + "/reply"},
			object{"reply_in_thread": at.Thread != ""}, b)
		if c := code(err); c != codeRecalled && c != codeDeleted {
			return id, err
		}
	}
	if at.Thread != "" {
		return "", fmt.Errorf("%w: %w", channels.ErrGone, cmp.Or(err, errors.New("the topic's first message is unknown")))
	}
	kind := "chat_id"
	if IsDirect(at.Chat) {
		kind = "open_id"
	}
	return p.create(ctx, at, request{path: "/open-apis/im/v1/messages", query: url.Values{"receive_id_type": {kind}}},
		object{"receive_id": at.Chat}, b)
}

// replyTargets returns the messages that a message may be sent as a reply to, best first.
func replyTargets(at chat.Place, part int) (targets []string) {
	quotes := isID("om_", at.ReplyTo) && !IsDirect(at.Chat)
	if quotes && (at.Thread != "" || part <= 1) {
		targets = append(targets, at.ReplyTo)
	}
	if at.Thread != "" && !slices.Contains(targets, at.Thread) && isID("om_", at.Thread) {
		targets = append(targets, at.Thread)
	}
	return targets
}

func (p *platform) create(ctx context.Context, at chat.Place, r request, fields object, b body) (string, error) {
	fields["msg_type"], fields["content"] = b.kind, b.content
	if b.key != "" {
		fields["uuid"] = b.key
	}
	r.name, r.verb, r.body, r.chat = methodSend, http.MethodPost, fields, at.Chat
	var answer struct {
		Data message `json:"data"`
	}
	if err := p.call(ctx, r, &answer); err != nil {
		return "", err
	}
	if IsDirect(at.Chat) {
		p.learnDirect(ctx, at.Chat, answer.Data.Chat)
	}
	p.topics.put(at.Thread, answer.Data.Thread)
	return answer.Data.ID, nil
}

// Edit implements [chat.Editor].
func (p *platform) Edit(ctx context.Context, at chat.Place, id string, msg chat.Message) error {
	if handled, err := p.editStreaming(ctx, at, id, msg); handled {
		return err
	}
	err := p.patch(ctx, at, id, p.cardOf(at, msg, ""))
	if code(err) == codeBadCard {
		err = p.patch(ctx, at, id, plainCard(at, msg))
	}
	if code(err) == codeBadCard {
		err = fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

func (p *platform) patch(ctx context.Context, at chat.Place, id string, card object) error {
	err := p.call(ctx, request{
		name: methodEdit, verb: http.MethodPatch, path: "/open-apis/im/v1/messages/" + url.PathEscape(id), chat: at.Chat,
		body: object{"content": encoded(card)},
	}, nil)
	// A message that cannot be edited makes way for another, whatever the reason.
	if failed := remote.As(err); failed != nil && failed.Permanent() && !unsayable[code(err)] && code(err) != codeBadCard {
		return fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

// Delete implements [chat.Editor].
func (p *platform) Delete(ctx context.Context, _ chat.Place, id string) error {
	p.cards.drop(id)
	err := p.call(ctx, request{name: "delete a message", verb: http.MethodDelete, path: "/open-apis/im/v1/messages/" + url.PathEscape(id)}, nil)
	if undeletable[code(err)] || errors.Is(err, channels.ErrGone) {
		return nil
	}
	return err
}

// Whisper implements [chat.Whisperer]: in a group by a card that only one person sees.
func (p *platform) Whisper(ctx context.Context, at chat.Place, person, text string) error {
	if IsDirect(at.Chat) {
		_, err := p.Post(ctx, chat.Place{Chat: at.Chat}, chat.Message{Text: text})
		return err
	}
	return p.call(ctx, request{
		name: "send a private card", verb: http.MethodPost, path: "/open-apis/ephemeral/v1/send", chat: at.Chat,
		body: object{
			"chat_id": at.Chat, "open_id": person, "msg_type": "interactive",
			"card": object{"elements": []object{{"tag": "markdown", "content": withApprovers(rendered(text))}}},
		},
	}, nil)
}

// Mention implements [chat.Markup].
func (*platform) Mention(person string) string { return mentionOf(person) }

// Escape implements [chat.Markup].
func (*platform) Escape(text string) string { return quiet(text) }
