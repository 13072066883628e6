package telegram

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// typingLapse is how often "typing…" is shown again: Telegram removes it after five seconds.
const typingLapse = 4 * time.Second

// Indicates implements [chat.Indicator].
func (p *platform) Indicates(context.Context, chat.Place) (chat.Indicates, error) {
	return chat.Indicates{Text: true, Lapse: typingLapse}, nil
}

// Indicate implements [chat.Indicator]: the chat shows "typing…", whatever the agent does. It
// ends by itself.
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	if what.Text == "" {
		return nil
	}
	return p.limited(ctx, "sendChatAction", at.Chat, func(ctx context.Context) error {
		return p.call(ctx, "sendChatAction", with(p.to(chat.Place{Chat: at.Chat, Thread: at.Thread}, chat.Message{}), args{"action": "typing"}), nil)
	})
}

// Whisper implements [chat.Whisperer]. Telegram has no messages for one person of a group:
// there, everybody sees it as an answer to that person.
func (p *platform) Whisper(ctx context.Context, at chat.Place, _, text string) error {
	_, err := p.Post(ctx, at, chat.Message{Text: text})
	return err
}
