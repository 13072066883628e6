package cli

import (
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/event"
)

// question asks whether a tool call may run.
type question struct {
	id   string // of the approval
	call string // tool and arguments
}

// prompt asks for the answer to a question.
const prompt = "Run it? [y/n] "

// String is the question as a person reads it, before the prompt.
func (q question) String() string {
	return "May I run this?\n  " + strings.ReplaceAll(clean(q.call), "\n", "\n  ")
}

// questions are the open ones in order of arrival. Events repeat a question; it is
// asked once.
type questions struct {
	open    []question
	settled map[string]bool // IDs of the approvals answered here
}

// add takes the question of an event, and reports whether it is new.
func (q *questions) add(e event.Event) (question, bool) {
	asked := question{id: e.ID, call: callLabel(e)}
	if q.settled[e.ID] || slices.ContainsFunc(q.open, func(o question) bool { return o.id == e.ID }) {
		return question{}, false
	}
	q.open = append(q.open, asked)
	return asked, true
}

// start removes the question about a call that has started: it was answered
// elsewhere, expired, or was withdrawn. It reports whether the question was open.
func (q *questions) start(e event.Event) (question, bool) {
	i := slices.IndexFunc(q.open, func(o question) bool { return o.id == e.ID })
	if i < 0 {
		return question{}, false
	}
	answered := q.open[i]
	q.open = slices.Delete(q.open, i, i+1)
	return answered, true
}

// settle removes a question that was answered here.
func (q *questions) settle(answered question) {
	if q.settled == nil {
		q.settled = map[string]bool{}
	}
	q.settled[answered.id] = true
	q.open = slices.DeleteFunc(q.open, func(o question) bool { return o.id == answered.id })
}

// reopen asks a question again whose answer could not be sent.
func (q *questions) reopen(failed question) {
	delete(q.settled, failed.id)
	q.open = slices.Insert(q.open, 0, failed)
}

// clear drops the questions of a message that has ended. Events repeat the ones that
// are still open.
func (q *questions) clear() { q.open = nil }

// decision parses the answer to a question; ok is false if the text is not an answer.
func decision(text string) (approve, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes":
		return true, true
	case "n", "no":
		return false, true
	}
	return false, false
}
