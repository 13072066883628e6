package chat

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
)

// OutboundOptions are the settings of an [Outbound].
type OutboundOptions struct {
	Drafts bool // turns are shown as drafts while they run
	Logger *slog.Logger
}

// Outbound writes to a platform: it implements [channels.Sender], [channels.Finder],
// [channels.Splitter], [channels.Presenter] and [channels.Questioner]. Safe for
// concurrent use.
type Outbound struct {
	p       Writer
	o       OutboundOptions
	log     *slog.Logger
	limits  Limits
	pace    Pace
	editor  Editor // nil if the platform does not implement it, as with the others
	stream  Streamer
	signs   Indicator
	history History
	// placeholders: a post whose answer is lost can be neither found nor repeated.
	placeholders bool

	noStreams atomic.Bool // the account cannot stream

	mu         sync.Mutex
	turns      map[string]*turn         // by ID
	concluding map[string]chan struct{} // by conversation: closed when its last turn's indications are done
}

// NewOutbound returns the writer of a platform.
func NewOutbound(p Writer, o OutboundOptions) *Outbound {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	out := &Outbound{
		p: p, o: o, log: o.Logger, limits: p.Limits(), turns: map[string]*turn{}, concluding: map[string]chan struct{}{},
	}
	out.pace = out.limits.Pace.or(defaultPace)
	out.editor, _ = p.(Editor)
	out.stream, _ = p.(Streamer)
	out.signs, _ = p.(Indicator)
	out.history, _ = p.(History)
	out.placeholders = out.editor != nil && out.history == nil && out.KeyLasts() == 0
	return out
}

// withDraft returns the turn of this process that has the draft; nil if none.
func (o *Outbound) withDraft(chat, id string) *turn {
	for _, t := range o.turns {
		if t.draftID == id && t.inbound[0].Chat == chat {
			return t
		}
	}
	return nil
}

// isDraft returns whether a message of a chat is a draft of a turn in this process.
func (o *Outbound) isDraft(chat string) func(id string) bool {
	return func(id string) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.withDraft(chat, id) != nil
	}
}

// shown counts the visible drafts: platforms limit the edits of all together.
func (o *Outbound) shown() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := 0
	for _, t := range o.turns {
		if t.draftID != "" && t.users > 0 {
			count++
		}
	}
	return max(count, 1)
}

// optional returns a context for a call that only shows progress: the call has its own time
// limit, and is skipped while the platform asks to wait.
func (o *Outbound) optional(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(Skippable(context.WithoutCancel(ctx)), o.pace.Call)
}

// await waits until a channel is closed; nil counts as closed. It reports false if ctx ended
// first.
func await(ctx context.Context, closed <-chan struct{}) bool {
	if closed == nil {
		return true
	}
	select {
	case <-closed:
		return true
	case <-ctx.Done():
		return false
	}
}
