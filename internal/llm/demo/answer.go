package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// contextMarker starts the context that the prompt adds to a user's message.
	contextMarker = "[Runtime Context]"
	// quoteLimit and resultLimit bound quotes, in characters.
	quoteLimit  = 200
	resultLimit = 1500
)

// answer returns the demo model's text or tool calls.
func answer(req llm.Request) (content string, calls []domain.ToolCall) {
	results := trailing(req.Messages, domain.RoleTool)
	if len(results) > 0 {
		return summary(results), nil
	}
	var texts []string
	for _, message := range trailing(req.Messages, domain.RoleUser) {
		said, _, _ := strings.Cut(message.Content, contextMarker)
		texts = append(texts, strings.TrimSpace(said))
	}
	said := strings.Join(texts, "\n")
	if offers(req, "save_memory") {
		return "", []domain.ToolCall{{
			ID: fmt.Sprintf("call_%d", len(req.Messages)), Name: "save_memory",
			Arguments: `{"history_entry":"There was a conversation with the demo model.","memory_update":""}`,
		}}
	}
	calls = callsIn(said, len(req.Messages))
	if len(calls) == 0 {
		return greeting(said), nil
	}
	for _, call := range calls {
		if !offers(req, call.Name) {
			return fmt.Sprintf("I am Holdfast's demo model. The tool `%s` is not available here.", call.Name), nil
		}
	}
	return "", calls
}

// trailing returns the last consecutive messages with this role.
func trailing(messages []domain.Message, role domain.Role) []domain.Message {
	i := len(messages)
	for i > 0 && messages[i-1].Role == role {
		i--
	}
	return messages[i:]
}

// callsIn returns the tool calls that the lines of text ask for.
func callsIn(text string, turn int) []domain.ToolCall {
	var calls []domain.ToolCall
	for line := range strings.Lines(text) {
		name, arguments := callOf(strings.TrimSpace(line))
		if name == "" {
			continue
		}
		raw, _ := json.Marshal(arguments) // strings always marshal
		calls = append(calls, domain.ToolCall{ID: fmt.Sprintf("call_%d_%d", turn, len(calls)+1), Name: name, Arguments: string(raw)})
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

func offers(req llm.Request, name string) bool {
	return slices.ContainsFunc(req.Tools, func(t llm.ToolSpec) bool { return t.Name == name })
}

func greeting(said string) string {
	var b strings.Builder
	b.WriteString("I am **Holdfast's demo model**, not a real LLM.\n\n")
	if said != "" {
		fmt.Fprintf(&b, "You said:\n\n> %s\n\n", text.Line(cut(said, quoteLimit)))
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

func summary(results []domain.Message) string {
	var b strings.Builder
	b.WriteString("Done. I am Holdfast's demo model and only repeat the tool results.")
	for _, m := range results {
		result := strings.TrimRight(cut(m.Content, resultLimit), "\n")
		fence := fenceFor(result)
		title := "result"
		if m.Name != "" {
			title = "`" + m.Name + "`"
		}
		fmt.Fprintf(&b, "\n\n%s:\n\n%s\n%s\n%s", title, fence, result, fence)
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

// cut shortens s to limit characters.
func cut(s string, limit int) string {
	if short := text.FirstRunes(s, limit); len(short) < len(s) {
		return short + " …"
	}
	return s
}
