package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// keptLease is how long an attempt to deliver a kept message keeps others from making one:
// both could post it. After a crash it ends the attempt.
const keptLease = time.Minute

// errKeptClaimed reports that another delivery may be sending a kept message.
var errKeptClaimed = errors.New("an earlier reply of the chat is being delivered")

// deliverKept delivers the messages that are kept for a chat, oldest first, as replies to
// the message that out answers. It stops at one that stays kept and returns it. A message
// that answers nothing shows no one to have written, so nothing is tried.
func (o *Outbox) deliverKept(ctx context.Context, out domain.Outbound) (last domain.Outbound, err error) {
	if out.ReplyTo == "" {
		return last, nil
	}
	all, err := o.store.Kept(ctx, out.Channel, out.Chat)
	if err != nil {
		return last, err
	}
	for _, kept := range all {
		if time.Since(kept.ClaimedAt) < keptLease {
			return last, errKeptClaimed
		}
		last, err = o.store.ClaimKept(ctx, kept)
		switch {
		case errors.Is(err, store.ErrFenced):
			return last, errKeptClaimed
		case err != nil:
			return last, fmt.Errorf("claim a kept reply: %w", err)
		}
		last.ReplyTo = out.ReplyTo
		last, err = o.deliverClaimed(ctx, last)
		switch {
		case err != nil:
			ended := o.store.EndKept(context.WithoutCancel(ctx), last.ID, last.Fence, err.Error())
			return last, errors.Join(err, ended)
		case last.State == domain.OutboxKept:
			return last, nil
		}
	}
	return last, nil
}

// keep records that a claimed message cannot be delivered for now. A part waits with the
// message that it belongs to.
func (o *Outbox) keep(ctx context.Context, out domain.Outbound, reason string) (domain.Outbound, error) {
	mark := o.store.Keep
	if out.Part > 0 {
		mark = o.store.Release
	}
	if err := mark(ctx, out.ID, out.Fence, reason); err != nil {
		return out, fmt.Errorf("keep the reply: %w", err)
	}
	out.State, out.Error = domain.OutboxKept, reason
	activity.GetLogger(ctx).Warn("a message is kept until the chat's next message", "session", out.Session, "channel", out.Channel,
		"chat", out.Chat, "reason", reason)
	return out, nil
}

// release records that a claimed attempt did not post, and returns why.
func (o *Outbox) release(ctx context.Context, out domain.Outbound, err error) error {
	mark := o.store.Release
	if out.State == domain.OutboxKept {
		mark = o.store.Keep
	}
	return errors.Join(err, mark(ctx, out.ID, out.Fence, err.Error()))
}
