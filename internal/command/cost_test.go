package command

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// cost is the size of a run's history.
type cost struct {
	events, activities, bytes, payload int
}

func (c cost) String() string {
	return fmt.Sprintf("%d events, %d activities, %d bytes, largest payload %d", c.events, c.activities, c.bytes, c.payload)
}

// closedCost waits until the session's latest run has closed and counts it.
func (n *testNode) closedCost(t testing.TB, session string) cost {
	t.Helper()
	awaitRest(t, n.client, session)
	var c cost
	history := n.client.GetWorkflowHistory(t.Context(), protocol.Names{}.Session(session), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for history.HasNext() {
		event, err := history.Next()
		require.NoError(t, err)
		c.events++
		c.bytes += event.Size()
		c.payload = max(c.payload, largestPayload(event))
		if event.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED {
			c.activities++
		}
	}
	return c
}

// largestPayload returns the size of the largest payload of an event.
func largestPayload(event *historypb.HistoryEvent) int {
	largest := 0
	for _, payloads := range []interface{ Size() int }{
		event.GetActivityTaskScheduledEventAttributes().GetInput(),
		event.GetActivityTaskCompletedEventAttributes().GetResult(),
		event.GetWorkflowExecutionSignaledEventAttributes().GetInput(),
		event.GetWorkflowExecutionStartedEventAttributes().GetInput(),
	} {
		largest = max(largest, payloads.Size())
	}
	return largest
}

func TestCosts(t *testing.T) {
	t.Parallel()
	call := llmtest.Call{Name: "exec", Arguments: `{"command":"true"}`}

	tests := []struct {
		name               string
		push               bool
		script             []llmtest.Step
		events, activities int
	}{
		{"a plain reply over http", false, []llmtest.Step{llmtest.Text("a")}, 12, 1},
		{"a tool round over http", false, []llmtest.Step{llmtest.Calls(call), llmtest.Text("a")}, 24, 3},
		{"a plain reply over a push channel", true, []llmtest.Step{llmtest.Text("a")}, 12, 1},
		{"a tool round over a push channel", true, []llmtest.Step{llmtest.Calls(call), llmtest.Text("a")}, 24, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewServer(t, tt.script...)
			memory := channeltest.NewMemory("memory")
			n := startNode(t, model.URL, func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
			session := "http:main"
			if tt.push {
				session = "memory:main"
				require.NoError(t, memory.Deliver(t.Context(), domain.Inbound{PlatformID: "1", Chat: "main", Sender: "ana", Text: "hi", Push: true}))
			} else {
				n.ask(t, "main", "hi")
			}
			c := n.closedCost(t, session)
			t.Log(c)
			require.LessOrEqual(t, c.events, tt.events)
			require.LessOrEqual(t, c.activities, tt.activities)
			require.Less(t, c.payload, protocol.PayloadLimit)
		})
	}
}

func TestHistorySize(t *testing.T) {
	t.Parallel()

	t.Run("the 200th message costs what the second did", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Text("an answer of some length") })
		n := startNode(t, model.URL)
		var second, last cost
		for i := 1; i <= 200; i++ {
			n.ask(t, "main", "a message of some length")
			switch i {
			case 2:
				second = n.closedCost(t, "http:main")
			case 200:
				last = n.closedCost(t, "http:main")
			default:
				awaitRest(t, n.client, "http:main")
			}
		}
		t.Log("second:", second, "last:", last)
		require.InEpsilon(t, second.bytes, last.bytes, 0.05)
		require.Empty(t, model.Invalid())
	})

	t.Run("the size of a tool's output does not matter", func(t *testing.T) {
		t.Parallel()
		var costs []cost
		for _, size := range []int{5_000, 5_000_000} {
			model := llmtest.NewServer(t,
				llmtest.Calls(llmtest.Call{Name: "exec", Arguments: fmt.Sprintf(`{"command":"head -c %07d /dev/zero | tr '\\0' x"}`, size)}),
				llmtest.Text("done"))
			n := startNode(t, model.URL)
			require.Equal(t, "done", n.ask(t, "main", "make much output").Text)
			shown := model.Requests()[1].Results()[0]
			require.Contains(t, shown, strings.Repeat("x", 4000))
			require.Less(t, len(shown), 17_000)
			costs = append(costs, n.closedCost(t, "http:main"))
		}
		t.Log(costs)
		require.InEpsilon(t, costs[0].bytes, costs[1].bytes, 0.05)
	})
}
