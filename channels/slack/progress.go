package slack

import (
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	thinking = "is thinking…"        // what the agent does while nothing else is known
	awaiting = "waits for an answer" // and while a person is asked something
)

// doingLimit bounds in characters what a status says.
const doingLimit = 100

// progress gathers what happens to a message. Events may come at any pace; whoever
// shows them looks when it is their time.
type progress struct {
	changed chan struct{} // has an element while something is new

	mu   sync.Mutex
	text strings.Builder
	seen snapshot
}

// snapshot is how far a message is.
type snapshot struct {
	text   string    // the step's, so far
	resets int       // how often text was forgotten
	doing  string    // such as "runs exec: go test ./…"; empty: thinks or writes
	asked  bool      // it waits for a person's answer
	begun  time.Time // when its turn showed the first sign; zero: not yet
	joined bool      // the turn of another message answers it
	done   bool
}

// look returns how far the message is.
func (p *progress) look() snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	seen.text = p.text.String()
	return seen
}

// on takes an event. It never waits.
func (p *progress) on(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.take(e)
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

func (p *progress) take(e event.Event) {
	switch e.Kind {
	case event.Done:
		p.seen.done = true
		return
	case event.TurnJoined:
		p.seen.joined = true
		return
	case event.Text:
		p.text.WriteString(e.Text)
		p.seen.doing = ""
	case event.Reset:
		p.text = strings.Builder{}
		p.seen.resets++
		p.seen.doing = ""
	case event.ToolStart, event.ToolProgress:
		p.seen.doing = brief(strings.TrimSuffix("runs "+e.Tool+": "+e.Text, ": "))
	case event.Retry:
		p.seen.doing = brief(e.Text)
	case event.ToolDone:
		p.seen.doing = ""
	case event.Approval:
		p.seen.doing = awaiting
	}
	p.seen.asked = e.Kind == event.Approval
	if p.seen.begun.IsZero() {
		p.seen.begun = time.Now()
	}
}

// brief is a text on one line that is not too long.
func brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > doingLimit {
		return string(runes[:doingLimit-1]) + "…"
	}
	return text
}
