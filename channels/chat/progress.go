package chat

import (
	"strings"
	"sync"

	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	textThinking = "is thinking…"        // nothing else is known
	textAwaiting = "waits for an answer" // a person is asked something
)

const (
	// noteLimit bounds in runes what a note or a status says.
	noteLimit = 100
	// failureLimit bounds one that says why a model call failed and what to do.
	failureLimit = 300
)

// progress collects the events of a turn, at whatever rate they come, for a presenter
// that looks at its own pace.
type progress struct {
	changed chan struct{} // has an element while something is new

	mu   sync.Mutex
	text strings.Builder
	seen snapshot
}

func newProgress() progress { return progress{changed: make(chan struct{}, 1)} }

// snapshot is how far a turn is.
type snapshot struct {
	text   string // the step's, so far
	resets int    // how often text was discarded
	doing  string // such as "runs exec: go test ./…"; empty: thinks or writes
	asked  bool   // it waits for a person's answer
	parked bool   // nothing else happens for a while: it waits for an answer or a retry
}

// look returns how far the turn is.
func (p *progress) look() snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := p.seen
	seen.text = p.text.String()
	return seen
}

// add takes an event. It never blocks.
func (p *progress) add(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case event.Text:
		p.text.WriteString(e.Text)
		p.seen.doing = ""
	case event.Reset:
		p.text = strings.Builder{}
		p.seen.resets++
		p.seen.doing = ""
	case event.ToolStart, event.ToolProgress:
		p.seen.doing = oneLine(strings.TrimSuffix("runs "+e.Tool+": "+e.Text, ": "), noteLimit)
	case event.Retry:
		p.seen.doing = oneLine(e.Text, failureLimit)
	case event.ToolDone:
		p.seen.doing = ""
	case event.Approval:
		p.seen.doing = textAwaiting
	case event.TurnJoined, event.Done, event.Disconnected:
		return
	}
	p.seen.asked = e.Kind == event.Approval
	p.seen.parked = p.seen.asked || e.Kind == event.Retry
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// oneLine returns a text on one line of at most limit characters.
func oneLine(text string, limit int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
