package activities_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const facts = "memory/MEMORY.md"

// consolidating is an agent with unconsolidated turns in the memory scope of the
// workspace, whose MEMORY.md has this text, and a model that consolidates them.
func consolidating(t *testing.T, text string, keeper func(llmtest.Request) llmtest.Step) *bundle {
	t.Helper()
	b := setupWith(t, llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if keeps(r) {
			return keeper(r)
		}
		return llmtest.Text("noted")
	}))
	b.options.Model.Window = 4
	b.remembering(t)
	for _, id := range []string{"c1", "c2", "c3"} { // two messages each
		b.accept(t, id, "hi", false)
		_, err := b.complete(t, id, 1, id)
		require.NoError(t, err)
	}
	if text != "" {
		b.put(t, facts, text)
	}
	return b
}

func keeps(r llmtest.Request) bool {
	return strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory")
}

func (b *bundle) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(b.workspace, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// consolidations returns the consolidation requests.
func (b *bundle) consolidations() []llmtest.Request {
	var all []llmtest.Request
	for _, r := range b.model.Requests() {
		if keeps(r) {
			all = append(all, r)
		}
	}
	return all
}

func (b *bundle) consolidate(t *testing.T, scope string) error {
	t.Helper()
	_, err := execute[protocol.ConsolidateResult](t, b.agent.Consolidate, protocol.ConsolidateInput{Scope: scope})
	return err
}

// saved is an answer that updates a memory.
func saved(t *testing.T, update string) llmtest.Step {
	t.Helper()
	arguments, err := json.Marshal(map[string]string{"history_entry": "They said hello.", "memory_update": update})
	require.NoError(t, err)
	return llmtest.Calls(llmtest.Call{ID: "save", Name: "save_memory", Arguments: string(arguments)})
}

// shownMemory returns the memory shown in a request.
func shownMemory(r llmtest.Request) string {
	_, text, _ := strings.Cut(r.LastUser(), "<memory>")
	text, _, _ = strings.Cut(text, "</memory>")
	return text
}

func TestEmptyMemoryIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(llmtest.Request) string{
		"what it was shown": shownMemory,
		"a placeholder":     func(llmtest.Request) string { return "(empty)" },
		"a blank":           func(llmtest.Request) string { return " \n" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := consolidating(t, "", func(r llmtest.Request) llmtest.Step { return saved(t, answer(r)) })
			require.NoError(t, b.consolidate(t, "workspace"))
			require.NoFileExists(t, filepath.Join(b.workspace, facts))
			require.FileExists(t, filepath.Join(b.workspace, "memory/HISTORY.md"))
			require.Len(t, b.consolidations(), 1)
		})
	}
}

func TestInvalidAnswersCostFewCalls(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("I will remember that. ", 5_000)
	b := consolidating(t, "- likes tea\n", func(llmtest.Request) llmtest.Step { return llmtest.Text(long) })
	b.options.Memory.Consolidate = func(context.Context, string) error { panic("it is left alone now") }
	var made error
	b.agent, made = activities.NewAgent(b.options)
	require.NoError(t, made)
	err := failed(t, b.consolidate(t, "workspace"))
	require.True(t, err.NonRetryable(), "it was asked again already")
	require.Contains(t, err.Message(), "the model gave no valid answer")
	asked := b.consolidations()
	require.Len(t, asked, 3)
	for _, r := range asked {
		size := 0
		for _, m := range r.Messages {
			size += len(m.Content.Text)
		}
		require.Less(t, size, 20<<10, "its answers are not sent back whole")
	}
	require.NoError(t, b.consolidate(t, ""))
	content, readErr := os.ReadFile(filepath.Join(b.workspace, facts))
	require.NoError(t, readErr)
	require.Equal(t, "- likes tea\n", string(content))
}

func TestUnusableMemoryWaitsForPeople(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"not UTF-8": {"- M\xfcller likes tea\n", "save it as UTF-8"},
		"too long":  {strings.Repeat("- a fact\n", 8<<10), "shorten it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := consolidating(t, c.text, func(llmtest.Request) llmtest.Step { return saved(t, "- likes tea") })
			err := failed(t, b.consolidate(t, "workspace"))
			require.True(t, err.NonRetryable(), "no other attempt helps")
			require.Contains(t, err.Message(), facts)
			require.Contains(t, err.Message(), c.want)
			require.Empty(t, b.consolidations(), "nothing is sent")
			content, readErr := os.ReadFile(filepath.Join(b.workspace, facts))
			require.NoError(t, readErr)
			require.Equal(t, c.text, string(content))

			b.put(t, facts, "- likes coffee\n")
			require.NoError(t, b.consolidate(t, "workspace"))
			content, readErr = os.ReadFile(filepath.Join(b.workspace, facts))
			require.NoError(t, readErr)
			require.Equal(t, "- likes tea\n", string(content))
		})
	}
}

func TestUnusableHistoryWaitsForPeople(t *testing.T) {
	t.Parallel()
	b := consolidating(t, "", func(llmtest.Request) llmtest.Step { return saved(t, "- likes tea") })
	require.NoError(t, os.MkdirAll(filepath.Join(b.workspace, "memory/HISTORY.md"), 0o755))
	for range 2 {
		err := failed(t, b.consolidate(t, "workspace"))
		require.True(t, err.NonRetryable())
		require.Contains(t, err.Message(), "memory/HISTORY.md")
	}
	require.Len(t, b.consolidations(), 1, "what the model answered is stored")
	require.NoError(t, os.Remove(filepath.Join(b.workspace, "memory/HISTORY.md")))
	require.NoError(t, b.consolidate(t, "workspace"))
	require.Len(t, b.consolidations(), 1)
}

func TestMemoryDoesNotOutgrowPrompt(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("- a fact\n", memory.Limit/8)
	b := consolidating(t, "", func(r llmtest.Request) llmtest.Step {
		if len(r.Messages) == 2 {
			return saved(t, long)
		}
		return saved(t, "- likes tea")
	})
	require.NoError(t, b.consolidate(t, "workspace"))
	content, err := os.ReadFile(filepath.Join(b.workspace, facts))
	require.NoError(t, err)
	require.Equal(t, len("- likes tea\n"), len(content))
	require.Len(t, b.consolidations(), 2)
}
