package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	_ "github.com/holdfast-ai/holdfast/internal/supervisor/early" // the test binary is its own supervisor
	"github.com/holdfast-ai/holdfast/internal/tool"
)

func (b *bundle) endTurn(t *testing.T, in protocol.EndTurnInput) protocol.EndTurnResult {
	t.Helper()
	in.Session = session
	result, err := execute[protocol.EndTurnResult](t, b.agent.EndTurn, in)
	require.NoError(t, err)
	return result
}

func TestEndTurn(t *testing.T) {
	t.Parallel()

	t.Run("tells the user why, and leaves a transcript that a model takes", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(2, "noop", `{}`), llmtest.Text("next"))
		b.accept(t, "m1", "do it", true)
		_, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		b.accept(t, "m2", "and this", true)
		joined, cancel := b.bus.Subscribe("m2")
		defer cancel()
		for range 2 {
			ended := b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Messages: []string{"m2"}, Ending: protocol.EndingFailed, Reason: "The model is away."})
			require.Equal(t, domain.OutboxID("m1"), ended.Outbox, "ending it again changes nothing")
		}
		require.Equal(t, event.Done, (<-joined).Kind)
		turn := b.turn(t)
		require.Equal(t, domain.TurnFailed, turn.Status)
		require.Equal(t, "The model is away.", turn.Reply)
		_, answered, err := b.store.MessageState(t.Context(), "m2")
		require.NoError(t, err)
		require.Equal(t, "m1", answered.ID)
		b.accept(t, "m3", "next", false)
		_, err = b.complete(t, "m3", 1, "m3")
		require.NoError(t, err)
		require.Empty(t, b.model.Invalid())
	})

	t.Run("of a stopped turn is silent if another answer reports it", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "noop", `{}`))
		b.accept(t, "m1", "do it", true)
		_, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		require.Empty(t, b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped, Silent: true}).Outbox)
		require.Equal(t, domain.TurnStopped, b.turn(t).Status)
		require.Equal(t, "Stopped.", b.turn(t).Reply)
	})

	t.Run("of a turn that had not begun creates and ends it", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.accept(t, "m1", "do it", true)
		require.NotEmpty(t, b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Messages: []string{"m1"}, Ending: protocol.EndingFailed, Reason: "No."}).Outbox)
		require.Equal(t, "No.", b.turn(t).Reply)
	})

	t.Run("of a turn whose message another turn consumed does nothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t, llmtest.Text("hello"))
		b.asked(t)
		require.Empty(t, b.endTurn(t, protocol.EndTurnInput{Turn: "m9", Messages: []string{"m1"}, Ending: protocol.EndingStopped}).Outbox)
		require.Equal(t, "hello", b.turn(t).Reply)
	})

	t.Run("ends the commands that the turn started, and no others", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(2, "exec", `{}`))
		commands, err := supervisor.New(supervisor.Options{Dir: t.TempDir()})
		require.NoError(t, err)
		b.options.Tools.Supervisor = commands
		b.agent, err = activities.NewAgent(b.options)
		require.NoError(t, err)
		b.add(t, "exec", tool.Keyed, func(ctx context.Context, call tool.Call) (tool.Result, error) {
			_, _, err := call.Journal.Intend(ctx, "exec", nil)
			return tool.Result{}, err
		})
		b.asked(t)
		run := func(key string) *supervisor.Process {
			process, err := commands.Start(t.Context(), supervisor.Spec{Key: key, Command: "sleep 600", Dir: b.workspace})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, commands.Stop(context.Background(), key)) })
			return process
		}
		ours, other := run(domain.CallKey("m1", 1, 0)), run(domain.CallKey("m2", 1, 0))
		_, err = b.callTool(t, 1, 0)
		require.NoError(t, err)
		b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped})
		exit, err := ours.Status()
		require.NoError(t, err)
		require.True(t, exit.Stopped)
		_, err = other.Status()
		require.ErrorIs(t, err, supervisor.ErrRunning)
	})
}
