package slack

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// mostFollowed bounds the messages that are followed at once. More are answered
// all the same, with nothing to be seen before.
const mostFollowed = 64

// pace is how fast things are shown.
type pace struct {
	notice time.Duration   // from a message to its first sign: what is answered sooner needs none
	draft  time.Duration   // from the first sign of a turn to its draft: a quick reply is one post
	status time.Duration   // between two changes of a status
	stream time.Duration   // between two pieces of a stream
	edit   time.Duration   // between two edits of a draft
	call   time.Duration   // bounds a call that shows something
	retry  time.Duration   // until what failed is tried again
	lapse  time.Duration   // a status is set anew before Slack removes it
	settle []time.Duration // when to look at a reply that an edit may have followed
	sweep  time.Duration   // between two looks for drafts that are left
}

// usual is the pace outside of tests. Slack takes about one message a second in a
// chat, 50 edits a minute, and removes a status after two minutes.
func usual() pace {
	return pace{
		notice: 200 * time.Millisecond, draft: 1500 * time.Millisecond, status: 2 * time.Second,
		stream: time.Second, edit: 1500 * time.Millisecond, call: 5 * time.Second, retry: 2 * time.Second,
		lapse: 90 * time.Second, settle: []time.Duration{time.Second, 15 * time.Second}, sweep: time.Minute,
	}
}

// followers are the messages that are followed, until their Run ends.
type followers struct {
	mu    sync.Mutex
	ctx   context.Context // of the Run that is on; nil: none
	ids   map[string]bool
	group sync.WaitGroup
}

// open lets messages be followed until ctx ends.
func (f *followers) open(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx = ctx
}

// start runs f for a message, unless it is followed already or no more may be.
func (f *followers) start(id string, show func(context.Context)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx == nil || f.ctx.Err() != nil || f.ids[id] || len(f.ids) >= mostFollowed {
		return
	}
	if f.ids == nil {
		f.ids = map[string]bool{}
	}
	f.ids[id] = true
	ctx := f.ctx
	f.group.Go(func() {
		defer f.end(id)
		show(ctx)
	})
}

func (f *followers) end(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ids, id)
}

// Wait waits until no message is followed. The context of the last open has ended.
func (f *followers) Wait() {
	f.mu.Lock()
	f.ctx = nil
	f.mu.Unlock()
	f.group.Wait()
}

// follow shows how a message fares until it is answered or Run ends. It returns at
// once. Nothing that it does can fail the turn or hold up its reply.
func (c *Channel) follow(b channels.Backend, id string, msg domain.Inbound) {
	c.followers.start(id, newFollower(c, b, id, msg).run)
}

// followAgain is follow for a message of which another process may have shown
// something already.
func (c *Channel) followAgain(b channels.Backend, id string, msg domain.Inbound) {
	f := newFollower(c, b, id, msg)
	f.again = true
	c.followers.start(id, f.run)
}

// follower shows how one message fares. All calls to Slack are made by one
// goroutine, one after the other.
type follower struct {
	c       *Channel
	b       channels.Backend
	id      string // our ID of the message
	msg     domain.Inbound
	channel string // Slack's ID of the chat
	began   time.Time
	again   bool // another process may have shown something

	progress  progress
	sign      sign
	draft     *draft
	draftless bool      // it has no draft and gets none
	rest      time.Time // the draft is left alone until then
}

func newFollower(c *Channel, b channels.Backend, id string, msg domain.Inbound) *follower {
	return &follower{
		c: c, b: b, id: id, msg: msg, channel: channelOf(msg.Chat), began: time.Now(),
		progress: progress{changed: make(chan struct{}, 1)},
	}
}

func (f *follower) run(ctx context.Context) {
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { f.watch(watching) })
	defer watch.Wait()
	defer stop()
	f.choose(ctx)
	for {
		seen := f.progress.look()
		if seen.done {
			f.finish(ctx)
			return
		}
		if seen.asked {
			f.c.asked.first(lane(f.msg.Chat, f.msg.Thread), lookBack)
		}
		wait := min(f.showSign(ctx, seen), f.showDraft(ctx, seen))
		select {
		case <-f.progress.changed:
		case <-time.After(wait):
		case <-ctx.Done():
			f.leave(ctx)
			return
		}
	}
}

// leave ends the following of a message whose end was not seen. Another process
// will follow it; only what this one may have spoilt is its own to mend.
func (f *follower) leave(ctx context.Context) {
	defer f.close()
	if f.draft == nil || !f.draft.late {
		return
	}
	if state, err := f.state(ctx); err == nil && state.Status.Ended() {
		f.settle(ctx, state)
	}
}

// never is how long to wait where only news are of interest.
const never = time.Hour

// watch brings the news, also after the store was away.
func (f *follower) watch(ctx context.Context) {
	for {
		err := f.b.Watch(ctx, f.id, f.progress.on)
		if err == nil || ctx.Err() != nil {
			return
		}
		f.c.log.Debug("watching a message failed", "channel", Name, "message", f.id, "err", err)
		if !chat.Sleep(ctx, f.c.pace.retry) {
			return
		}
	}
}

// finish shows that the message is answered.
func (f *follower) finish(ctx context.Context) {
	defer f.close()
	state, err := f.state(ctx)
	if err != nil {
		f.c.log.Debug("looking up a message failed", "channel", Name, "message", f.id, "err", err)
		return
	}
	f.endSign(ctx, state)
	f.endDraft(ctx, state)
	f.endAnswer(ctx, state)
}

func (f *follower) close() {
	if f.draft != nil && f.draft.lock != nil {
		f.draft.lock.close()
	}
}

// try makes one call of the Web API that can be left out. It is never cut short by
// the end of Run: what it did would not be known.
func (f *follower) try(ctx context.Context, method string, call func(context.Context) error) error {
	ctx, stop := f.whole(ctx)
	defer stop()
	err := f.c.try(ctx, method, f.channel, call)
	if err != nil {
		f.c.log.Debug("showing progress failed", "channel", Name, "message", f.id, "method", method, "err", err)
	}
	return err
}

// whole is a context for what is not left half done.
func (f *follower) whole(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), f.c.pace.call)
}

func (f *follower) state(ctx context.Context) (domain.Reply, error) {
	ctx, stop := f.whole(ctx)
	defer stop()
	return f.b.Message(ctx, f.id)
}

// running reports whether the turn that this message began is surely still on.
func (f *follower) running(ctx context.Context) bool {
	state, err := f.state(ctx)
	return err == nil && state.Status == domain.ReplyRunning && state.Turn == f.id
}
