package cli

import (
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/event"
)

// question is whether a tool call may be run.
type question struct {
	id   string // of the approval
	call string // tool and arguments
}

// questions are those that wait for an answer, as far as events tell, in the order
// in which they came. Events repeat them: each is asked once.
type questions struct {
	open    []question
	settled map[string]bool // IDs of those that were answered here
}

// ask takes up the question of an event, and reports whether it is a new one.
func (q *questions) ask(e event.Event) (question, bool) {
	asked := question{id: e.ID, call: callLabel(e)}
	if q.settled[e.ID] || slices.ContainsFunc(q.open, func(o question) bool { return o.id == e.ID }) {
		return question{}, false
	}
	q.open = append(q.open, asked)
	return asked, true
}

// began takes off the question about a call that has begun: somebody else answered
// it, its time has run out, or the user wrote something else. It reports whether there was one.
func (q *questions) began(e event.Event) (question, bool) {
	i := slices.IndexFunc(q.open, func(o question) bool { return o.id == e.ID })
	if i < 0 {
		return question{}, false
	}
	answered := q.open[i]
	q.open = slices.Delete(q.open, i, i+1)
	return answered, true
}

// settle takes a question off for good: it was answered here.
func (q *questions) settle(answered question) {
	if q.settled == nil {
		q.settled = map[string]bool{}
	}
	q.settled[answered.id] = true
	q.open = slices.DeleteFunc(q.open, func(o question) bool { return o.id == answered.id })
}

// reopen takes up a question again whose answer got nowhere.
func (q *questions) reopen(failed question) {
	delete(q.settled, failed.id)
	q.open = slices.Insert(q.open, 0, failed)
}

// forget drops the questions of what has ended. One that waits all the same is
// told again.
func (q *questions) forget() { q.open = nil }

// decision is what a typed text says to a question; ok is false if it is no answer
// to one.
func decision(text string) (approve, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}
