package slack

import (
	"context"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// placing is for how long we try to say where a claimed draft is. Not much later its
// reply stops waiting for that and takes the draft over if it finds one itself.
const placing = 8 * time.Second

// draft is the message that shows a turn at work and becomes its reply. It is a
// stream, which grows, or a post, which is edited; a stream can become a post.
type draft struct {
	reply    string // the outbox ID of the reply
	ts       string // empty: it may have been posted, nobody knows where
	claimed  time.Time
	recorded bool // where it is
	stream   bool
	frozen   bool // it is not changed any more
	lock     *draftLock

	resets int       // those that the stream's text was before
	sent   string    // what the stream has
	shown  content   // by the last edit
	at     time.Time // of the last change

	// An edit may have come after the reply that took the draft over: it ended when
	// the turn may have ended, or nobody knows whether and when it took effect.
	late bool
	lost time.Time
}

// lostFor is for how long an edit without an answer may still take effect.
const lostFor = time.Minute

// showDraft brings the draft up to date, and returns when to look again.
func (f *follower) showDraft(ctx context.Context, seen snapshot) time.Duration {
	d := f.draft
	if wait := time.Until(f.rest); wait > 0 {
		return wait
	}
	switch {
	case f.draftless || seen.joined || !f.c.o.Stream:
		return never
	case d == nil && (seen.begun.IsZero() || seen.asked):
		return never
	case d == nil:
		if wait := time.Until(seen.begun.Add(f.c.pace.draft)); wait > 0 {
			return wait
		}
		return f.makeDraft(ctx, seen)
	case d.frozen, !d.recorded && time.Since(d.claimed) > placing:
		return never
	case d.ts == "":
		return f.lookForDraft(ctx)
	case !d.recorded:
		return f.recordDraft(ctx)
	case d.stream:
		return f.growStream(ctx, seen)
	}
	return f.editDraft(ctx, seen)
}

// makeDraft posts a draft. From the claim on the reply waits for it, so that
// nothing else comes in between.
func (f *follower) makeDraft(ctx context.Context, seen snapshot) time.Duration {
	if f.c.limits.busy("chat.postMessage", f.channel) || !f.running(ctx) {
		return f.later(f.c.pace.retry)
	}
	whole, stop := f.whole(ctx)
	defer stop()
	reply, err := f.b.ClaimDraft(whole, f.id)
	if err != nil || reply == "" {
		f.draftless = true
		f.note("claiming a draft", err)
		return never
	}
	f.draft = &draft{reply: reply, claimed: time.Now()}
	switch err := f.post(ctx, seen); {
	case err == nil:
		return f.posted(ctx)
	case refused(err):
		f.dropDraft(ctx)
		return never
	}
	return f.lookForDraft(ctx)
}

// post posts the draft: as a stream where that can be.
func (f *follower) post(ctx context.Context, seen snapshot) error {
	d := f.draft
	if f.canStream(seen) {
		err := f.startStream(ctx)
		if err == nil || !refused(err) {
			d.stream = true
			return err
		}
	}
	shown := contentOf(seen)
	err := f.try(ctx, "chat.postMessage", func(ctx context.Context) (err error) {
		_, d.ts, err = f.c.api.PostMessageContext(ctx, f.channel, slack.MsgOptionTS(f.msg.Thread), f.written(shown))
		return err
	})
	d.shown, d.at = shown, time.Now()
	return err
}

// posted is called once it is known where the draft is.
func (f *follower) posted(ctx context.Context) time.Duration {
	f.sign.posted()
	f.draft.lock = f.c.drafts.lock(platformID(f.channel, f.draft.ts))
	return f.recordDraft(ctx)
}

// lookForDraft looks for a draft whose post was not answered. The reply, which may
// wait for it, looks for it itself in the end.
func (f *follower) lookForDraft(ctx context.Context) time.Duration {
	d := f.draft
	whole, stop := f.whole(ctx)
	defer stop()
	ts, err := f.c.findDraft(whole, span{channel: f.channel, thread: f.msg.Thread, oldest: f.since()}, d.reply, d.stream)
	f.note("looking for a draft", err)
	if ts == "" {
		return f.later(f.c.pace.retry)
	}
	d.ts = ts
	return f.posted(ctx)
}

// since is a ts before everything that belongs to the answer.
func (f *follower) since() string {
	if timestamp.MatchString(f.msg.PlatformID) {
		return f.msg.PlatformID
	}
	return tsAt(f.began.Add(-lostFor))
}

// recordDraft says where the draft is. If the reply went out without it, it is
// removed.
func (f *follower) recordDraft(ctx context.Context) time.Duration {
	whole, stop := f.whole(ctx)
	defer stop()
	wanted, err := f.b.PostedDraft(whole, f.id, platformID(f.channel, f.draft.ts))
	switch {
	case err != nil:
		f.note("recording a draft", err)
		return f.later(f.c.pace.retry)
	case !wanted:
		f.removeUnwanted(ctx)
		return never
	}
	f.draft.recorded = true
	return 0
}

// removeUnwanted removes the draft, unless the reply found it and is there now.
func (f *follower) removeUnwanted(ctx context.Context) {
	whole, stop := f.whole(ctx)
	defer stop()
	d := f.draft
	shows, err := f.c.showsDraft(whole, f.channel, f.msg.Thread, d.ts)
	f.note("looking at a draft", err)
	if shows || d.stream && err == nil {
		f.removeDraft(ctx)
	}
	f.draftless = true
}

// removeDraft deletes the draft. If that fails, housekeep does.
func (f *follower) removeDraft(ctx context.Context) {
	whole, stop := f.whole(ctx)
	defer stop()
	if err := f.c.remove(whole, f.channel, f.draft.ts); err != nil {
		f.note("removing a draft", err)
		f.draftless = true
		return
	}
	f.dropDraft(ctx)
}

// dropDraft forgets the draft, which is not there.
func (f *follower) dropDraft(ctx context.Context) {
	whole, stop := f.whole(ctx)
	defer stop()
	f.note("dropping a draft", f.b.DropDraft(whole, f.id))
	f.close()
	f.draft, f.draftless = nil, true
}

func (f *follower) note(what string, err error) {
	if err != nil {
		f.c.log.Debug("showing a draft failed", "channel", Name, "message", f.id, "what", what, "err", err)
	}
}

// later has the draft left alone for a while.
func (f *follower) later(wait time.Duration) time.Duration {
	f.rest = time.Now().Add(wait)
	return wait
}

// endDraft leaves the draft to the reply that takes it over, or removes it if none
// will.
func (f *follower) endDraft(ctx context.Context, state domain.Reply) {
	d := f.draft
	if d == nil || f.draftless || d.ts == "" {
		return
	}
	if !d.recorded && time.Since(d.claimed) < placing {
		f.recordDraft(ctx)
	}
	if f.draftless {
		return
	}
	whole, stop := f.whole(ctx)
	defer stop()
	stale, err := f.b.StaleDrafts(whole, Name)
	f.note("looking for stale drafts", err)
	for _, s := range stale {
		if s.Message == f.id {
			f.removeDraft(ctx)
			return
		}
	}
	f.settle(ctx, state)
}

// refused reports whether it is sure that a call was not done.
func refused(err error) bool {
	if answer := code(err); answer != "" {
		return !unavailable[answer] || answer == streaming
	}
	failed := remote.As(err)
	return failed != nil && failed.Status == http.StatusTooManyRequests
}

// streaming is Slack's error for an edit of a stream that was not stopped.
const streaming = "streaming_state_conflict"
