package discord

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// typingLasts is how often typing is shown again: Discord drops it after ten seconds.
const typingLasts = 8 * time.Second

// The reactions that a message in a server gets: seen, answered, failed.
const (
	seenEmoji     = "👀"
	answeredEmoji = "✅"
	failedEmoji   = "❌"
)

// Indicates implements [chat.Indicator]: we are typing and, in a server, react to what we
// answer if we may.
func (p *platform) Indicates(_ context.Context, at chat.Place) (chat.Indicates, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return chat.Indicates{
		Text: true, Lapse: typingLasts, State: p.o.Reactions && !IsDirect(at.Chat) && !p.unmarked[targetOf(at)],
	}, nil
}

// Indicate implements [chat.Indicator].
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	if what.Text != "" {
		return p.call(ctx, request{method: http.MethodPost, route: "/channels/%s/typing", ids: []string{targetOf(at)}}, nil)
	}
	if _, isMessage := parseID(at.ReplyTo); !isMessage || !p.o.Reactions || IsDirect(at.Chat) {
		return nil
	}
	switch what.State {
	case chat.StateWorking:
		return p.react(ctx, at, http.MethodPut, seenEmoji)
	case chat.StateAnswered:
		return errors.Join(p.react(ctx, at, http.MethodPut, answeredEmoji), p.react(ctx, at, http.MethodDelete, seenEmoji))
	case chat.StateFailed:
		return errors.Join(p.react(ctx, at, http.MethodPut, failedEmoji), p.react(ctx, at, http.MethodDelete, seenEmoji))
	case chat.StateWaiting: // the question is visible
	}
	return nil
}

// react adds or removes our reaction to the message that is answered.
func (p *platform) react(ctx context.Context, at chat.Place, method, emoji string) error {
	err := p.call(ctx, request{method: method, route: messageRoute + "/reactions/%s/@me", ids: []string{targetOf(at), at.ReplyTo, emoji}}, nil)
	if code(err) == noRight {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unmarked[targetOf(at)] = true
	}
	return err
}
