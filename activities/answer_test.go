package activities_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		input protocol.AnswerInput
		want  string
	}{
		{"help", protocol.AnswerInput{Command: domain.CommandHelp}, "`/model [provider/model | default]` show or change the model"},
		{"new", protocol.AnswerInput{Command: domain.CommandNew}, "New conversation."},
		{"stop, of what runs", protocol.AnswerInput{Command: domain.CommandStop, Stopped: true}, "Stopped."},
		{"stop, of nothing", protocol.AnswerInput{Command: domain.CommandStop}, "Nothing is running."},
		{"status, of nothing", protocol.AnswerInput{Command: domain.CommandStatus, Status: &protocol.Status{}}, "Nothing is running."},
		{"status, of what runs", protocol.AnswerInput{Command: domain.CommandStatus, Status: &protocol.Status{
			Turn: "m9", Step: 3, Doing: "exec: make", Tokens: 70, Queued: 2,
		}}, "step 3 (exec: make), 70 tokens, cost $0 so far. 2 messages are waiting."},
		{"status, with one more message", protocol.AnswerInput{Command: domain.CommandStatus, Status: &protocol.Status{
			Turn: "m9", Queued: 1,
		}}, "One message is waiting."},
		{"status, of what costs something", protocol.AnswerInput{Command: domain.CommandStatus, Status: &protocol.Status{
			Turn: "m9", Tokens: 70, Cost: 12_300, Unpriced: 1,
		}}, "70 tokens, cost at least $0.0123 so far."},
		{"jobs, of which there are none", protocol.AnswerInput{Command: domain.CommandJobs}, "There are no jobs."},
		{"model", protocol.AnswerInput{Command: domain.CommandModel}, "Using `scripted/scripted`, the configured model."},
		{"usage, of a conversation that begins", protocol.AnswerInput{Command: domain.CommandUsage, Status: &protocol.Status{
			Turn: "m9", Tokens: 70, Cost: 12_300,
		}}, "- the running request: 70 tokens, cost $0.0123\n- today: 0 tokens in (0 of them cached), 0 out, in 0 model calls, cost $0\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.accept(t, "m1", "/"+string(tt.input.Command), true)
			tt.input.Session, tt.input.Message = session, "m1"
			for i := range 2 {
				result, err := execute[protocol.AnswerResult](t, b.agent.Answer, tt.input)
				require.NoError(t, err)
				require.Equal(t, i == 1, result.Answered)
				require.Equal(t, domain.OutboxID("m1"), result.Outbox)
			}
			require.Contains(t, b.turn(t).Reply, tt.want)
			kept, err := b.store.Session(t.Context(), session.Key)
			require.NoError(t, err)
			require.Equal(t, tt.input.Command == domain.CommandNew, kept.Epoch == 1, "only /new begins a new conversation, and once")
		})
	}
}

func TestHelpHasEveryCommand(t *testing.T) {
	t.Parallel()
	b := setup(t)
	help := b.command(t, "m1", "/help")
	for _, name := range []string{"new", "help", "stop", "status", "model", "jobs", "usage", "approve", "deny"} {
		require.Contains(t, help, "`/"+name)
	}
	require.Zero(t, b.model.Count(), "no model is asked")
}

// withModels gives the agent the models of another provider.
func (b *bundle) withModels(t *testing.T, other *llmtest.Server) {
	t.Helper()
	client, err := openai.New(openai.Options{Service: "other", BaseURL: other.URL})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	b.options.Model.Open = func(name string) (activities.Model, error) {
		model, ours := strings.CutPrefix(name, "other/")
		if !ours {
			return activities.Model{}, errors.New("it is not configured")
		}
		return activities.Model{Provider: client, Service: "other", Name: model}, nil
	}
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
}

// command answers a message that is a command.
func (b *bundle) command(t *testing.T, id, text string) string {
	t.Helper()
	b.accept(t, id, text, false)
	command, _ := domain.ParseCommand(text)
	_, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{Session: session, Message: id, Command: command})
	require.NoError(t, err)
	turn, err := b.store.Turn(t.Context(), id)
	require.NoError(t, err)
	return turn.Reply
}

func TestModel(t *testing.T) {
	t.Parallel()

	t.Run("is that of the turn, from its first step to its last", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "noop", `{}`), llmtest.Text("usual"))
		other := llmtest.NewServer(t, llmtest.Text("other"))
		b.withModels(t, other)
		require.Equal(t, "scripted/"+llmtest.Model, b.asked(t).Model)
		b.command(t, "c1", "/model other/m")
		result, err := b.complete(t, "m1", 2)
		require.NoError(t, err)
		require.Equal(t, "usual", result.Preview)

		b.accept(t, "m2", "hi", false)
		result, err = b.complete(t, "m2", 1, "m2")
		require.NoError(t, err)
		require.Equal(t, "other", result.Preview)
		require.Equal(t, "other/m", result.Model)
		require.Equal(t, 1, result.Unpriced)
		require.Equal(t, "m", other.Requests()[0].Model)
		require.Empty(t, b.model.Invalid())
		require.Empty(t, other.Invalid())
	})

	t.Run("that is unavailable ends the turn with instructions", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.withModels(t, llmtest.NewServer(t))
		b.command(t, "c1", "/model other/m")
		b.options.Model.Open = nil
		var err error
		b.agent, err = activities.NewAgent(b.options)
		require.NoError(t, err)
		b.accept(t, "m1", "hi", false)
		_, err = b.complete(t, "m1", 1, "m1")
		require.True(t, failed(t, err).NonRetryable())
		require.Equal(t, protocol.ErrorRefused, failed(t, err).Type())
		require.Contains(t, failed(t, err).Message(), "other/m")
		require.Contains(t, failed(t, err).Message(), "`/model default`")
	})

	t.Run("can only be changed to a configured one", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.withModels(t, llmtest.NewServer(t))
		require.Contains(t, b.command(t, "c1", "/model other/m"), "conversation uses `other/m`")
		require.Contains(t, b.command(t, "c2", "/model x/y"), "Nothing changed: `x/y` cannot be used: it is not configured.")
		require.Contains(t, b.command(t, "c3", "/model other/a other/b"), "Nothing changed")
		require.Contains(t, b.command(t, "c4", "/model other/"+strings.Repeat("m", 200)), "Nothing changed")
		require.Contains(t, b.command(t, "c5", "/model"), "conversation uses `other/m`")
	})
}
