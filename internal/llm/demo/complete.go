package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm/wire"
)

const (
	// contextMarker starts the context that the prompt adds to a user's message.
	contextMarker = "[Runtime Context]"
	// quoteLimit and resultLimit bound quotes, in characters.
	quoteLimit  = 200
	resultLimit = 1500
)

// complete returns the demo model's answer with estimated usage.
func complete(req wire.Request) wire.Completion {
	c := answer(req)
	for _, m := range req.Messages {
		c.Usage.PromptTokens += tokens(m.Content.Text)
	}
	c.Usage.CompletionTokens = tokens(c.Content)
	for _, call := range c.Calls {
		c.Usage.CompletionTokens += tokens(call.Function.Arguments)
	}
	c.Usage.TotalTokens = c.Usage.PromptTokens + c.Usage.CompletionTokens
	return c
}

func answer(req wire.Request) wire.Completion {
	results := trailing(req.Messages, "tool")
	if len(results) > 0 {
		return wire.Completion{Content: summary(results)}
	}
	var texts []string
	for _, message := range trailing(req.Messages, "user") {
		text, _, _ := strings.Cut(message.Content.Text, contextMarker)
		texts = append(texts, strings.TrimSpace(text))
	}
	text := strings.Join(texts, "\n")
	if offers(req, "save_memory") {
		return remember(len(req.Messages))
	}
	calls := callsIn(text, len(req.Messages))
	if len(calls) == 0 {
		return wire.Completion{Content: greeting(text)}
	}
	for _, call := range calls {
		if name := call.Function.Name; !offers(req, name) {
			return wire.Completion{Content: fmt.Sprintf("I am Holdfast's demo model. The tool `%s` is not available here.", name)}
		}
	}
	return wire.Completion{Calls: calls}
}

// remember answers a request to consolidate a conversation.
func remember(turn int) wire.Completion {
	arguments := `{"history_entry":"There was a conversation with the demo model.","memory_update":""}`
	return wire.Completion{Calls: []openai.ToolCall{{
		ID: fmt.Sprintf("call_%d", turn), Type: "function", Function: openai.FunctionCall{Name: "save_memory", Arguments: arguments},
	}}}
}

// trailing returns the last messages, as far as they have this role.
func trailing(messages []wire.Message, role string) []wire.Message {
	i := len(messages)
	for i > 0 && messages[i-1].Role == role {
		i--
	}
	return messages[i:]
}

// callsIn returns the tool calls that the lines of text ask for.
func callsIn(text string, turn int) []openai.ToolCall {
	var calls []openai.ToolCall
	for line := range strings.Lines(text) {
		name, arguments := callOf(strings.TrimSpace(line))
		if name == "" {
			continue
		}
		raw, _ := json.Marshal(arguments) // strings always marshal
		calls = append(calls, openai.ToolCall{
			ID:       fmt.Sprintf("call_%d_%d", turn, len(calls)+1),
			Type:     "function",
			Function: openai.FunctionCall{Name: name, Arguments: string(raw)},
		})
	}
	return calls
}

func callOf(line string) (name string, arguments map[string]string) {
	verb, rest, found := strings.Cut(line, ":")
	rest = strings.TrimSpace(rest)
	if !found || rest == "" {
		return "", nil
	}
	switch strings.ToLower(verb) {
	case "run":
		return "exec", map[string]string{"command": rest}
	case "read":
		return "read_file", map[string]string{"path": rest}
	case "list":
		return "list_dir", map[string]string{"path": rest}
	case "write":
		path, content, _ := strings.Cut(rest, ":")
		return "write_file", map[string]string{"path": strings.TrimSpace(path), "content": strings.TrimSpace(content) + "\n"}
	}
	return "", nil
}

func offers(req wire.Request, name string) bool {
	return slices.ContainsFunc(req.Tools, func(t wire.Tool) bool { return t.Function.Name == name })
}

func greeting(text string) string {
	var b strings.Builder
	b.WriteString("I am **Holdfast's demo model**, not a real LLM.\n\n")
	if text != "" {
		fmt.Fprintf(&b, "You said:\n\n> %s\n\n", strings.Join(strings.Fields(cut(text, quoteLimit)), " "))
	}
	b.WriteString("I can show you the tools at work. Start a line with one of these:\n\n" +
		"- `run: COMMAND` runs a command\n" +
		"- `list: DIR` lists a folder\n" +
		"- `read: FILE` reads a file\n" +
		"- `write: FILE: TEXT` writes a file\n\n" +
		"For real answers, set a provider's API key, for example `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` or `OPENROUTER_API_KEY`, " +
		"or run `holdfast init` and name a model in `config.yaml`, then start Holdfast again.")
	return b.String()
}

func summary(results []wire.Message) string {
	var b strings.Builder
	b.WriteString("Done. I am Holdfast's demo model and only repeat the tool results.")
	for _, m := range results {
		text := strings.TrimRight(cut(m.Content.Text, resultLimit), "\n")
		fence := fenceFor(text)
		title := "result"
		if m.Name != "" {
			title = "`" + m.Name + "`"
		}
		fmt.Fprintf(&b, "\n\n%s:\n\n%s\n%s\n%s", title, fence, text, fence)
	}
	return b.String()
}

// fenceFor returns a code fence that text does not contain.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// cut shortens text to limit characters.
func cut(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + " …"
}

// tokens estimates how many tokens text has.
func tokens(text string) int { return (len(text) + 3) / 4 }
