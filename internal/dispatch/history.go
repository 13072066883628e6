package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/converter"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Step is an event of a run's history, or an activity with all its events.
type Step struct {
	At       time.Time
	Took     time.Duration // 0: unknown
	What     string
	Title    string
	Note     string
	activity string // its ID, for activities
	turn     string // of model calls
}

// History is a run's history, without the events that only concern Temporal.
type History struct {
	Steps     []Step
	scheduled map[int64]int                      // index of each activity's step, by the ID of the event that scheduled it
	turns     map[string]protocol.CompleteResult // the last result of each turn, which has the turn's totals
}

// History reads a run's history so far.
func (c *Client) History(ctx context.Context, run Run) (History, error) {
	h := History{scheduled: map[int64]int{}, turns: map[string]protocol.CompleteResult{}}
	events := c.sdk.GetWorkflowHistory(ctx, run.WorkflowID, run.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return History{}, fmt.Errorf("read the history of %s: %w", run.WorkflowID, err)
		}
		h.add(event)
	}
	// Signals that arrive during a workflow task are recorded after it.
	slices.SortStableFunc(h.Steps, func(a, b Step) int { return a.At.Compare(b.At) })
	return h, nil
}

// Spent sums up the turns of the run: tokens, cost in millionths of a US dollar, and
// the number of model calls without a known price.
func (h History) Spent() (tokens int, cost int64, unpriced int) {
	for _, last := range h.turns {
		tokens += last.Usage.Tokens()
		cost += last.Cost
		unpriced += last.Unpriced
	}
	return tokens, cost, unpriced
}

// Title returns the title of an activity.
func (h History) Title(activity string) string {
	for _, s := range h.Steps {
		if s.activity == activity && activity != "" {
			return s.Title
		}
	}
	return ""
}

func (h *History) add(event *historypb.HistoryEvent) {
	at := event.EventTime.AsTime()
	switch event.EventType {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		h.note(at, "started", event.GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName(), "")
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		signal := event.GetWorkflowExecutionSignaledEventAttributes()
		h.note(at, "signal", signal.SignalName, signalNote(signal))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		h.scheduled[event.EventId] = len(h.Steps)
		h.Steps = append(h.Steps, Step{
			At: at, What: scheduled.ActivityType.GetName(), Title: decode[string](payloads(event.UserMetadata.GetSummary())),
			activity: scheduled.ActivityId, turn: decode[protocol.CompleteInput](scheduled.Input).Turn,
		})
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
		started := event.GetActivityTaskStartedEventAttributes()
		if started.Attempt > 1 {
			h.end(started.ScheduledEventId, time.Time{}, fmt.Sprintf("attempt %d", started.Attempt))
		}
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
		completed := event.GetActivityTaskCompletedEventAttributes()
		h.end(completed.ScheduledEventId, at, h.resultNote(completed))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED:
		failed := event.GetActivityTaskFailedEventAttributes()
		h.end(failed.ScheduledEventId, at, "failed: "+failureText(failed.Failure))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_TIMED_OUT:
		timedOut := event.GetActivityTaskTimedOutEventAttributes()
		h.end(timedOut.ScheduledEventId, at, "timed out: "+failureText(timedOut.Failure))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_CANCELED:
		h.end(event.GetActivityTaskCanceledEventAttributes().ScheduledEventId, at, "cancelled")
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED:
		failed := event.GetWorkflowTaskFailedEventAttributes()
		h.note(at, "workflow task failed", failed.Cause.String(), failureText(failed.Failure))
	case enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT:
		h.note(at, "workflow task timed out", "", "its worker was lost")
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED:
		h.note(at, "failed", "", failureText(event.GetWorkflowExecutionFailedEventAttributes().Failure))
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED:
		h.note(at, "terminated", "", event.GetWorkflowExecutionTerminatedEventAttributes().Reason)
	default:
		if what := plainEvents()[event.EventType]; what != "" {
			h.note(at, what, "", "")
		}
	}
}

// plainEvents are events without attributes worth showing.
func plainEvents() map[enumspb.EventType]string {
	return map[enumspb.EventType]string{
		enumspb.EVENT_TYPE_TIMER_STARTED:                       "timer started",
		enumspb.EVENT_TYPE_TIMER_FIRED:                         "timer fired",
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: "stop requested",
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED:        "completed",
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED:         "cancelled",
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT:        "timed out",
		enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW: "continued as new",
	}
}

func (h *History) note(at time.Time, what, title, note string) {
	h.Steps = append(h.Steps, Step{At: at, What: what, Title: title, Note: note})
}

// end adds a note to an activity, and its duration unless at is zero.
func (h *History) end(scheduled int64, at time.Time, note string) {
	i, found := h.scheduled[scheduled]
	if !found {
		return
	}
	s := &h.Steps[i]
	if !at.IsZero() {
		s.Took = max(at.Sub(s.At), time.Millisecond)
	}
	s.Note = strings.Trim(s.Note+"; "+note, "; ")
}

func signalNote(signal *historypb.WorkflowExecutionSignaledEventAttributes) string {
	if signal.SignalName == protocol.ApprovalSignal {
		d := decode[protocol.ApprovalDecision](signal.Input)
		return fmt.Sprintf("%s %s by %s, from %s", d.Approval, d.Status, d.By, d.From)
	}
	m := decode[protocol.MessageRef](signal.Input)
	if m.Command != domain.CommandNone {
		return "/" + string(m.Command)
	}
	return m.Preview
}

// resultNote is an activity's result as people read it.
func (h *History) resultNote(completed *historypb.ActivityTaskCompletedEventAttributes) string {
	var scheduled Step
	if i, found := h.scheduled[completed.ScheduledEventId]; found {
		scheduled = h.Steps[i]
	}
	switch scheduled.What {
	case protocol.CompleteActivity:
		result := decode[protocol.CompleteResult](completed.Result)
		if result.Answered {
			return "answered before"
		}
		h.turns[scheduled.turn] = result
		parts := []string{result.Preview}
		for _, call := range result.Calls {
			parts = append(parts, "→", call.Name)
		}
		return strings.Join(parts, " ")
	case protocol.CallToolActivity:
		result := decode[protocol.CallToolResult](completed.Result)
		switch {
		case result.Approval != nil:
			return "needs approval " + result.Approval.ID
		case result.Failed:
			return "failed: " + result.Preview
		}
		return result.Preview
	case protocol.DeliverActivity:
		switch result := decode[protocol.DeliverResult](completed.Result); {
		case result.Gone:
			return "could not be delivered"
		case result.Kept:
			return "kept until the chat's next message"
		}
	}
	return ""
}

func payloads(payload *commonpb.Payload) *commonpb.Payloads {
	if payload == nil {
		return nil
	}
	return &commonpb.Payloads{Payloads: []*commonpb.Payload{payload}}
}

// decode reads a value from payloads; an unreadable one is the zero value.
func decode[T any](input *commonpb.Payloads) (value T) {
	if len(input.GetPayloads()) > 0 {
		_ = converter.GetDefaultDataConverter().FromPayloads(input, &value)
	}
	return value
}

// failureText is a failure's message with those of its causes.
func failureText(failure *failurepb.Failure) string {
	text := failure.GetMessage()
	if cause := failure.GetCause(); cause != nil {
		text += ": " + failureText(cause)
	}
	return text
}
