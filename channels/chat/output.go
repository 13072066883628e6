package chat

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// output is what an [Outbound] and the turns that it presents write with.
type output struct {
	p        Writer
	drafting bool // turns are shown as drafts while they run
	log      *slog.Logger
	limits   Limits
	pace     Pace
	editor   Editor // nil if the platform does not implement it, as with the others
	stream   Streamer
	signs    Indicator
	titles   Titler
	history  History
	keyed    Keyed
	uploads  Uploader
	// placeholders: a post whose answer is lost can be neither found nor repeated.
	placeholders bool

	noStreams atomic.Bool // the account cannot stream
	spacing   spacing

	mu        sync.Mutex
	presented map[string]*presented // by turn
}

// presented is the part of a turn that other turns see. The mutex of output guards it.
type presented struct {
	inbound []domain.Inbound // that the turn answers
	users   int              // activities that present it
	used    time.Time
	halted  bool // no longer presented
	stop    context.CancelFunc
	done    chan struct{} // closed while nothing is being shown
	draftID string        // the platform's ID of its draft; empty: unknown or none
}

func newOutput(p Writer, drafts bool, log *slog.Logger) *output {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	o := &output{p: p, drafting: drafts, log: log, limits: p.Limits(), presented: map[string]*presented{}}
	o.pace = o.limits.Pace.or(defaultPace)
	o.editor, _ = p.(Editor)
	o.stream, _ = p.(Streamer)
	o.signs, _ = p.(Indicator)
	o.titles, _ = p.(Titler)
	o.history, _ = p.(History)
	o.keyed, _ = p.(Keyed)
	o.uploads, _ = p.(Uploader)
	o.placeholders = o.editor != nil && o.history == nil && o.KeyLasts() == 0
	return o
}

// KeyLasts implements [channels.Keyed].
func (o *output) KeyLasts() time.Duration {
	if o.keyed == nil {
		return 0
	}
	return o.keyed.KeyLasts()
}

// hasDraft reports whether a message is the draft of the turn.
func (p *presented) hasDraft(chat, id string) bool {
	return p.draftID == id && p.inbound[0].Chat == chat
}

// isDraft returns whether a message of a chat is a draft of a turn in this process.
func (o *output) isDraft(chat string) func(id string) bool {
	return func(id string) bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		for _, p := range o.presented {
			if p.hasDraft(chat, id) {
				return true
			}
		}
		return false
	}
}

// shown counts the visible drafts: platforms limit the edits of all together.
func (o *output) shown() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	count := 0
	for _, p := range o.presented {
		if p.draftID != "" && p.users > 0 {
			count++
		}
	}
	return max(count, 1)
}

// optional returns a context for a call that only shows progress: the call has its own time
// limit, and is skipped while the platform asks to wait.
func (o *output) optional(ctx context.Context) (context.Context, context.CancelFunc) {
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
