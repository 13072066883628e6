package telegram

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// dataLimit is how many bytes a button may carry.
const dataLimit = 64

var topicID = regexp.MustCompile(`^[0-9]{0,19}$`)

// button is a button as Telegram takes it.
type button struct {
	Text string `json:"text"`
	Data string `json:"callback_data"`
}

// keyboard returns the buttons of a message, on one line. Each also carries the topic: a
// click on an old message does not say in which topic that is.
func keyboard(at chat.Place, buttons []chat.Button) args {
	if len(buttons) == 0 {
		return nil
	}
	var row []button
	for _, b := range buttons {
		if data := string(b.Action) + ":" + b.Value + ":" + at.Thread; len(data) <= dataLimit {
			row = append(row, button{b.Label, data})
		}
	}
	return args{"inline_keyboard": [][]button{row}}
}

// click returns a click on a button; nil if the button is not one of ours.
func (c *callback) click() (chat.Delivery, error) {
	if c.ID == "" || c.From == nil || c.Message == nil || c.Message.Chat.ID == 0 {
		return nil, fmt.Errorf("%w: a click without an ID, a person or a message", chat.ErrMalformed)
	}
	action, rest, _ := strings.Cut(c.Data, ":")
	value, thread, _ := strings.Cut(rest, ":")
	switch chat.Action(action) {
	case chat.ActionApprove, chat.ActionDeny, chat.ActionStop:
	default:
		return nil, nil
	}
	if !topicID.MatchString(thread) || chat.Action(action) == chat.ActionStop && value != thread {
		return nil, fmt.Errorf("%w: a click with the data %q", chat.ErrMalformed, c.Data)
	}
	at := id(c.Message.Chat.ID)
	d := &chat.Click{Action: chat.Action(action), Value: value}
	d.Direct, d.Bot = isDirect(at), c.From.IsBot
	d.Inbound = domain.Inbound{
		Scope: at, PlatformID: c.ID, Chat: at, Thread: thread, Sender: id(c.From.ID), SenderName: c.From.name(),
	}
	return d, nil
}

// answerClick returns the call that tells Telegram that a click was accepted: until then the
// button shows a clock.
func answerClick(d chat.Delivery) (method string, a args) {
	if click, is := d.(*chat.Click); is {
		return "answerCallbackQuery", args{"callback_query_id": click.PlatformID}
	}
	return "", nil
}
