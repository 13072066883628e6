package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

var session = domain.SessionRef{Key: "test:c1", Channel: "test"}

// bundle is an agent with a store, a scripted model and tools.
type bundle struct {
	agent     *activities.Agent
	options   activities.AgentOptions
	store     *store.Store
	model     *llmtest.Server
	bus       *event.Local
	tools     *tool.Registry
	workspace string
}

func setup(t *testing.T, script ...llmtest.Step) *bundle {
	t.Helper()
	return setupWith(t, llmtest.NewServer(t, script...))
}

func setupWith(t *testing.T, model *llmtest.Server) *bundle {
	t.Helper()
	b := &bundle{store: newStore(t), model: model, bus: event.NewLocal(), tools: &tool.Registry{}, workspace: t.TempDir()}
	client, err := openai.New(openai.Options{Service: "scripted", BaseURL: model.URL, APIKey: "key"})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	b.options = activities.AgentOptions{
		Store: b.store, Events: b.bus, Workspace: b.workspace, Tools: activities.ToolOptions{Agent: b.tools},
		Model: activities.ModelOptions{
			Model: activities.Model{Provider: client, Service: "scripted", Name: llmtest.Model}, MaxTokens: 1000, Window: 100,
		},
	}
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	return b
}

func newStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// accept stores a message. A turn that it begins has its ID.
func (b *bundle) accept(t *testing.T, id, text string, push bool) {
	t.Helper()
	command, _ := domain.ParseCommand(text)
	_, fresh, err := b.store.Accept(t.Context(), domain.Inbound{
		ID: id, PlatformID: "1", Session: session.Key, Channel: session.Channel, Chat: "c1", Sender: "ana", Text: text, Push: push, Command: command,
	})
	require.NoError(t, err)
	require.True(t, fresh)
}

// add registers a tool whose arguments are any object.
func (b *bundle) add(t *testing.T, name string, kind tool.Kind, run func(context.Context, tool.Call) (tool.Result, error)) {
	t.Helper()
	require.NoError(t, b.tools.Register(tool.Tool{
		Spec: llm.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object"}`)}, Kind: kind, Run: run,
	}))
}

// execute runs an activity once.
func execute[Result any](t *testing.T, activity any, input any) (Result, error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterActivity(activity)
	var result Result
	value, err := env.ExecuteActivity(activity, input)
	if err == nil {
		require.NoError(t, value.Get(&result))
	}
	return result, err
}

func (b *bundle) complete(t *testing.T, turn string, step int, messages ...string) (protocol.CompleteResult, error) {
	t.Helper()
	return execute[protocol.CompleteResult](t, b.agent.Complete, protocol.CompleteInput{
		Session: session, Turn: turn, Step: step, Messages: messages,
	})
}

// callTool runs a call of turn m1.
func (b *bundle) callTool(t *testing.T, step, index int) (protocol.CallToolResult, error) {
	t.Helper()
	return execute[protocol.CallToolResult](t, b.agent.CallTool, protocol.CallToolInput{
		Session: session, Turn: "m1", Step: step, Index: index,
	})
}

// asked begins turn m1, whose first completion is the script's first step.
func (b *bundle) asked(t *testing.T) protocol.CompleteResult {
	t.Helper()
	b.accept(t, "m1", "do it", false)
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	return result
}

// turn is turn m1.
func (b *bundle) turn(t *testing.T) domain.Turn {
	t.Helper()
	turn, err := b.store.Turn(t.Context(), "m1")
	require.NoError(t, err)
	return turn
}

// rows are the messages of the session.
func (b *bundle) rows(t *testing.T) []domain.Message {
	t.Helper()
	rows, err := b.store.Transcript(t.Context(), session.Key, -1, 0)
	require.NoError(t, err)
	return rows
}

// failed is the error of an activity as Temporal has it.
func failed(t *testing.T, err error) *temporal.ApplicationError {
	t.Helper()
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	require.True(t, ok, "%v", err)
	return app
}

// calls is a completion that calls a tool n times.
func calls(n int, name, arguments string) llmtest.Step {
	list := make([]llmtest.Call, n)
	for i := range list {
		list[i] = llmtest.Call{Name: name, Arguments: arguments}
	}
	return llmtest.Calls(list...)
}

// requireFits checks that a result fits a payload.
func requireFits(t *testing.T, result any) {
	t.Helper()
	encoded, err := json.Marshal(result)
	require.NoError(t, err)
	require.Less(t, len(encoded), protocol.PayloadLimit)
}
