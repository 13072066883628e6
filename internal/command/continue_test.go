package command

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// longPatience bounds the wait for hundreds of steps.
	longPatience = 8 * time.Minute
)

// historyLimit is when the engine suggests to continue as new: as in production with
// HOLDFAST_TEST_LONG, and otherwise earlier, so that fewer steps and turns suffice.
var historyLimit = func() int {
	if os.Getenv("HOLDFAST_TEST_LONG") != "" {
		return 4096
	}
	return 1024
}()

// runLimit bounds the events of one run: pending work completes first.
var runLimit = historyLimit + 500

// shortHistories sets historyLimit.
func shortHistories(_ *config.Config, r *node.Roles) { r.HistoryLimit = historyLimit }

// TestLongTurn is one turn of 110 steps, or 440 at the limit of production. Shortly before
// it continues as new a storm of messages begins that lasts until after that: those of the turn's
// sender join the turn, the others wait.
func TestLongTurn(t *testing.T) {
	t.Parallel()
	const (
		storm      = 100 // messages of each sender
		perRequest = 8   // messages sent during one step
	)
	steps, stormAt := historyLimit*110/1024, (historyLimit-184)/12 // a step has 12 events
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		switch {
		case r.Number <= steps:
			return llmtest.Calls(llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`})
		case r.Number == steps+1:
			return llmtest.Text("the end")
		default:
			return llmtest.Text("an answer")
		}
	})
	n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) { c.Agent.MaxIterations = 2 * steps }, shortHistories)
	ctx, cancel := context.WithTimeout(t.Context(), longPatience)
	defer cancel()
	n.accept(ctx, t, "ana", "first")

	// Ana's come first, as they must not wait behind Bob's.
	for i := range 2 * storm {
		require.NoError(t, model.Await(ctx, stormAt+i/perRequest))
		sender := "ana"
		if i >= storm {
			sender = "bob"
		}
		n.accept(ctx, t, sender, fmt.Sprintf("%s-%03d", sender, i%storm))
	}
	first := n.awaitLong(ctx, t, "first")
	require.Equal(t, "the end", first.Text)
	for i := range storm {
		n.awaitLong(ctx, t, fmt.Sprintf("ana-%03d", i))
		n.awaitLong(ctx, t, fmt.Sprintf("bob-%03d", i))
	}
	n.closedCost(t, "http:main")
	require.Empty(t, model.Invalid())

	t.Run("it continues as new in the middle, and no run grows long", func(t *testing.T) {
		runs := n.chain(t, "http:main")
		require.Greater(t, len(runs), 1)
		for i, run := range runs {
			var signals int
			for _, event := range run {
				if event.EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
					signals++
				}
			}
			t.Logf("run %d: %d events, %d bytes, %d signals", i+1, len(run), size(run), signals)
			require.Less(t, len(run), runLimit)
			require.Greater(t, signals, 1, "the storm lasts into this run")
		}
		carried := runs[1][0].GetWorkflowExecutionStartedEventAttributes().Input
		require.Contains(t, string(carried.Payloads[0].Data), `"step"`)
		require.Less(t, carried.Size(), 64<<10)
	})

	t.Run("no model call is made twice, and each prompt begins with the one before", func(t *testing.T) {
		turn, err := n.store.Turn(t.Context(), domain.MessageID("http", "", "first"))
		require.NoError(t, err)
		require.Equal(t, steps+1, turn.Steps)
		turns, err := n.store.Turns(t.Context(), "http:main", 3*storm)
		require.NoError(t, err)
		require.Equal(t, steps+len(turns), answers(model))
		requests := model.Requests()[:steps+1]
		for i := 1; i < len(requests); i++ {
			before, after := requests[i-1].Messages, requests[i].Messages
			require.Greater(t, len(after), len(before))
			require.Equal(t, before, after[:len(before)], "request %d", i+1)
		}
	})

	t.Run("every message is consumed once, in the order in which it was accepted", func(t *testing.T) {
		told := n.told(t)
		require.Len(t, told, 1+2*storm)
		for i, m := range told[1:] {
			sender := "ana"
			if i >= storm {
				sender = "bob"
			}
			require.Equal(t, domain.MessageID("http", "", fmt.Sprintf("%s-%03d", sender, i%storm)), m.ID)
		}
		took := n.took(t)
		require.Equal(t, bySender(told), took)
		for _, id := range took["ana"] {
			require.Equal(t, took["ana"][0], n.consumer(t, id), "it joined")
		}
		for _, id := range took["bob"] {
			require.NotEqual(t, took["ana"][0], n.consumer(t, id), "it waited")
		}
	})

	t.Run("its histories replay", func(t *testing.T) { n.replay(t, "http:main", "continued-turn") })
}

// TestManyTurns keeps a session busy, with always one more message waiting, until
// it continues as new between two turns.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	const ahead = 40 // waiting messages
	turns := historyLimit * 170 / 1024
	model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Text("an answer") })
	n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) { c.Agent.MidTurn = config.MidTurnQueue }, shortHistories)
	ctx, cancel := context.WithTimeout(t.Context(), longPatience)
	defer cancel()
	for i := range turns {
		require.NoError(t, model.Await(ctx, i-ahead))
		n.accept(ctx, t, "ana", fmt.Sprintf("ana-%03d", i))
	}
	for i := range turns {
		n.awaitLong(ctx, t, fmt.Sprintf("ana-%03d", i))
	}
	n.closedCost(t, "http:main")
	require.Equal(t, turns, answers(model))
	require.Empty(t, model.Invalid())

	took := n.took(t)
	require.Len(t, took["ana"], turns)
	require.Equal(t, bySender(n.told(t)), took)

	runs := n.chain(t, "http:main")
	require.Greater(t, len(runs), 1)
	// What a turn writes, early and late. Signals and the workflow tasks for them are
	// left out: their number in a part of the history depends on the machine.
	run := runs[0]
	require.Less(t, len(run), runLimit)
	early, late := run[len(run)/10:2*len(run)/10], run[8*len(run)/10:9*len(run)/10]
	perTurn := func(events []*historypb.HistoryEvent) float64 {
		var scheduled, completed []*historypb.HistoryEvent
		for _, event := range events {
			if event.GetActivityTaskScheduledEventAttributes() != nil {
				scheduled = append(scheduled, event)
			} else if event.GetActivityTaskCompletedEventAttributes() != nil {
				completed = append(completed, event)
			}
		}
		return float64(size(scheduled))/float64(len(scheduled)) + float64(size(completed))/float64(len(completed))
	}
	t.Logf("%d runs; %d events, %d bytes; per turn %.0f bytes early, %.0f late", len(runs), len(run), size(run), perTurn(early), perTurn(late))
	require.InEpsilon(t, perTurn(early), perTurn(late), 0.05)
}

// accept accepts a message with its text as ID.
func (n *testNode) accept(ctx context.Context, t testing.TB, sender, text string) {
	t.Helper()
	_, err := n.starter.Accept(ctx, domain.Inbound{Channel: "http", PlatformID: text, Chat: "main", Sender: sender, Text: text})
	require.NoError(t, err)
}

// awaitLong waits for the answer to a message until ctx ends.
func (n *testNode) awaitLong(ctx context.Context, t testing.TB, text string) domain.Reply {
	t.Helper()
	id := domain.MessageID("http", "", text)
	require.NoError(t, n.starter.Watch(ctx, id, func(event.Event) {}))
	state, err := n.starter.Message(ctx, id)
	require.NoError(t, err)
	require.Equal(t, domain.ReplyDone, state.Status)
	return state
}

// consumer returns the turn that consumed a message.
func (n *testNode) consumer(t testing.TB, id string) string {
	t.Helper()
	inbound, err := n.store.Inbound(t.Context(), id)
	require.NoError(t, err)
	return inbound.Turn
}

// took returns the messages of each sender in the transcript, in order.
func (n *testNode) took(t testing.TB) map[string][]string {
	t.Helper()
	transcript, err := n.store.Transcript(t.Context(), "http:main", -1, 0)
	require.NoError(t, err)
	took := map[string][]string{}
	for _, m := range transcript {
		if m.Role == domain.RoleUser {
			took[m.Sender] = append(took[m.Sender], m.Source)
		}
	}
	return took
}

// told returns the messages signalled to the session, in order. A signal that is rejected, as
// while the session continues as new on a busy machine, comes later than those
// of the messages after it.
func (n *testNode) told(t testing.TB) []protocol.MessageRef {
	t.Helper()
	var told []protocol.MessageRef
	seen := map[string]bool{}
	for _, run := range n.chain(t, "http:main") {
		for _, event := range run {
			signal := event.GetWorkflowExecutionSignaledEventAttributes()
			if signal == nil {
				continue
			}
			var m protocol.MessageRef
			require.NoError(t, converter.GetDefaultDataConverter().FromPayloads(signal.Input, &m))
			if !seen[m.ID] {
				told = append(told, m)
			}
			seen[m.ID] = true
		}
	}
	return told
}

func bySender(messages []protocol.MessageRef) map[string][]string {
	ids := map[string][]string{}
	for _, m := range messages {
		ids[m.Sender] = append(ids[m.Sender], m.ID)
	}
	return ids
}

// chain returns the histories of a session's latest run and of the runs that continued as
// it, oldest first.
func (n *testNode) chain(t testing.TB, session string) [][]*historypb.HistoryEvent {
	t.Helper()
	id := protocol.Names{}.Session(session)
	latest := n.history(t, id, "")
	run := latest[0].GetWorkflowExecutionStartedEventAttributes().FirstExecutionRunId
	var runs [][]*historypb.HistoryEvent
	for range 10 {
		events := n.history(t, id, run)
		runs = append(runs, events)
		run = events[len(events)-1].GetWorkflowExecutionContinuedAsNewEventAttributes().GetNewExecutionRunId()
		if run == "" {
			return runs
		}
	}
	t.Fatal("the chain of runs is too long")
	return nil
}

func (n *testNode) history(t testing.TB, id, run string) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	history := n.client.GetWorkflowHistory(t.Context(), id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

func size(events []*historypb.HistoryEvent) int {
	total := 0
	for _, event := range events {
		total += event.Size()
	}
	return total
}
