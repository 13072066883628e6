package slack

import (
	"context"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// The reactions that a message gets: seen, answered, failed.
const (
	seenEmoji     = "eyes"
	answeredEmoji = "white_check_mark"
	failedEmoji   = "x"
)

// sign is what tells that a message is seen to, besides its draft: a status under
// its thread, or a reaction to it, or nothing.
type sign struct {
	thread  string // whose status is set
	ts      string // of the message that is reacted to
	reacted bool
	shown   string // the status
	set     time.Time
}

// choose decides how the message is told that it is seen.
func (f *follower) choose(ctx context.Context) {
	if !f.msg.Push { // a click, which is answered where it was made
		return
	}
	self, err := f.c.Identify(ctx)
	if err != nil {
		f.c.log.Debug("no sign is given", "channel", Name, "message", f.id, "err", err)
		return
	}
	switch {
	case f.msg.Thread != "" && !f.c.noStatus.Load():
		f.sign.thread = f.msg.Thread
	default:
		f.chooseReaction(self)
	}
}

// chooseReaction has the message get a reaction if it can have one.
func (f *follower) chooseReaction(self Identity) {
	if timestamp.MatchString(f.msg.PlatformID) && (len(self.Scopes) == 0 || slices.Contains(self.Scopes, "reactions:write")) {
		f.sign.ts = f.msg.PlatformID
	}
}

// showSign shows what the agent does, and returns when to look again.
func (f *follower) showSign(ctx context.Context, seen snapshot) time.Duration {
	if wait := time.Until(f.began.Add(f.c.pace.notice)); wait > 0 {
		return wait
	}
	switch {
	case f.sign.ts != "" && !f.sign.reacted:
		f.sign.reacted = f.react(ctx, seenEmoji)
		if !f.sign.reacted {
			f.sign.ts = ""
		}
	case f.sign.thread != "" && !seen.joined:
		return f.showStatus(ctx, f.statusOf(seen))
	}
	return never
}

// statusOf is what the status is to say. Once there is a draft, that shows what is
// written and, unless it is a stream, what is done.
func (f *follower) statusOf(seen snapshot) string {
	switch {
	case seen.asked: // the question is there to be seen
		return ""
	case f.draft == nil && seen.doing == "":
		return thinking
	case f.draft != nil && !f.draft.stream:
		return ""
	}
	return seen.doing
}

func (f *follower) showStatus(ctx context.Context, status string) time.Duration {
	again := f.c.pace.status
	if status == f.sign.shown {
		if status == "" {
			return never
		}
		again = f.c.pace.lapse
	}
	if wait := time.Until(f.sign.set.Add(again)); wait > 0 {
		return wait
	}
	f.setStatus(ctx, status)
	if f.sign.thread == "" {
		return 0
	}
	return f.c.pace.lapse
}

func (f *follower) setStatus(ctx context.Context, status string) {
	f.sign.set = time.Now()
	err := f.try(ctx, "assistant.threads.setStatus", func(ctx context.Context) error {
		return f.c.api.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{
			ChannelID: f.channel, ThreadTS: f.sign.thread, Status: status,
		})
	})
	if err == nil {
		f.sign.shown = status
	}
	if unsupported[code(err)] {
		f.c.noStatus.Store(true)
		f.sign.thread = ""
		if self, err := f.c.Identify(ctx); err == nil {
			f.chooseReaction(self)
		}
	}
}

// posted notes that something was posted in the thread, which ends a status.
func (s *sign) posted() { s.shown = "" }

// endSign tells that the message is answered. A reply that is posted ends a status
// by itself, one that a draft becomes does not.
func (f *follower) endSign(ctx context.Context, state domain.Reply) {
	switch {
	case f.sign.reacted || f.again && f.sign.ts != "":
		emoji := answeredEmoji
		if state.Status == domain.ReplyFailed {
			emoji = failedEmoji
		}
		f.react(ctx, emoji)
		f.unreact(ctx, seenEmoji)
	case f.sign.shown != "" && (f.draft != nil || state.Text == ""), f.again && f.sign.thread != "":
		f.setStatus(ctx, "")
	}
}

// react reports whether the message has the reaction now.
func (f *follower) react(ctx context.Context, emoji string) bool {
	err := f.try(ctx, "reactions.add", func(ctx context.Context) error {
		return f.c.api.AddReactionContext(ctx, emoji, slack.NewRefToMessage(f.channel, f.sign.ts))
	})
	return err == nil || code(err) == "already_reacted"
}

func (f *follower) unreact(ctx context.Context, emoji string) {
	_ = f.try(ctx, "reactions.remove", func(ctx context.Context) error {
		return f.c.api.RemoveReactionContext(ctx, emoji, slack.NewRefToMessage(f.channel, f.sign.ts))
	})
}
