package activities

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	// firstAttempt bounds the first attempt to deliver a reply, which the activity makes
	// that stored the reply.
	firstAttempt = 10 * time.Second
	// claimPoll is how often [Agent.awaitClaim] reads the claim.
	claimPoll = 100 * time.Millisecond
)

// deliverNow makes the first attempt to deliver a message in the outbox, if this
// process serves its channel. It returns what is left for the Deliver activity: empty
// if the message was delivered or never can be.
func (a *Agent) deliverNow(ctx context.Context, channel, id string) (left string) {
	outbox := a.Channels.Outboxes[channel]
	if id == "" || outbox == nil {
		return id
	}
	ctx, cancel := context.WithTimeout(ctx, firstAttempt)
	defer cancel()
	if _, err := outbox.deliver(ctx, id); err != nil {
		a.Logger.Info("first attempt to deliver failed", "channel", channel, "outbox", id, "err", err)
		return id
	}
	return ""
}

// concludeTurn is deliverNow for the reply of a turn that has ended, unless it is behind
// others; without a reply it ends the turn in its chat.
func (a *Agent) concludeTurn(ctx context.Context, session domain.SessionRef, turn, outbox string, behind bool) (left string) {
	switch {
	case outbox == "":
		a.Channels.Outboxes[session.Channel].conclude(ctx, turn)
		return ""
	case behind:
		return outbox
	default:
		return a.deliverNow(ctx, session.Channel, outbox)
	}
}

// awaitClaim waits while another activity may be making the first attempt to deliver a
// message: a second one at the same time could post it twice.
func (a *Agent) awaitClaim(ctx context.Context, id string) {
	if id == "" {
		return
	}
	poll := time.NewTicker(claimPoll)
	defer poll.Stop()
	for {
		out, err := a.Store.Outbox(ctx, id)
		if err != nil || out.State != domain.OutboxPending || time.Since(out.ClaimedAt) > firstAttempt {
			return
		}
		select {
		case <-poll.C:
		case <-ctx.Done():
			return
		}
	}
}
