package cli

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// dialogue sends messages, prints the replies, asks the questions that come up in
// between, and prints background replies when they arrive. It needs no screen.
type dialogue struct {
	c          *Conversation
	progress   *Progress
	w          io.Writer            // questions
	typed      func() <-chan string // answers of a person; nil: no person is present
	asked      questions
	out        io.Writer                     // replies
	background <-chan domain.BackgroundReply // nil: not shown
	shown      map[string]bool               // turns whose reply was printed
	failed     bool                          // a model call of this wait failed
	once       bool                          // no other message follows
	away       chan bool                     // see [dialogue.listen]
	sent       atomic.Bool                   // the message of this wait was sent
}

// first reports whether a turn's reply has not been printed yet.
func (d *dialogue) first(turn string) bool {
	if d.shown == nil {
		d.shown = map[string]bool{}
	}
	first := !d.shown[turn]
	d.shown[turn] = true
	return first
}

// listen has [dialogue.onAway] called when the agent stops or starts answering.
func (d *dialogue) listen() {
	d.away = make(chan bool, 1)
	d.c.link.watch(func(away bool) {
		select {
		case <-d.away: // only the latest change matters
		default:
		}
		d.away <- away
	})
}

func (d *dialogue) onAway(away bool) {
	switch {
	case !away:
		d.progress.Show(thinking)
		d.say(backAgain)
	case d.sent.Load():
		d.progress.Show(awayWaiting)
		d.say(awayWaiting)
	default:
		d.progress.Show(awayUnsent)
		d.say(awayUnsent)
	}
}

// show prints a background reply.
func (d *dialogue) show(r domain.BackgroundReply) {
	if d.first(r.Turn) {
		asking := d.asking()
		if asking {
			fmt.Fprint(d.w, eraseLine)
		}
		d.progress.Hold()
		fmt.Fprintf(d.out, "%s\n%s\n", headline(r), cleanFor(d.out, r.Text))
		if asking {
			fmt.Fprint(d.w, prompt)
		} else {
			d.progress.Resume()
		}
	}
	d.c.saw(r)
}

// watch shows the background replies since the last terminal, and then new ones until
// ctx ends.
func (d *dialogue) watch(ctx context.Context) error {
	b, err := d.c.background()
	if err != nil {
		return err
	}
	for _, r := range b.poll(ctx) {
		d.show(r)
	}
	replies := make(chan domain.BackgroundReply)
	d.background = replies
	go b.watch(ctx, func(r domain.BackgroundReply) {
		select {
		case replies <- r:
		case <-ctx.Done():
		}
	})
	return nil
}

// ended is the end of a message.
type ended struct {
	state domain.Reply
	err   error
}

// ask sends a message and prints the reply. When interrupt is closed it stops the turn
// and returns [ErrInterrupted].
func (d *dialogue) ask(ctx context.Context, message string, interrupt <-chan struct{}) error {
	send := func(ctx context.Context) (string, error) {
		if d.once {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, sendTimeout)
			defer cancel()
		}
		return d.c.Send(ctx, message)
	}
	state, err := d.await(ctx, send, interrupt)
	if err != nil {
		return err
	}
	if !d.first(state.Turn) {
		return nil
	}
	if state.Status != domain.ReplyDone {
		return &TurnError{Reply: text.Line(state.Text)}
	}
	if _, err := fmt.Fprintln(d.out, cleanFor(d.out, state.Text)); err != nil {
		return fmt.Errorf("print the reply: %w", err)
	}
	return nil
}

// await waits for the end of the message whose ID send returns. Meanwhile it asks
// questions and shows background replies.
func (d *dialogue) await(ctx context.Context, send func(context.Context) (string, error), interrupt <-chan struct{}) (domain.Reply, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.failed = false
	d.progress.Show(thinking)
	defer d.progress.Stop()
	events, results := make(chan event.Event), make(chan ended, 1)
	go func() {
		id, err := send(ctx)
		if err != nil {
			results <- ended{err: err}
			return
		}
		d.sent.Store(true)
		state, err := d.c.Await(ctx, id, func(e event.Event) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
		results <- ended{state, err}
	}()
	var stopped <-chan struct{}
	for {
		select {
		case e := <-events:
			d.on(e)
		case line, open := <-d.answers():
			d.answer(ctx, line, open)
		case r := <-d.background:
			d.show(r)
		case away := <-d.away:
			d.onAway(away)
		case r := <-results:
			d.end()
			if stopped != nil {
				return domain.Reply{}, ErrInterrupted
			}
			return r.state, r.err
		case <-interrupt:
			interrupt = nil
			d.progress.Show("stopping")
			stopping, done := context.WithTimeout(ctx, stopTimeout)
			defer done()
			if err := d.c.Stop(stopping); err != nil {
				return domain.Reply{}, ErrInterrupted
			}
			stopped = stopping.Done()
		case <-stopped:
			return domain.Reply{}, ErrInterrupted
		}
	}
}

// asking reports whether a question is open that a person can answer here.
func (d *dialogue) asking() bool { return d.typed != nil && len(d.asked.open) > 0 }

// end withdraws the open questions.
func (d *dialogue) end() {
	d.sent.Store(false)
	if d.asking() {
		fmt.Fprint(d.w, eraseLine)
	}
	d.asked.clear()
	d.progress.Resume()
}

// answers returns the source of answers; nil unless a question is open.
func (d *dialogue) answers() <-chan string {
	if !d.asking() {
		return nil
	}
	return d.typed()
}

func (d *dialogue) on(e event.Event) {
	d.progress.On(e)
	switch e.Kind {
	case event.Retry:
		if !d.failed { // the attempts that follow only show in the progress
			d.failed = true
			d.say(e.Text)
		}
	case event.Approval:
		q, isNew := d.asked.add(e)
		switch {
		case isNew && d.typed == nil:
			d.tell(q)
		case isNew && len(d.asked.open) == 1:
			d.next()
		}
	case event.ToolStart:
		if len(d.asked.open) == 0 {
			return
		}
		current := d.asked.open[0]
		if q, was := d.asked.start(e); was && q == current && d.typed != nil {
			fmt.Fprintf(d.w, "%sno longer waiting for approval\n", eraseLine)
			d.next()
		}
	default: // no question
	}
}

// tell reports a question that cannot be answered here.
func (d *dialogue) tell(q question) {
	d.say(fmt.Sprintf("waiting for approval: %s\nanswer with `holdfast approvals approve %[2]s` or `holdfast approvals deny %[2]s`", q.call, q.id))
}

// say prints a note that is not part of a reply.
func (d *dialogue) say(text string) {
	d.progress.Hold()
	defer d.progress.Resume()
	fmt.Fprintln(d.w, clean(text))
}

// next asks the first open question.
func (d *dialogue) next() {
	if len(d.asked.open) == 0 {
		d.progress.Resume()
		return
	}
	d.progress.Hold()
	fmt.Fprintf(d.w, "%s\n%s", d.asked.open[0], prompt)
}

// answer takes a line as the answer to the current question. open is false at the end
// of the input.
func (d *dialogue) answer(ctx context.Context, line string, open bool) {
	if !open {
		d.typed = nil
		fmt.Fprintln(d.w)
		for _, q := range d.asked.open {
			d.tell(q)
		}
		return
	}
	approve, ok := decision(line)
	if !ok {
		fmt.Fprint(d.w, prompt)
		return
	}
	q := d.asked.open[0]
	d.asked.settle(q)
	reply, err := d.c.Decide(ctx, q.id, approve)
	if err != nil {
		reply = "answer not sent: " + err.Error()
		d.asked.reopen(q)
	}
	fmt.Fprintln(d.w, text.Line(clean(reply)))
	d.next()
}
