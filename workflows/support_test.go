package workflows_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/workflows"
)

// patience is how long a test waits for what should take a moment.
const patience = 60 * time.Second

var ref = domain.SessionRef{Key: "memory:c1", Channel: "memory"}

// bench is a session on the SDK's test environment: the real activities over a
// real store, a scripted model, a channel in memory.
type bench struct {
	t       *testing.T
	env     *testsuite.TestWorkflowEnvironment
	store   *store.Store
	model   *llmtest.Server
	channel *channeltest.Memory
	agent   *activities.Agent
	limits  protocol.Limits
	rules   []string      // which calls are asked about
	timeout time.Duration // how long a question waits

	mu    sync.Mutex
	calls []string // activities started, as "Complete m1 1"
}

// setup returns a session that is still to be given its script.
func setup(t *testing.T) *bench {
	b := &bench{t: t, channel: channeltest.NewMemory("memory"), limits: protocol.NewLimits(10, 0), timeout: time.Hour}
	var err error
	b.store, err = store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.store.Close()) })
	return b
}

// script starts a model that does these steps in order, and makes the first run's
// environment. A step is made when its request comes, so it may do something
// first. A request after the last step is refused for good.
func (b *bench) script(script ...func() llmtest.Step) {
	b.model = llmtest.NewFunc(b.t, func(r llmtest.Request) llmtest.Step {
		if r.Number > len(script) {
			return llmtest.Refuse(400, "script_over", "the script has no more steps")
		}
		return script[r.Number-1]()
	})
	client, err := openai.New(openai.Options{Service: "scripted", BaseURL: b.model.URL})
	require.NoError(b.t, err)
	b.t.Cleanup(client.Close)
	approvals, err := config.Approvals{Rules: b.rules, Timeout: b.timeout}.Policy()
	require.NoError(b.t, err)
	b.agent, err = activities.NewAgent(activities.AgentOptions{
		Store: b.store, Events: event.NewLocal(), Workspace: b.t.TempDir(), Tools: activities.ToolOptions{Agent: tools(b.t)},
		Model: activities.ModelOptions{
			Model: activities.Model{Provider: client, Service: "scripted", Name: "model"}, MaxTokens: 100, Window: 100,
		},
		Approvals: activities.ApprovalOptions{Policy: approvals, Decided: func(_ context.Context, _ string, d protocol.ApprovalDecision) error {
			b.env.SignalWorkflow(protocol.ApprovalSignal, d)
			return nil
		}},
	})
	require.NoError(b.t, err)
	b.reopen()
}

// tools are look, which changes nothing, and poke, which may.
func tools(t *testing.T) *tool.Registry {
	var registry tool.Registry
	for _, name := range []string{"look", "poke"} {
		made := tool.New(name, "Does it.", tool.Repeatable, func(context.Context, tool.Call, struct{}) (tool.Result, error) {
			return tool.Result{Text: "done: " + name}, nil
		})
		require.NoError(t, made.Err())
		made.ReadOnly = name == "look"
		require.NoError(t, registry.Register(made))
	}
	return &registry
}

// reopen makes a new environment: that of the next run.
func (b *bench) reopen() {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	b.env = suite.NewTestWorkflowEnvironment()
	b.env.SetTestTimeout(patience)
	// As with SignalWithStart, the first task has the first signal.
	b.env.RegisterWorkflowWithOptions(func(ctx workflow.Context, input protocol.SessionInput) error {
		inbox := workflow.GetSignalChannel(ctx, protocol.MessageSignal)
		if input.State.Turn == nil && len(input.State.Queue) == 0 {
			if err := workflow.Await(ctx, func() bool { return inbox.Len() > 0 }); err != nil {
				return err
			}
		}
		return workflows.Session(ctx, input)
	}, workflow.RegisterOptions{Name: protocol.SessionWorkflow})
	b.env.RegisterActivity(b.agent)
	b.env.RegisterActivityWithOptions(activities.NewOutbox(b.store, b.channel, b.t.TempDir()).Deliver,
		activity.RegisterOptions{Name: protocol.DeliverActivity})
	b.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.calls = append(b.calls, describe(info.ActivityType.Name, args))
	})
}

// describe names an activity by what it is about.
func describe(name string, args converter.EncodedValues) string {
	var in struct {
		Turn, Message, Outbox string
		Step                  int
	}
	if err := args.Get(&in); err != nil {
		return err.Error()
	}
	about := strings.TrimSpace(in.Turn + in.Message + in.Outbox)
	if in.Step > 0 {
		about += fmt.Sprintf(" %d", in.Step)
	}
	return name + " " + about
}

// run runs a new session to its end. All the messages are there when it starts.
func (b *bench) run(messages ...protocol.MessageRef) error {
	b.t.Helper()
	return b.resume(protocol.SessionInput{Session: ref, Model: "scripted/model", Limits: b.limits}, messages...)
}

// resume runs a session to its end.
func (b *bench) resume(input protocol.SessionInput, messages ...protocol.MessageRef) error {
	b.t.Helper()
	for _, m := range messages {
		b.accept(m)
	}
	if len(messages) > 0 {
		b.env.RegisterDelayedCallback(func() { b.signal(messages...) }, 0)
	}
	b.env.ExecuteWorkflow(protocol.SessionWorkflow, input)
	require.True(b.t, b.env.IsWorkflowCompleted())
	require.Empty(b.t, b.model.Invalid())
	return b.env.GetWorkflowError()
}

// send accepts messages and signals them, all within one workflow task.
func (b *bench) send(messages ...protocol.MessageRef) {
	for _, m := range messages {
		b.accept(m)
	}
	b.signal(messages...)
}

func (b *bench) signal(messages ...protocol.MessageRef) {
	for i, m := range messages {
		if in, err := b.store.Inbound(context.Background(), m.ID); err == nil {
			m.Seq = in.Seq
		}
		if i < len(messages)-1 {
			b.env.SignalWorkflowSkippingWorkflowTask(protocol.MessageSignal, m)
		} else {
			b.env.SignalWorkflow(protocol.MessageSignal, m)
		}
	}
}

// suggest has the engine suggest that the run should continue as new.
func (b *bench) suggest() {
	b.env.RegisterDelayedCallback(func() { b.env.SetContinueAsNewSuggested(true) }, 0)
}

func (b *bench) accept(m protocol.MessageRef) {
	_, _, err := b.store.Accept(context.Background(), domain.Inbound{
		ID: m.ID, Session: ref.Key, Channel: ref.Channel, Chat: "c1", Sender: m.Sender, Text: "text of " + m.ID,
		Command: m.Command, Queue: !m.Join, Push: true,
	})
	if err != nil {
		b.t.Errorf("accept %s: %v", m.ID, err)
	}
}

// continued is the input of the run that a session went on as.
func (b *bench) continued(err error) protocol.SessionInput {
	b.t.Helper()
	var next *workflow.ContinueAsNewError
	require.ErrorAs(b.t, err, &next)
	var input protocol.SessionInput
	require.NoError(b.t, converter.GetDefaultDataConverter().FromPayloads(next.Input, &input))
	return input
}

// turn is a turn as it is stored.
func (b *bench) turn(id string) domain.Turn {
	b.t.Helper()
	turn, err := b.store.Turn(b.t.Context(), id)
	require.NoError(b.t, err, id)
	return turn
}

// consumed lists which turn has which message, as "m2 in m1".
func (b *bench) consumed(ids ...string) []string {
	b.t.Helper()
	var list []string
	for _, id := range ids {
		inbound, err := b.store.Inbound(b.t.Context(), id)
		require.NoError(b.t, err)
		list = append(list, id+" in "+inbound.Turn)
	}
	return list
}

// posted lists the texts that were posted, in order.
func (b *bench) posted() []string {
	var texts []string
	for _, m := range b.channel.Posted() {
		texts = append(texts, m.Text)
	}
	return texts
}

// started lists the activities of these types, in order; none: all.
func (b *bench) started(names ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.calls), func(call string) bool {
		name, _, _ := strings.Cut(call, " ")
		return len(names) > 0 && !slices.Contains(names, name)
	})
}

// users lists the user messages of the current transcript, in order.
func (b *bench) users() []string {
	b.t.Helper()
	rows, err := b.store.Transcript(b.t.Context(), ref.Key, -1, 0)
	require.NoError(b.t, err)
	var list []string
	for _, row := range rows {
		if row.Role == domain.RoleUser {
			list = append(list, row.Source)
		}
	}
	return list
}

// onStarted does something when an activity of this type starts for the first time.
func onStarted(name string, do func()) func(*activity.Info, context.Context, converter.EncodedValues) {
	once := sync.OnceFunc(do)
	return func(info *activity.Info, _ context.Context, _ converter.EncodedValues) {
		if info.ActivityType.Name == name {
			once()
		}
	}
}

// onCompleted does something when an activity of this type is done.
func onCompleted(name string, do func()) func(*activity.Info, converter.EncodedValue, error) {
	return func(info *activity.Info, _ converter.EncodedValue, _ error) {
		if info.ActivityType.Name == name {
			do()
		}
	}
}
