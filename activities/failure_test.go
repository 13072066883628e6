package activities_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestModelFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		step      llmtest.Step
		finalType string // the type of a non-retryable error; empty: retried
		contains  string
		delay     time.Duration
	}{
		{"401 names what to set", llmtest.Refuse(401, "invalid_api_key", "bad key"), protocol.ErrorRefused, "providers.scripted.api_key", 0},
		{"403 names what to set", llmtest.Refuse(403, "", "not yours"), protocol.ErrorRefused, "providers.scripted.api_key", 0},
		{"402 is about money", llmtest.Refuse(402, "", "no credit"), protocol.ErrorRefused, "balance", 0},
		{"404 is about the model", llmtest.Refuse(404, "model_not_found", "no such model"), protocol.ErrorRefused, "model", 0},
		{"400 is told as it is", llmtest.Refuse(400, "", "bad schema"), protocol.ErrorRefused, "bad schema", 0},
		{"too long", llmtest.TooLong(), protocol.ErrorTooLong, "/new", 0},
		{"429 with Retry-After", llmtest.Status(429, "7"), "", "429", 7 * time.Second},
		{"429 that asks for a day", llmtest.Status(429, "86400"), "", "429", 15 * time.Minute},
		{"429 that does not say", llmtest.Status(429, ""), "", "429", 0},
		{"500", llmtest.Status(500, ""), "", "500", 0},
		{"503 with Retry-After", llmtest.Status(503, "2"), "", "503", 2 * time.Second},
		{"a stream that is cut", llmtest.CutStream("hello", 2), "", "scripted", 0},
		{"an empty answer", llmtest.Empty(), "", "empty", 0},
		{"a long refusal is cut", llmtest.Refuse(400, "", strings.Repeat("no ", 5000)), protocol.ErrorRefused, "no no", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, tt.step)
			b.accept(t, "m1", "hi", false)
			_, err := b.complete(t, "m1", 1, "m1")
			app := failed(t, err)
			require.Equal(t, tt.finalType != "", app.NonRetryable())
			require.Contains(t, app.Message(), tt.contains)
			require.LessOrEqual(t, len(app.Message()), protocol.PreviewLimit)
			require.Equal(t, tt.delay, app.NextRetryDelay())
			if tt.finalType != "" {
				require.Equal(t, tt.finalType, app.Type())
			}
			require.Len(t, b.rows(t), 1, "nothing is stored but the message")
		})
	}

	t.Run("no one there", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		b := setup(t)
		client, err := openai.New(openai.Options{Service: "scripted", BaseURL: "http://" + listener.Addr().String() + "/v1"})
		require.NoError(t, err)
		b.options.Model.Provider = client
		b.agent, err = activities.NewAgent(b.options)
		require.NoError(t, err)
		b.accept(t, "m1", "hi", false)
		_, err = b.complete(t, "m1", 1, "m1")
		require.False(t, failed(t, err).NonRetryable())
	})

	t.Run("a closed store", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.accept(t, "m1", "hi", false)
		require.NoError(t, b.store.Close())
		_, err := b.complete(t, "m1", 1, "m1")
		require.False(t, failed(t, err).NonRetryable())
	})
}

// retried runs an activity as the workflows do, with their kind of retries and
// in no time.
func retried[Result any](t *testing.T, activity any, input any) (result Result, took time.Duration, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterActivity(activity)
	env.ExecuteWorkflow(func(ctx workflow.Context) (time.Duration, error) {
		started := workflow.Now(ctx)
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Hour, ScheduleToCloseTimeout: 24 * time.Hour,
			RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 1000},
		})
		err := workflow.ExecuteActivity(ctx, activity, input).Get(ctx, &result)
		return workflow.Now(ctx).Sub(started), err
	})
	require.True(t, env.IsWorkflowCompleted())
	if err = env.GetWorkflowError(); err == nil {
		require.NoError(t, env.GetWorkflowResult(&took))
	}
	return result, took, err
}

func TestAttempts(t *testing.T) {
	t.Parallel()
	first := protocol.CompleteInput{Session: session, Turn: "m1", Step: 1, Messages: []string{"m1"}}

	t.Run("at a model that recovers end with its answer", func(t *testing.T) {
		t.Parallel()
		b := setup(t, llmtest.Status(429, "30"), llmtest.Status(500, ""), llmtest.CutStream("half of it", 2), llmtest.Empty(), llmtest.Text("hello"))
		b.accept(t, "m1", "hi", false)
		result, took, err := retried[protocol.CompleteResult](t, b.agent.Complete, first)
		require.NoError(t, err)
		require.Equal(t, "hello", result.Preview)
		require.GreaterOrEqual(t, took, 30*time.Second, "not before the time that it asked for")
		require.Len(t, b.rows(t), 2)
		require.Empty(t, b.model.Invalid())
	})

	t.Run("at a model that does not recover are bounded", func(t *testing.T) {
		t.Parallel()
		b := setupWith(t, llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Status(503, "") }))
		b.accept(t, "m1", "hi", false)
		_, _, err := retried[protocol.CompleteResult](t, b.agent.Complete, first)
		require.True(t, failed(t, err).NonRetryable())
		require.Equal(t, 8, b.model.Count())
		require.Contains(t, failed(t, err).Message(), "after 8 attempts")
		require.Contains(t, failed(t, err).Message(), "503")
	})

	t.Run("at a tool's service are bounded, then the model is told", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "search", `{}`))
		ran := 0
		b.add(t, "search", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
			ran++
			return tool.Result{}, &remote.Error{Service: "search", Status: 503, Err: errors.New("away")}
		})
		b.asked(t)
		result, _, err := retried[protocol.CallToolResult](t, b.agent.CallTool, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1})
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Contains(t, result.Preview, "away")
		require.Equal(t, 3, ran)
	})

	t.Run("of a tool that panics are a failure", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "bug", `{}`))
		ran := 0
		b.add(t, "bug", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
			ran++
			panic("a bug")
		})
		b.asked(t)
		result, _, err := retried[protocol.CallToolResult](t, b.agent.CallTool, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1})
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Equal(t, 1, ran)
	})
}
