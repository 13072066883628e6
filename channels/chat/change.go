package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// change takes an edit or a removal of a request that waits for its reply; others change
// nothing. If it is all that its conversation waits for, it is stopped without a word and, if
// it was edited, run anew. Otherwise the agent is told, since stopping would concern more.
func (h *handler) change(ctx context.Context, c *Change) error {
	here, err := h.unanswered(ctx, c.Chat)
	if err != nil {
		return err
	}
	var waiting []domain.Inbound // in the conversation
	var request *domain.Inbound
	for i, w := range here {
		if w.Thread != c.thread() {
			continue
		}
		waiting = append(waiting, w)
		if w.PlatformID == c.PlatformID && w.Sender == c.Sender {
			request = &here[i]
		}
	}
	stop := c.command("/stop", "change-"+c.PlatformID+"-"+c.Version, c.thread())
	stop.Push = false
	stopped, err := h.wasAccepted(ctx, stop) // by an earlier delivery of this change
	if err != nil || request == nil && !stopped {
		return err
	}
	why, err := h.access(ctx, &c.Origin)
	if err != nil || why != "" {
		return err
	}
	again := c.Inbound
	again.PlatformID, again.Thread, again.Push = c.PlatformID+"-"+c.Version, c.thread(), true
	if !stopped && len(waiting) > 1 {
		again.Text = correction(c, request.Text)
		return h.accept(ctx, again)
	}
	if err := h.accept(ctx, stop); err != nil || c.Deleted {
		return err
	}
	return h.accept(ctx, again)
}

// correction tells the agent of a change.
func correction(c *Change, was string) string {
	if c.Deleted {
		return fmt.Sprintf("I deleted my message %q: disregard it.", was)
	}
	return fmt.Sprintf("I changed my message %q to:\n%s", was, c.Text)
}

// wasAccepted reports whether a message was accepted before.
func (h *handler) wasAccepted(ctx context.Context, msg domain.Inbound) (bool, error) {
	_, err := h.backend.Message(ctx, domain.MessageID(h.platform.Name(), msg.Scope, msg.PlatformID))
	if errors.Is(err, domain.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up whether a change was accepted: %w", err)
	}
	return true, nil
}
