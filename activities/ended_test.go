package activities_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// TestTurnIsLoggedOnce logs a line for each turn that ended, and none for a repetition.
func TestTurnIsLoggedOnce(t *testing.T) {
	t.Parallel()
	look := llmtest.Calls(llmtest.Call{Name: "look", Arguments: `{}`}).Usage(10, 2)
	logging := func(t *testing.T, script ...llmtest.Step) (*bundle, *bytes.Buffer) {
		b := setup(t, script...)
		b.add(t, "look", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "seen"}, nil })
		var log bytes.Buffer
		b.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		var err error
		b.agent, err = activities.NewAgent(b.options)
		require.NoError(t, err)
		b.asked(t)
		_, err = b.callTool(t, 1, 0)
		require.NoError(t, err)
		require.Empty(t, log.String())
		return b, &log
	}

	t.Run("done", func(t *testing.T) {
		t.Parallel()
		b, log := logging(t, look, llmtest.Text("done").Usage(20, 3))
		for range 2 {
			_, err := b.complete(t, "m1", 2, "m1")
			require.NoError(t, err)
		}
		require.Regexp(t, `^time=\S+ level=INFO msg="turn ended" session=test:c1 turn=m1 outcome=done steps=2 tools=1 `+
			`prompt_tokens=30 completion_tokens=5 cost=unknown duration=\S+\n$`, log.String())
	})

	t.Run("failed", func(t *testing.T) {
		t.Parallel()
		b, log := logging(t, look)
		for range 2 {
			_, err := execute[protocol.EndTurnResult](t, b.agent.EndTurn, protocol.EndTurnInput{
				Session: session, Turn: "m1", Messages: []string{"m1"}, Reason: "The key is wrong.",
			})
			require.NoError(t, err)
		}
		require.Regexp(t, `^time=\S+ level=INFO msg="turn ended" session=test:c1 turn=m1 outcome=failed steps=1 tools=1 .* reason="The key is wrong."\n$`, log.String())
	})
}
