package chat

import (
	"cmp"
	"context"
	"errors"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// click performs a button's action. It is idempotent.
func (h *handler) click(ctx context.Context, c *Click) error {
	why, err := h.access(ctx, &c.Origin)
	if err != nil {
		return err
	}
	if why != "" && c.Home {
		h.showHome(&c.Origin, "") //nolint:contextcheck // the page, which says why, is shown in the background
		return nil
	}
	if why != "" {
		h.refuse(&c.Origin, why, true) //nolint:contextcheck // the sender is told in the background
		return nil
	}
	switch c.Action {
	case ActionStop:
		return h.command(ctx, "/stop", "stop-"+c.PlatformID, cmp.Or(c.Value, c.thread()), &c.Origin)
	case ActionApprove, ActionDeny:
		return h.answer(ctx, c)
	case ActionGood, ActionBad:
		return h.rate(ctx, c)
	}
	return nil
}

// rate stores what somebody thinks of a reply.
func (h *handler) rate(ctx context.Context, c *Click) error {
	if h.ratings == nil {
		return nil
	}
	err := h.ratings.Rate(ctx, domain.Rating{
		Turn: c.Value, Channel: h.platform.Name(), Chat: c.Chat, Sender: c.Sender, Good: c.Action == ActionGood, At: c.SentAt,
	})
	if errors.Is(err, domain.ErrNotFound) { // its session was removed
		h.log.Info("rating of an unknown reply ignored", "turn", c.Value, "chat", c.Chat, "user_id", c.Sender)
		return nil
	}
	return err
}

// answer accepts a click as the answer to a question. The question's message will say who
// answered, so the answer needs no visible reply.
func (h *handler) answer(ctx context.Context, c *Click) error {
	if !domain.IsApprovalID(c.Value) {
		h.log.Warn("click without a question ignored", "action", string(c.Action), "chat", c.Chat, "user_id", c.Sender)
		return nil
	}
	command := string(c.Action)
	msg := c.command("/"+command+" "+c.Value, command+"-"+c.PlatformID, c.thread())
	msg.Push = false
	if err := h.accept(ctx, msg); err != nil || !c.Home {
		return err
	}
	h.showHome(&c.Origin, domain.MessageID(h.platform.Name(), msg.Scope, msg.PlatformID)) //nolint:contextcheck // in the background
	return nil
}
