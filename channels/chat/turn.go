package chat

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// turn is a turn that this process shows. One goroutine at a time makes the calls.
type turn struct {
	*presented
	o        *output
	id       string
	reply    string // the outbox ID of its reply
	drafts   channels.Drafts
	began    time.Time
	resumed  bool // another process may have shown something
	progress progress

	// Of the goroutine.
	titled    bool
	signs     signs
	draft     *draft
	draftless bool      // it gets no draft
	pauseTill time.Time // the draft is not touched before
}

// signs are the indications of a turn.
type signs struct {
	how     Indicates
	asked   bool            // how is known
	noticed map[string]bool // messages that show StateWorking, by the platform's ID; false: it could not be shown
	status  string          // the text that is shown
	at      time.Time       // when it was
}

// draft is the message that shows a turn at work and becomes its reply. It is a
// stream, which grows, or a post, which is edited; a stream can become a post.
type draft struct {
	id       string // empty: it may have been posted, and where is unknown
	claimed  time.Time
	recorded bool // where it is
	stream   bool
	frozen   bool // it cannot be changed any more

	resets int       // those before the stream's text
	sent   string    // what the stream has
	shown  content   // by the last edit
	at     time.Time // of the last change
	lost   time.Time // of the last edit that was not answered
}

// unsettled reports whether an edit without an answer may still take effect.
func (d *draft) unsettled() bool { return d != nil && time.Since(d.lost) < inFlight }

// content is the content of an edit.
type content struct{ text, doing string }

func newTurn(o *output, p channels.PresentedTurn) *turn {
	t := &turn{
		presented: &presented{stop: func() {}},
		o:         o, id: p.ID, reply: p.Reply, drafts: p.Drafts, began: time.Now(), resumed: p.Resumed, progress: newProgress(),
		signs: signs{noticed: map[string]bool{}},
	}
	if p.Text != "" {
		t.progress.add(event.Event{Kind: event.Text, Text: p.Text})
	}
	return t
}

func (t *turn) update(p channels.PresentedTurn) {
	t.used = time.Now()
	if len(p.Messages) > 0 {
		t.inbound = p.Messages
	}
}

// halt stops presenting the turn.
func (t *turn) halt() {
	t.halted = true
	t.stop()
}

// ending reports whether the activity has ended: the last update is then made immediately.
func (t *turn) ending(ctx context.Context) bool { return ctx.Err() != nil }

func (t *turn) isHalted() bool {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	return t.halted
}

func (t *turn) messages() []domain.Inbound {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	return t.inbound
}

func (t *turn) first() domain.Inbound { return t.messages()[0] }

// place is where the turn is shown.
func (t *turn) place() Place { return placeAt(t.first()) }

func placeAt(m domain.Inbound) Place {
	return Place{Chat: m.Chat, Thread: m.Thread, ReplyTo: m.PlatformID, Person: m.Sender}
}

// conversation names where the turn takes place. The mutex of o is held.
func (t *turn) conversation() string { return t.inbound[0].Chat + "/" + t.inbound[0].Thread }

// note logs that something could not be shown.
func (t *turn) note(what string, err error) {
	if err != nil {
		t.o.log.Debug("showing progress failed", "turn", t.id, "what", what, "err", err)
	}
}

// later postpones the next change of the draft.
func (t *turn) later(wait time.Duration) time.Duration {
	t.pauseTill = time.Now().Add(wait)
	return wait
}

// refused reports whether a call was certainly not carried out.
func refused(err error) bool {
	failed := remote.As(err)
	return errors.Is(err, errors.ErrUnsupported) || failed != nil && failed.Status >= 400 && failed.Status < 500
}

// draftLimit is how many runes of a reply a draft shows.
func (t *turn) draftLimit() int {
	if t.o.limits.Draft > 0 {
		return t.o.limits.Draft
	}
	return 3000
}
