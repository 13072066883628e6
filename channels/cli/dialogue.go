package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// dialogue waits for messages, has a person asked what they wait for, and shows what
// comes unasked meanwhile.
type dialogue struct {
	c        *Conversation
	progress *Progress
	w        io.Writer            // where is asked
	typed    func() <-chan string // lines of a person who can answer; nil: nobody is there
	asked    questions
	out      io.Writer                    // replies
	unasked  <-chan channels.UnaskedReply // nil: they are not shown
	shown    map[string]bool              // turns whose reply was printed
}

// first reports whether a turn's reply was not printed yet, and that it is now.
func (d *dialogue) first(turn string) bool {
	if d.shown == nil {
		d.shown = map[string]bool{}
	}
	first := !d.shown[turn]
	d.shown[turn] = true
	return first
}

// show prints a reply that came unasked.
func (d *dialogue) show(r channels.UnaskedReply) {
	if d.first(r.Turn) {
		asking := d.typed != nil && len(d.asked.open) > 0
		if asking {
			fmt.Fprint(d.w, eraseLine)
		}
		d.progress.Hold()
		fmt.Fprintf(d.out, "%s\n%s\n", headline(r), forOutput(d.out, r.Reply))
		if asking {
			fmt.Fprint(d.w, runIt)
		} else {
			d.progress.Resume()
		}
	}
	d.c.saw(r)
}

// await is [Conversation.Await] with questions.
func (d *dialogue) await(ctx context.Context, id string) (channels.MessageState, error) {
	type result struct {
		state channels.MessageState
		err   error
	}
	events, ended := make(chan event.Event), make(chan result, 1)
	go func() {
		state, err := d.c.Await(ctx, id, func(e event.Event) {
			d.progress.On(e)
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
		ended <- result{state, err}
	}()
	for {
		select {
		case e := <-events:
			d.on(e)
		case line, open := <-d.answers():
			d.answer(ctx, line, open)
		case r := <-d.unasked:
			d.show(r)
		case r := <-ended:
			d.end()
			return r.state, r.err
		}
	}
}

// end takes back what is asked.
func (d *dialogue) end() {
	if d.typed != nil && len(d.asked.open) > 0 {
		fmt.Fprint(d.w, eraseLine)
	}
	d.asked.forget()
	d.progress.Resume()
}

// answers is where an answer comes from: nowhere, if nothing is asked.
func (d *dialogue) answers() <-chan string {
	if d.typed == nil || len(d.asked.open) == 0 {
		return nil
	}
	return d.typed()
}

func (d *dialogue) on(e event.Event) {
	switch e.Kind {
	case event.Approval:
		q, fresh := d.asked.ask(e)
		switch {
		case fresh && d.typed == nil:
			d.tell(q)
		case fresh && len(d.asked.open) == 1:
			d.next()
		}
	case event.ToolStart:
		if len(d.asked.open) == 0 {
			return
		}
		asking := d.asked.open[0]
		if q, was := d.asked.began(e); was && q == asking && d.typed != nil {
			fmt.Fprintf(d.w, "%sno longer asked\n", eraseLine)
			d.next()
		}
	default: // asks nothing
	}
}

// tell says what waits to one who cannot answer here.
func (d *dialogue) tell(q question) {
	d.progress.Hold()
	defer d.progress.Resume()
	fmt.Fprintf(d.w, "waits for approval: %s\nanswer with `holdfast approvals approve %[2]s` or `holdfast approvals deny %[2]s`\n", clean(q.call), q.id)
}

// next asks the first question that is open, if there is one.
func (d *dialogue) next() {
	if len(d.asked.open) == 0 {
		d.progress.Resume()
		return
	}
	d.progress.Hold()
	fmt.Fprintf(d.w, "%s\n%s", mayI(d.asked.open[0]), runIt)
}

// answer takes a line for the answer to the question that is asked. Open is false
// if there will be no more lines.
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
		fmt.Fprint(d.w, runIt)
		return
	}
	q := d.asked.open[0]
	d.asked.settle(q)
	reply, err := d.c.Decide(ctx, q.id, approve)
	if err != nil {
		reply = "not answered: " + err.Error()
		d.asked.reopen(q)
	}
	fmt.Fprintln(d.w, oneLine(clean(reply)))
	d.next()
}

// runIt asks for the answer to what [mayI] says.
const runIt = "Run it? y or n: "

// mayI is a question as a person reads it.
func mayI(q question) string {
	return "May I run this?\n  " + strings.ReplaceAll(clean(q.call), "\n", "\n  ")
}
