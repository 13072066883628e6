package chat

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// Homepage is a [Platform] on which the agent has a page for each person.
type Homepage interface {
	// ShowHome shows a person their page in place of what it showed before. The chat of at is
	// their direct chat.
	ShowHome(ctx context.Context, at Place, page Home) error
}

// Home is a person's page.
type Home struct {
	domain.Home
	Refused string // Markdown: how to be let in, and there is nothing else; empty: the person is
}

// Visit is a look of a person at their page. Its chat is their direct chat.
type Visit struct{ Origin }

// decidedWithin bounds how long a page waits for a decision that was made on it.
const decidedWithin = 10 * time.Second

// showHome shows a person their page, once the message with the ID after is answered. It
// does so in the background, since the platform may be slow; a person who sees nothing
// looks again.
func (h *handler) showHome(o *Origin, after string) {
	platform, ok := h.platform.(Homepage)
	if !ok || h.homes == nil {
		return
	}
	started := h.telling.TryGo(func() error {
		h.awaitAnswer(after)
		ctx, cancel := context.WithTimeout(h.background, tellTimeout)
		defer cancel()
		page, err := h.home(ctx, o)
		if err == nil {
			err = platform.ShowHome(ctx, Place{Chat: o.Chat, Person: o.Sender}, page)
		}
		if err != nil {
			h.log.Warn("page not shown", "user_id", o.Sender, "err", err)
		}
		return nil
	})
	if !started {
		h.log.Warn("page not shown: too many people look at theirs", "user_id", o.Sender)
	}
}

// awaitAnswer waits until a message is answered; empty: there is none.
func (h *handler) awaitAnswer(message string) {
	if message == "" {
		return
	}
	ctx, cancel := context.WithTimeout(h.background, decidedWithin)
	defer cancel()
	_ = h.backend.Watch(ctx, message, func(event.Event) {}) // in the worst case the page shows what was before
}

// home returns a person's page.
func (h *handler) home(ctx context.Context, o *Origin) (Home, error) {
	why, err := h.access(ctx, o)
	if err != nil {
		return Home{}, err
	}
	if why != "" {
		text, err := h.explanation(ctx, o, why)
		return Home{Refused: text}, err
	}
	home, err := h.homes.Home(ctx, h.platform.Name(), o.Sender)
	if err != nil {
		return Home{}, fmt.Errorf("look up what a page shows: %w", err)
	}
	return Home{Home: home}, nil
}
