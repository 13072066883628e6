package platformtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Requests to the model, as people write them: "echo m1".
const (
	echo = "echo" // answers
	slow = "slow" // answers once it may
	hang = "hang" // does not answer
	long = "long" // answers with [longAnswer]
	poke = "poke" // calls a tool that needs an approval, then answers
	send = "send" // sends the file out.txt, then answers
)

var (
	request  = regexp.MustCompile(`\b(echo|slow|hang|long|poke|send) (m\d+)\b`)
	replying = regexp.MustCompile(`Reply to (m\d+)\.`)
)

// outFile is the file that the model sends.
const outFile = "out.txt"

func replyTo(id string) string { return "Reply to " + id + "." }

// model is a scripted model.
type model struct {
	mu      sync.Mutex
	called  chan string   // a request that is slow or hangs
	proceed chan struct{} // closed: slow ones are answered
	asked   []string      // the people's messages, as the model reads them
}

func newModel() *model {
	return &model{called: make(chan string, 100), proceed: make(chan struct{})}
}

// Complete implements [llm.Provider].
func (m *model) Complete(ctx context.Context, r llm.Request, on func(llm.Delta)) (llm.Response, error) {
	last := r.Messages[len(r.Messages)-1]
	verb, id, text := lastRequest(r.Messages)
	m.mu.Lock()
	m.asked = append(m.asked, text)
	m.mu.Unlock()
	say := func(text string) (llm.Response, error) {
		on(llm.Delta{Text: text})
		return llm.Response{Content: text, FinishReason: "stop"}, nil
	}
	if last.Role == domain.RoleTool {
		return say(replyTo(id))
	}
	switch verb {
	case slow, hang:
		const first = "Let me see. "
		on(llm.Delta{Text: first})
		m.called <- id
		proceed := m.proceed
		if verb == hang {
			proceed = nil
		}
		select {
		case <-proceed:
			on(llm.Delta{Text: replyTo(id)})
			return llm.Response{Content: first + replyTo(id), FinishReason: "stop"}, nil
		case <-ctx.Done():
			return llm.Response{}, fmt.Errorf("model: %w", context.Cause(ctx))
		}
	case long:
		return say(longAnswer() + replyTo(id))
	case poke:
		return calling(id, poke, map[string]any{}), nil
	case send:
		return calling(id, "message", map[string]any{"files": []string{outFile}}), nil
	}
	return say(replyTo(id))
}

// lastRequest returns what was last asked for.
func lastRequest(messages []domain.Message) (verb, id, text string) {
	for _, m := range messages {
		if m.Role != domain.RoleUser {
			continue
		}
		if found := request.FindAllStringSubmatch(m.Content, -1); found != nil {
			verb, id, text = found[len(found)-1][1], found[len(found)-1][2], m.Content
		}
	}
	return verb, id, text
}

func calling(id, name string, arguments any) llm.Response {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		panic(err)
	}
	return llm.Response{FinishReason: "tool_calls", ToolCalls: []domain.ToolCall{{ID: "call-" + id, Name: name, Arguments: string(encoded)}}}
}

// read returns the person's message that the model was given last.
func (m *model) read() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.asked) == 0 {
		return ""
	}
	return m.asked[len(m.asked)-1]
}

// marks match the marks of [longAnswer].
var marks = regexp.MustCompile(`\b[pct]\d{4}\b`)

// longAnswer returns 30,000 characters of prose, code and a table. Each line has a mark.
func longAnswer() string {
	var b strings.Builder
	for section := range 5 {
		fmt.Fprintf(&b, "## Section %d\n\n", section)
		for line := range 25 {
			fmt.Fprintf(&b, "p%02d%02d This is a sentence of *some* length, which says **nothing** of interest, and is followed by others like it.\n\n", section, line)
		}
		b.WriteString("```go\n")
		for line := range 40 {
			fmt.Fprintf(&b, "fmt.Println(%d) // c%02d%02d if a < b && b > c\n", line, section, line)
		}
		b.WriteString("```\n\n| number | name |\n|---|---|\n")
		for line := range 20 {
			fmt.Fprintf(&b, "| t%02d%02d | name of it |\n", section, line)
		}
		b.WriteString("\n")
	}
	for line := 0; b.Len() < 30_000; line++ {
		fmt.Fprintf(&b, "p99%02d And in the end there is some more of the prose, so that it is as long as it has to be, and no longer.\n\n", line)
	}
	return b.String()
}
