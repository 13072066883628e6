package activities_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

// withCommands gives the agent a supervisor, and returns a function that has it
// start a background command.
func (b *bundle) withCommands(t *testing.T) (start func(key, owner, command string) *supervisor.Process) {
	t.Helper()
	commands, err := supervisor.New(supervisor.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	b.options.Tools.Supervisor = commands
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	return func(key, owner, command string) *supervisor.Process {
		process, err := commands.Start(t.Context(), supervisor.Spec{Key: key, Owner: owner, Command: command, Dir: b.workspace, Input: true})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, commands.Stop(context.Background(), key)) })
		return process
	}
}

// child begins turn m1 and has it spawn a subagent, whose session is returned.
func (b *bundle) child(t *testing.T) string {
	t.Helper()
	b.accept(t, "m1", "do it", false)
	_, err := b.store.Begin(t.Context(), store.BeginInput{Session: session.Key, Channel: session.Channel, Turn: "m1", Step: 1, Messages: []string{"m1"}})
	require.NoError(t, err)
	child, err := b.store.Spawn(t.Context(), store.SpawnInput{ID: domain.CallKey("m1", 1, 0), Turn: "m1", Label: "look", Task: "look", Limit: 1})
	require.NoError(t, err)
	return child.Session
}

func TestStatusListsBackgroundCommands(t *testing.T) {
	t.Parallel()
	b := setup(t)
	start := b.withCommands(t)
	require.Equal(t, "Nothing is running.", b.command(t, "c1", "/status"))
	start("m2.1.0", "test:other", "sleep 602")
	require.Equal(t, "Nothing is running.", b.command(t, "c2", "/status"))

	child := b.child(t)
	start("m3.1.0", session.Key, "sleep 600 &&\n\techo done")
	start("m4.1.0", child, "sleep 601")
	_, err := b.store.EndSubagent(t.Context(), domain.CallKey("m1", 1, 0), domain.SubagentDone, "")
	require.NoError(t, err)
	require.Regexp(t, "^No request is running, but commands are:\n"+
		"- command `m3\\.1\\.0`, started \\d+s ago: sleep 600 && echo done\n"+
		"- command `m4\\.1\\.0`, started \\d+s ago: sleep 601$", b.command(t, "c3", "/status"))

	b.accept(t, "c4", "/status", false)
	_, err = execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{
		Session: session, Message: "c4", Command: domain.CommandStatus, Status: &protocol.Status{Turn: "m9", Step: 1, Doing: "thinking"},
	})
	require.NoError(t, err)
	turn, err := b.store.Turn(t.Context(), "c4")
	require.NoError(t, err)
	require.Regexp(t, "^Working: step 1 .*\n.*\n- command `m4\\.1\\.0`, .*: sleep 601$", turn.Reply)
}

func TestStopEndsBackgroundCommands(t *testing.T) {
	t.Parallel()
	for text, reply := range map[string]string{"/stop": "Stopped.", "/new": "New conversation."} {
		t.Run("by "+text, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			start := b.withCommands(t)
			own, child, other := start("m3.1.0", session.Key, "sleep 600"), start("m4.1.0", b.child(t), "sleep 600"), start("m5.1.0", "test:other", "sleep 600")

			require.Equal(t, reply, b.command(t, "c1", text))
			for _, ended := range []*supervisor.Process{own, child} {
				exit, err := ended.Status()
				require.NoError(t, err)
				require.True(t, exit.Stopped)
			}
			later := start("m6.1.0", session.Key, "sleep 600")
			command, _ := domain.ParseCommand(text)
			_, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{Session: session, Message: "c1", Command: command})
			require.NoError(t, err)
			for _, runs := range []*supervisor.Process{later, other} {
				_, err := runs.Status()
				require.ErrorIs(t, err, supervisor.ErrRunning)
			}
		})
	}
}

// TestCommandsElsewhere asks a worker about commands that run at another place. It sends
// the work there, and does without what does not answer.
func TestCommandsElsewhere(t *testing.T) {
	t.Parallel()

	t.Run("are stopped and listed there", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.withCommands(t)
		child := b.child(t)
		task := domain.TaskMessage(domain.CallKey("m1", 1, 0))
		_, err := b.store.Begin(t.Context(), store.BeginInput{Session: child, Channel: domain.SubagentChannel, Turn: task, Step: 1, Messages: []string{task}})
		require.NoError(t, err)
		require.NoError(t, b.store.EnterPlace(t.Context(), child, "there"))
		for i, text := range []string{"/stop", "/new", "/status"} {
			id := "c" + strconv.Itoa(i)
			b.accept(t, id, text, false)
			command, _ := domain.ParseCommand(text)
			answer := func(in protocol.AnswerInput) protocol.AnswerResult {
				in.Session, in.Message, in.Command = session, id, command
				result, err := execute[protocol.AnswerResult](t, b.agent.Answer, in)
				require.NoError(t, err)
				return result
			}
			require.Equal(t, "there", answer(protocol.AnswerInput{}).Place)
			_, err := b.store.Turn(t.Context(), id)
			require.ErrorIs(t, err, domain.ErrNotFound)
			require.Empty(t, answer(protocol.AnswerInput{Tried: []string{"there"}, Stopped: true, Commands: "\n- command `x`"}).Place)
			turn, err := b.store.Turn(t.Context(), id)
			require.NoError(t, err)
			require.Contains(t, []string{"Stopped.", "New conversation.", "No request is running, but commands are:\n- command `x`"}, turn.Reply)
		}
	})

	t.Run("are forgotten by a stop if that place does not answer", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.withCommands(t)
		b.child(t) // begins the session
		require.NoError(t, b.store.EnterPlace(t.Context(), session.Key, "there"))
		b.accept(t, "c1", "/stop", false)
		_, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{
			Session: session, Message: "c1", Command: domain.CommandStop, Tried: []string{"there"}, Silent: true,
		})
		require.NoError(t, err)
		turn, err := b.store.Turn(t.Context(), "c1")
		require.NoError(t, err)
		require.Contains(t, turn.Reply, "does not answer")
		require.Equal(t, "Nothing is running.", b.command(t, "c2", "/status"))
	})

	t.Run("of a turn are stopped there before it ends", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.withCommands(t)
		b.child(t)
		_, _, err := b.store.Intend(t.Context(), store.Intent{Turn: "m1", Call: domain.CallKey("m1", 1, 1), Part: shell.CommandPart, Data: []byte(`{"place":"there"}`)})
		require.NoError(t, err)
		require.Equal(t, "there", b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped}).Place)
		require.Equal(t, domain.TurnRunning, b.turn(t).Status)
		require.Empty(t, b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped, Tried: []string{"there"}}).Place)
		require.Equal(t, domain.TurnStopped, b.turn(t).Status)
	})

	t.Run("of a turn whose run is lost are stopped there before it ends", func(t *testing.T) {
		t.Parallel()
		for _, text := range []string{"/stop", "/new"} {
			b := setup(t)
			b.withCommands(t)
			b.child(t)
			_, _, err := b.store.Intend(t.Context(), store.Intent{Turn: "m1", Call: domain.CallKey("m1", 1, 1), Part: shell.CommandPart, Data: []byte(`{"place":"there"}`)})
			require.NoError(t, err)
			b.accept(t, "c1", text, false)
			command, _ := domain.ParseCommand(text)
			in := protocol.AnswerInput{Session: session, Message: "c1", Command: command}
			result, err := execute[protocol.AnswerResult](t, b.agent.Answer, in)
			require.NoError(t, err)
			require.Equal(t, protocol.AnswerResult{Place: "there"}, result)
			require.Equal(t, domain.TurnRunning, b.turn(t).Status)
			in.Tried = []string{"there"}
			_, err = execute[protocol.AnswerResult](t, b.agent.Answer, in)
			require.NoError(t, err)
			require.Equal(t, domain.TurnStopped, b.turn(t).Status)
			answer, err := b.store.Turn(t.Context(), "c1")
			require.NoError(t, err)
			require.Contains(t, []string{"Stopped.", "New conversation."}, answer.Reply)
		}
	})
}
