package activities_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestCompleteStoresWhatTheModelSaid(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Text("hello").Usage(10, 2))
	b.accept(t, "m1", "hi", true)
	events, cancel := b.bus.Subscribe("m1")
	defer cancel()

	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	require.Equal(t, protocol.CompleteResult{
		Preview: "hello", Final: true, Outbox: domain.OutboxID("m1"), Model: "scripted/" + llmtest.Model,
		Usage: domain.Usage{PromptTokens: 10, CompletionTokens: 2}, Unpriced: 1,
	}, result)
	turn := b.turn(t)
	require.Equal(t, domain.TurnDone, turn.Status)
	require.Equal(t, "hello", turn.Reply)
	require.Equal(t, event.Event{Kind: event.Reset, Step: 1}, <-events)
	require.Equal(t, event.Text, (<-events).Kind)

	again, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	require.Equal(t, result, again, "the stored completion is adopted")
	require.Equal(t, 1, b.model.Count())
}

func TestCompleteAfterAnAttemptThatWasLost(t *testing.T) {
	t.Parallel()
	// The model answered and the worker died before it could store that: it is
	// asked again, and only what is stored counts.
	b := setup(t, llmtest.Text("second"))
	b.accept(t, "m1", "hi", false)
	_, err := b.store.Begin(t.Context(), store.BeginInput{
		Session: session.Key, Channel: session.Channel, Turn: "m1", Step: 1, Messages: []string{"m1"},
	})
	require.NoError(t, err)
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	require.Equal(t, "second", result.Preview)
	require.Len(t, b.rows(t), 2, "the message is in the transcript once")
}

func TestCompleteConsumesMessages(t *testing.T) {
	t.Parallel()

	t.Run("a message that joins is reported and answered with the turn", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "noop", `{}`), llmtest.Text("both"))
		b.asked(t)
		b.accept(t, "m2", "and this", false)
		events, cancel := b.bus.Subscribe("m2")
		defer cancel()
		_, err := b.callTool(t, 1, 0)
		require.NoError(t, err)
		_, err = b.complete(t, "m1", 2, "m2")
		require.NoError(t, err)
		require.Equal(t, event.Event{Kind: event.TurnJoined, Text: "m1"}, <-events)
		require.Contains(t, b.model.Requests()[1].LastUser(), "and this")
		_, turn, err := b.store.MessageState(t.Context(), "m2")
		require.NoError(t, err)
		require.Equal(t, "both", turn.Reply)
		require.Empty(t, b.model.Invalid())
	})

	t.Run("a message that an earlier turn answered starts no turn", func(t *testing.T) {
		t.Parallel()
		b := setup(t, llmtest.Text("hello"))
		b.accept(t, "m1", "hi", true)
		_, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		result, err := b.complete(t, "m9", 1, "m1")
		require.NoError(t, err)
		require.True(t, result.Answered)
		require.Equal(t, domain.OutboxID("m1"), result.Outbox)
		require.Equal(t, 1, b.model.Count())
	})

	t.Run("a stopped turn is not continued", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "noop", `{}`))
		b.asked(t)
		_, err := b.store.EndTurn(t.Context(), store.End{Session: session.Key, Channel: session.Channel, Turn: "m1", Status: domain.TurnStopped, Reply: "Stopped."})
		require.NoError(t, err)
		result, err := b.complete(t, "m1", 2)
		require.NoError(t, err)
		require.True(t, result.Final)
		require.Equal(t, "Stopped.", result.Preview, "what the user was told stands as the completion")
		_, err = b.complete(t, "m1", 3)
		require.True(t, failed(t, err).NonRetryable())
		require.Equal(t, protocol.ErrorInvalid, failed(t, err).Type())
		require.Equal(t, 1, b.model.Count())
	})

	t.Run("a message that was never accepted is not retried", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := b.complete(t, "m1", 1, "m1")
		require.Equal(t, protocol.ErrorInvalid, failed(t, err).Type())
	})
}

func TestCompleteFillsMissingResults(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(2, "noop", `{}`), llmtest.Text("done"))
	b.add(t, "noop", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "ok"}, nil })
	b.asked(t)
	_, err := b.callTool(t, 1, 1)
	require.NoError(t, err)
	_, err = b.complete(t, "m1", 2)
	require.NoError(t, err)
	results := b.model.Requests()[1].Results()
	require.Len(t, results, 2)
	require.Contains(t, results[0], "outcome is unknown")
	require.Equal(t, "ok", results[1])
	require.Empty(t, b.model.Invalid())
	late, err := b.callTool(t, 1, 0)
	require.NoError(t, err)
	require.True(t, late.Failed, "a call that comes late adopts what the model was told")
}

func TestCompleteShortensWhatIsTooLong(t *testing.T) {
	t.Parallel()

	t.Run("from its old end, until it fits", func(t *testing.T) {
		t.Parallel()
		const fits = 6
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if len(r.Messages) > fits {
				return llmtest.TooLong()
			}
			return llmtest.Text(fmt.Sprintf("answer %d", r.Number))
		})
		b := setupWith(t, model)
		for i := range 10 {
			id := fmt.Sprintf("m%d", i)
			b.accept(t, id, "question "+id, false)
			_, err := b.complete(t, id, 1, id)
			require.NoError(t, err)
		}
		last := model.Requests()[model.Count()-1]
		require.Greater(t, len(last.Messages), 2, "no more is left out than has to be")
		require.Contains(t, last.LastUser(), "question m9")
		require.Empty(t, model.Invalid())
	})

	t.Run("and tells the user when nothing is left to leave out", func(t *testing.T) {
		t.Parallel()
		b := setup(t, llmtest.TooLong())
		b.accept(t, "m1", strings.Repeat("long ", 1000), false)
		_, err := b.complete(t, "m1", 1, "m1")
		require.True(t, failed(t, err).NonRetryable())
		require.Equal(t, protocol.ErrorTooLong, failed(t, err).Type())
		require.Contains(t, failed(t, err).Message(), "/new")
		require.Equal(t, 1, b.model.Count(), "the same again is no use")
	})
}

func TestCompleteBoundsWhatTheModelAsksFor(t *testing.T) {
	t.Parallel()
	huge := `{"text":"` + strings.Repeat(`<\"\u0001`, 2_000) + `"}`
	tests := []struct {
		name  string
		step  llmtest.Step
		calls int
	}{
		{"40 calls with huge arguments", calls(40, strings.Repeat("n", 200), huge), 32},
		{"32 calls with names that JSON escapes", calls(32, strings.Repeat("<", 64), `{"a":"`+strings.Repeat("&", 500)+`"}`), 32},
		{"one call with huge arguments", calls(1, "noop", huge), 1},
		{"1 MB of text", llmtest.Text(strings.Repeat("t", 1<<20)), 0},
		{"text that JSON escapes", llmtest.Text(strings.Repeat("<\x00\">\n\u2028", 10_000)), 0},
		{"text that is no UTF-8", llmtest.Raw("application/json", "{\"choices\":[{\"message\":{\"content\":\""+strings.Repeat("\xff\xfe", 10_000)+"\"}}]}"), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.step)
			result := b.asked(t)
			require.Len(t, result.Calls, tt.calls)
			requireFits(t, result)
			rows := b.rows(t)
			require.Len(t, rows[1].ToolCalls, tt.calls)
			for i := range tt.calls {
				require.NotEmpty(t, result.Calls[i].Preview)
				require.Len(t, rows[1].ToolCalls[i].Arguments, len(rows[1].ToolCalls[0].Arguments), "the store has all of it")
			}
		})
	}
}

func TestCompleteAssignsNewCallIDs(t *testing.T) {
	t.Parallel()
	same := llmtest.Calls(llmtest.Call{ID: "call_0", Name: "noop", Arguments: `{}`}, llmtest.Call{ID: "call_1", Name: "noop", Arguments: `{}`})
	b := setup(t, same, same, llmtest.Text("one"), same, llmtest.Text("two"))
	for _, turn := range []string{"m11111111111111111111", "m22222222222222222222"} {
		b.accept(t, turn, "do it", false)
		for step := 1; ; step++ {
			result, err := b.complete(t, turn, step, turn)
			require.NoError(t, err)
			if result.Final {
				break
			}
		}
	}
	seen := map[string]bool{}
	for _, row := range b.rows(t) {
		for _, call := range row.ToolCalls {
			require.False(t, seen[call.ID], call.ID)
			seen[call.ID] = true
		}
	}
	require.Len(t, seen, 6)
	require.Empty(t, b.model.Invalid())
}

func TestCompleteRepairsInvalidToolNames(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "functions.<exec> ü"+strings.Repeat("x", 100), `{}`), llmtest.Text("I see"))
	b.asked(t)
	result, err := b.callTool(t, 1, 0)
	require.NoError(t, err)
	require.True(t, result.Failed)
	_, err = b.complete(t, "m1", 2)
	require.NoError(t, err)
	require.Empty(t, b.model.Invalid())
}

func TestCompleteDoesNotRunATruncatedCall(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(2, "count", `{"text":"half of wha`).Finish("length"), llmtest.Text("I see"))
	ran := 0
	b.add(t, "count", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
		ran++
		return tool.Result{Text: "ok"}, nil
	})
	b.asked(t)
	for i := range 2 {
		result, err := b.callTool(t, 1, i)
		require.NoError(t, err)
		require.Equal(t, i == 1, result.Failed)
	}
	require.Equal(t, 1, ran)
	_, err := b.complete(t, "m1", 2)
	require.NoError(t, err)
	require.Contains(t, b.model.Requests()[1].Results()[1], "1000 tokens")
	require.Empty(t, b.model.Invalid())
}

func TestCompleteResolvesCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Calls(llmtest.Call{Name: "look", Arguments: `{}`}, llmtest.Call{Name: "nothing_like_it", Arguments: `{}`}))
	require.NoError(t, b.tools.Register(tool.Tool{Spec: llm.ToolSpec{Name: "look"}, Kind: tool.Keyed, ReadOnly: true, Timeout: 5}))
	result := b.asked(t)
	require.Equal(t, "keyed", result.Calls[0].Kind)
	require.True(t, result.Calls[0].ReadOnly)
	require.EqualValues(t, 5, result.Calls[0].Timeout)
	require.Equal(t, "unknown", result.Calls[1].Kind)
	require.Positive(t, result.Calls[1].Timeout)
}

// panicking is a provider with a bug.
type panicking struct{}

func (panicking) Complete(context.Context, llm.Request, func(llm.Delta)) (llm.Response, error) {
	panic("index out of range")
}

func TestCompleteThatPanicsEndsTheTurn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.options.Model.Provider = panicking{}
	var err error
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	b.accept(t, "m1", "hi", false)
	_, err = b.complete(t, "m1", 1, "m1")
	require.True(t, failed(t, err).NonRetryable())
	require.Contains(t, failed(t, err).Message(), "index out of range")
}

func TestCompleteWithoutItsWorkspaceIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, os.RemoveAll(b.workspace))
	b.accept(t, "m1", "hi", false)
	_, err := b.complete(t, "m1", 1, "m1")
	require.False(t, failed(t, err).NonRetryable())
}
