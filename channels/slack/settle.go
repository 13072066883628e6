package slack

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// settle makes sure that no edit of the draft is what the reply ends as. Where the
// reply is sent by this process it comes after every edit ([drafts]). Elsewhere an
// edit that was under way when the turn ended may have come later, and so may,
// anywhere, one that was never answered: then the message is looked at, and the
// reply is written once more if it shows the draft.
func (f *follower) settle(ctx context.Context, state domain.Reply) {
	d := f.draft
	lost := time.Since(d.lost) < lostFor
	if d.stream || !d.late && !lost {
		return
	}
	for _, wait := range f.c.pace.settle {
		if !f.await(ctx, wait, lost) {
			return
		}
		if err := f.restore(ctx, state); err != nil {
			f.note("restoring a reply", err)
		} else if !lost {
			return
		}
	}
}

// await waits until it is time to look at the reply. It reports false if there is
// no need any more. The end of Run cuts the wait short.
func (f *follower) await(ctx context.Context, wait time.Duration, lost bool) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	taken := f.draft.lock.taken
	if lost {
		taken = nil
	}
	select {
	case <-taken:
		return false
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

// restore writes the reply once more if its message shows the draft. To write it
// before it was sent does no harm: it is the same.
func (f *follower) restore(ctx context.Context, state domain.Reply) error {
	whole, stop := f.whole(ctx)
	defer stop()
	shows, err := f.c.showsDraft(whole, f.channel, f.msg.Thread, f.draft.ts)
	if err != nil || !shows || state.Text == "" {
		return err
	}
	parts := f.c.Split(state.Text)
	if len(parts) == 0 || parts[0].File != "" {
		return nil
	}
	id := f.draft.reply
	if len(parts) > 1 {
		id = domain.PartID(id, 1)
	}
	_, err = f.c.Send(whole, channels.OutboundMessage{
		ID: id, Channel: Name, Chat: f.msg.Chat, Thread: f.msg.Thread, Text: parts[0].Text,
		Draft: platformID(f.channel, f.draft.ts),
	})
	return err
}
