package whatsapp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	questionLimit = 1024 // characters above buttons, or of a file's caption
	labelLimit    = 20   // characters of a button
	// typingLasts is how often the typing indicator is shown again: WhatsApp shows it for 25
	// seconds.
	typingLasts = 20 * time.Second
)

type object map[string]any

// Post implements [chat.Platform].
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if err := p.checkWindow(ctx, at.Chat); err != nil {
		return "", err
	}
	content, err := p.content(ctx, msg)
	if err != nil {
		return "", err
	}
	content["messaging_product"], content["biz_opaque_callback_data"] = Name, msg.Key()
	if isNumber(at.Chat) {
		content["to"], content["recipient_type"] = at.Chat, "individual"
	} else {
		content["recipient"] = at.Chat
	}
	var sent struct {
		Messages []struct {
			ID string `json:"id"`
		} `json:"messages"`
	}
	if err := p.call(ctx, http.MethodPost, p.path("messages"), at.Chat, content, &sent); err != nil {
		return "", err
	}
	if len(sent.Messages) == 0 || sent.Messages[0].ID == "" {
		return "", &remote.Error{Service: Name, Status: http.StatusBadGateway, Err: errors.New("messages: the answer names no message")}
	}
	return sent.Messages[0].ID, nil
}

func (p *platform) path(resource string) string {
	return url.PathEscape(p.o.PhoneNumberID) + "/" + resource
}

// content returns a message as WhatsApp takes it.
func (p *platform) content(ctx context.Context, msg chat.Message) (object, error) {
	text := markdown.Render(msg.Text, marks)
	switch {
	case msg.File != "":
		return p.fileContent(ctx, msg, text)
	case msg.Approval != "" && chat.UTF16(text) <= questionLimit:
		return question(text, msg.Buttons), nil
	case msg.Approval != "":
		text += "\n\n" + markdown.Render(channels.HowToAnswer(msg.Approval), marks)
	}
	return object{"type": "text", "text": object{"body": text, "preview_url": false}}, nil
}

// question returns a message with buttons.
func question(text string, buttons []chat.Button) object {
	var all []object
	for _, b := range buttons {
		all = append(all, object{"type": "reply", "reply": object{"id": string(b.Action) + ":" + b.Value, "title": b.Label[:min(len(b.Label), labelLimit)]}})
	}
	return object{"type": "interactive", "interactive": object{"type": "button", "body": object{"text": text}, "action": object{"buttons": all}}}
}

// Indicates implements [chat.Indicator].
func (*platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{Text: true, Lapse: typingLasts}, nil
}

// Indicate implements [chat.Indicator]: it marks the message as read and shows that the
// agent types, which ends by itself.
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	if what.Text == "" || !strings.HasPrefix(at.ReplyTo, "wamid.") {
		return nil
	}
	return p.call(ctx, http.MethodPost, p.path("messages"), at.Chat, object{
		"messaging_product": Name, "status": "read", "message_id": at.ReplyTo, "typing_indicator": object{"type": "text"},
	}, &object{})
}
