package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// fact matches the content of these conversations.
var fact = regexp.MustCompile(`fact \d+`)

// remembering is a model that answers all messages, and when asked to
// consolidate, remembers each fact.
func remembering(t testing.TB, longest *int) *llmtest.Server {
	return llmtest.NewFunc(t, remembered(t, longest))
}

func remembered(t testing.TB, longest *int) func(llmtest.Request) llmtest.Step {
	return func(r llmtest.Request) llmtest.Step {
		if !strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory") {
			*longest = max(*longest, len(r.Messages)-1)
			if strings.HasPrefix(r.LastUser(), "recall") && len(r.Results()) == 0 {
				return llmtest.Calls(llmtest.Call{ID: "r", Name: "memory_search", Arguments: `{"query":"fact 3"}`})
			}
			return llmtest.Text("noted")
		}
		facts := fact.FindAllString(r.LastUser(), -1)
		known := map[string]bool{}
		var memory []string
		for _, f := range facts {
			if !known[f] {
				known[f], memory = true, append(memory, f)
			}
		}
		arguments, err := json.Marshal(map[string]string{
			"history_entry": fmt.Sprintf("[2026-03-04 12:00] They spoke of %s to %s.", facts[0], facts[len(facts)-1]),
			"memory_update": strings.Join(memory, "\n"),
		})
		require.NoError(t, err)
		return llmtest.Calls(llmtest.Call{ID: "save", Name: "save_memory", Arguments: string(arguments)})
	}
}

// answers counts the model calls of turns.
func answers(model *llmtest.Server) int {
	n := 0
	for _, r := range model.Requests() {
		if !strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory") {
			n++
		}
	}
	return n
}

func TestMemory(t *testing.T) {
	t.Parallel()

	t.Run("a long conversation is consolidated, and the prompt stays short", func(t *testing.T) {
		t.Parallel()
		const window, messages = 20, 60
		longest := 0
		model := remembering(t, &longest)
		n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) { c.Agent.MemoryWindow = window })
		for i := range messages {
			require.Equal(t, "noted", n.ask(t, "main", fmt.Sprintf("fact %d", i)).Text)
		}
		require.LessOrEqual(t, longest, window+1)
		require.Equal(t, "New conversation.", n.ask(t, "main", "/new").Text)
		memory := filepath.Join(n.cfg.Workspace, "memory")
		require.Eventually(t, func() bool {
			data, err := os.ReadFile(filepath.Join(memory, "MEMORY.md"))
			return err == nil && len(fact.FindAll(data, -1)) == messages
		}, patience, 20*time.Millisecond)
		history, err := os.ReadFile(filepath.Join(memory, "HISTORY.md"))
		require.NoError(t, err)
		entries := strings.Count(string(history), "[2026-03-04 12:00] They spoke of")
		require.GreaterOrEqual(t, entries, messages*2/window-1)
		require.Contains(t, string(history), "They spoke of fact 0 ")
		require.Equal(t, "noted", n.ask(t, "main", "hello again").Text)
		last := model.Requests()[model.Count()-1]
		require.Len(t, last.Messages, 2, "a fresh start shows nothing of what was before")
		require.Contains(t, last.Messages[0].Content.Text, "## Long-term Memory")
		require.Contains(t, last.Messages[0].Content.Text, fmt.Sprintf("fact %d", messages-1))
		n.ask(t, "main", "recall")
		found := model.Requests()[model.Count()-1].Results()[0]
		require.Contains(t, found, "From the history:\n- [2026-03-04 12:00] They spoke of fact 0 ")
		require.Regexp(t, `Said before:\n(- .*\n)*- .*, the user: fact 3`, found)
		versions, err := n.store.Versions(t.Context(), "memory/MEMORY.md")
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(versions), entries-1)
	})

	t.Run("a bad answer is requested again, and nothing is lost", func(t *testing.T) {
		t.Parallel()
		answers := []string{"I will remember that.", `{"history_entry": 1}`, "```json\n{\"history_entry\":\"They said tea.\",\"memory_update\":\"likes tea\"}\n```"}
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory") {
				answer := answers[0]
				answers = answers[1:]
				return llmtest.Text(answer)
			}
			return llmtest.Text("ok")
		})
		n := startNode(t, model.URL)
		n.ask(t, "main", "I like tea")
		n.ask(t, "main", "/new")
		path := filepath.Join(n.cfg.Workspace, "memory", "MEMORY.md")
		require.Eventually(t, func() bool {
			data, err := os.ReadFile(path)
			return err == nil && strings.TrimSpace(string(data)) == "likes tea"
		}, patience, 20*time.Millisecond)
		require.Empty(t, answers)
	})

	t.Run("an answer that would drop most of the memory is requested again", func(t *testing.T) {
		t.Parallel()
		kept := strings.TrimSpace(strings.Repeat("- a fact that is long known\n", 40))
		updates := []string{"- likes tea", kept + "\n- likes tea"}
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if !strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory") {
				return llmtest.Text("ok")
			}
			arguments, err := json.Marshal(map[string]string{"history_entry": "They spoke of tea.", "memory_update": updates[0]})
			require.NoError(t, err)
			updates = updates[1:]
			return llmtest.Calls(llmtest.Call{ID: "save", Name: "save_memory", Arguments: string(arguments)})
		})
		n := startNode(t, model.URL)
		path := filepath.Join(n.cfg.Workspace, "memory", "MEMORY.md")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(kept), 0o600))
		n.ask(t, "main", "I like tea")
		n.ask(t, "main", "/new")
		require.Eventually(t, func() bool {
			data, err := os.ReadFile(path)
			return err == nil && strings.HasSuffix(strings.TrimSpace(string(data)), "- likes tea")
		}, patience, 20*time.Millisecond)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, kept+"\n- likes tea", strings.TrimSpace(string(data)))
		require.Empty(t, updates)
	})
}

// TestConsolidationsAreOneAtATime has several conversations that share a memory
// be taken into it.
func TestConsolidationsAreOneAtATime(t *testing.T) {
	t.Parallel()
	const sessions = 3
	release := make(chan struct{})
	longest := 0
	remember := remembered(t, &longest)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		step := remember(r)
		if strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory") {
			return step.After(release)
		}
		return step
	})
	n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) { c.Agent.MemoryWindow = 4 })
	say := func(from, to int) {
		for i := range sessions {
			for j := from; j < to; j++ {
				require.Equal(t, "noted", n.ask(t, strconv.Itoa(i), fmt.Sprintf("fact %d", 10*i+j)).Text)
			}
		}
	}
	say(0, 2)
	require.NoError(t, model.Await(t.Context(), 2*sessions+1))
	say(2, 4)
	require.Equal(t, 2*2*sessions+1, model.Count(), "one is under way, and no other begins")
	close(release)
	history := filepath.Join(n.cfg.Workspace, "memory", "HISTORY.md")
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(history)
		return err == nil && strings.Count(string(data), "They spoke of") >= sessions
	}, patience, 20*time.Millisecond)
}

// TestLongConversation sends 250 messages to the real program with default settings and
// kills it in the middle of a consolidation.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	const window, messages = 100, 250
	longest := 0
	model := remembering(t, &longest)
	h := newHome(t, model.URL)
	p := h.start(t, dieAt("consolidate.written"))
	crashes := 0
	say := func(id, text string) string {
		for {
			if reply, answered := p.converse(t, id, text); answered {
				return reply
			}
			p.awaitExit(t)
			crashes++
			p = h.start(t)
		}
	}
	for i := range messages {
		require.Equal(t, "noted", say(fmt.Sprintf("m%d", i), fmt.Sprintf("fact %d", i)))
	}
	require.Equal(t, "New conversation.", say("new", "/new"))
	memory := h.workspace("memory/MEMORY.md")
	require.Eventually(t, func() bool {
		data, err := os.ReadFile(memory)
		return err == nil && len(fact.FindAll(data, -1)) == messages
	}, patience, 20*time.Millisecond, "not all was taken in")
	require.Equal(t, 1, crashes)
	require.LessOrEqual(t, longest, window+1, "the window, and the message itself")

	data, err := os.ReadFile(memory)
	require.NoError(t, err)
	var facts []string
	for i := range messages {
		facts = append(facts, fmt.Sprintf("fact %d", i))
	}
	require.Equal(t, strings.Join(facts, "\n"), strings.TrimSpace(string(data)))

	var entries []string
	require.Eventually(t, func() bool {
		history, err := os.ReadFile(h.workspace("memory/HISTORY.md"))
		require.NoError(t, err)
		entries = regexp.MustCompile(`(?m)^\[2026-03-04 12:00\] They spoke of .*$`).FindAllString(string(history), -1)
		return strings.HasSuffix(strings.Join(entries, ""), fmt.Sprintf("to fact %d.", messages-1))
	}, patience, 20*time.Millisecond, "the last entry is missing")
	require.GreaterOrEqual(t, len(entries), 4, "a half of the window each time, and what was left")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(entries))), len(entries), "each entry once")

	require.Equal(t, "noted", say("recall", "recall"))
	last := model.Requests()[model.Count()-1]
	require.Contains(t, last.Messages[0].Content.Text, "## Long-term Memory")
	require.Contains(t, last.Messages[0].Content.Text, fmt.Sprintf("fact %d", messages-1))
	require.NotContains(t, last.Messages[0].Content.Text, "They spoke of", "the history is searched, not shown")
	require.Contains(t, last.Results()[0], "From the history:\n- [2026-03-04 12:00] They spoke of fact 0 ")
	require.Regexp(t, `Said before:\n(- .*\n)*- .*, the user: fact 3`, last.Results()[0])
	require.Empty(t, model.Invalid())
	t.Logf("%d model calls, %d consolidations, at most %d messages in a prompt", model.Count(), len(entries), longest)
}

// converse sends a message and waits for its reply or the end of the process.
func (p *process) converse(t *testing.T, id, text string) (reply string, answered bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-p.exited:
			cancel()
		case <-stop:
		}
	}()
	if _, err := p.api().Send(ctx, "main", id, text); err != nil {
		return "", false
	}
	message, err := p.api().Follow(ctx, id, nil)
	return message.Text, err == nil
}
