package command

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

func TestPrompts(t *testing.T) {
	t.Parallel()
	requests := make(chan llmtest.Request, 10)
	n := startNode(t, llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		requests <- r
		if r.Number == 1 {
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo hi"}`})
		}
		return llmtest.Text("done")
	}).URL)
	write(t, n.cfg.Workspace, "AGENTS.md", "be brief")
	n.ask(t, "main", "run it")
	turns, err := n.store.Turns(t.Context(), "http:main", 1)
	require.NoError(t, err)
	write(t, n.cfg.Workspace, "AGENTS.md", "be long")
	n.ask(t, "main", "/help")
	n.ask(t, "main", "again")
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	show := func(t *testing.T, args ...string) string {
		out, err := runCommand(t, environ, append([]string{"sessions", "show", "http:main"}, args...)...)
		require.NoError(t, err)
		return out
	}

	t.Run("are those of their turn", func(t *testing.T) {
		out := show(t, "--turn", "1", "--prompt")
		require.Contains(t, out, "be brief")
		require.NotContains(t, out, "be long")
		require.Equal(t, out, show(t, "--turn", turns[0].ID, "--prompt"))
		require.Contains(t, show(t, "--turn", "3", "--prompt"), "be long")
		require.Equal(t, show(t, "--turn", "3", "--prompt"), show(t, "--prompt"), "the last one")
	})

	t.Run("are shown with the conversation as it was sent", func(t *testing.T) {
		<-requests
		for _, turn := range []string{"1", "3"} { // the second call of the first turn, and the only one of the last
			request := <-requests
			var given turnPrompt
			require.NoError(t, json.Unmarshal([]byte(show(t, "--turn", turn, "--prompt", "--full", "--json")), &given))
			require.Equal(t, request.Messages[0].Content.Text, given.Prompt)
			require.Len(t, given.Messages, len(request.Messages))
			for i, m := range request.Messages {
				require.Equal(t, m.Content.Text, given.Messages[i].Content, "message %d of turn %s", i, turn)
			}
		}
		out := show(t, "--turn", "1", "--prompt", "--full")
		for _, want := range []string{"── system ──\n", "── user ──\nrun it\n", "→ exec call_", `{"command":"echo hi"}`, "── tool exec call_", "Channel: http"} {
			require.Contains(t, out, want)
		}
	})

	t.Run("are shown with a single turn", func(t *testing.T) {
		out := show(t, "--turn", "3")
		require.Contains(t, out, "── turn 3 · m")
		require.Contains(t, out, "again")
		require.NotContains(t, out, "run it")
		require.Contains(t, show(t), "── turn 2 · m")
	})

	t.Run("are not available in every turn", func(t *testing.T) {
		for args, want := range map[string]string{"2": "no model answered in turn 2", "4": "turn 4 not found; the session has 3 turns", "m0": "turn m0 not found"} {
			_, err := runCommand(t, environ, "sessions", "show", "http:main", "--prompt", "--turn", args)
			require.ErrorContains(t, err, want)
		}
		for _, flag := range []string{"--prompt", "--turn=1"} {
			_, err := runCommand(t, environ, "sessions", "show", "http:nobody", flag)
			require.ErrorContains(t, err, "session http:nobody not found")
		}
	})
}
