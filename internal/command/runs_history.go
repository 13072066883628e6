package command

import (
	"fmt"
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

// add takes in an event. Those that only say how Temporal goes about it, as
// workflow tasks that went well, are left out.
func (h *history) add(event *historypb.HistoryEvent) {
	at := event.EventTime.AsTime()
	switch event.EventType {
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED:
		h.note(at, "started", event.GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName(), "")
	case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED:
		signal := event.GetWorkflowExecutionSignaledEventAttributes()
		h.note(at, "signal", signal.SignalName, signalNote(signal.Input))
	case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
		scheduled := event.GetActivityTaskScheduledEventAttributes()
		h.scheduled[event.EventId] = len(h.steps)
		h.steps = append(h.steps, step{
			at: at, what: scheduled.ActivityType.GetName(), title: oneLine(decode[string](payloads(event.UserMetadata.GetSummary())), lineLimit),
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

// plainEvents are those of which only that they happened is shown.
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

func (h *history) note(at time.Time, what, title, note string) {
	h.steps = append(h.steps, step{at: at, what: what, title: oneLine(title, lineLimit), note: oneLine(note, lineLimit)})
}

// end adds to an activity what became of it; at is zero while it runs.
func (h *history) end(scheduled int64, at time.Time, note string) {
	i, found := h.scheduled[scheduled]
	if !found {
		return
	}
	s := &h.steps[i]
	if !at.IsZero() {
		s.took = max(at.Sub(s.at), time.Millisecond)
	}
	parts := []string{s.note, oneLine(note, lineLimit)}
	s.note = strings.Trim(strings.Join(parts, "; "), "; ")
}

func signalNote(input *commonpb.Payloads) string {
	m := decode[protocol.MessageRef](input)
	if m.Command != domain.CommandNone {
		return "/" + string(m.Command)
	}
	return m.Preview
}

// resultNote is what an activity's result says to a person.
func (h *history) resultNote(completed *historypb.ActivityTaskCompletedEventAttributes) string {
	var scheduled step
	if i, found := h.scheduled[completed.ScheduledEventId]; found {
		scheduled = h.steps[i]
	}
	switch scheduled.what {
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
		if result.Failed {
			return "failed: " + result.Preview
		}
		return result.Preview
	case protocol.DeliverActivity:
		if decode[protocol.DeliverResult](completed.Result).Gone {
			return "could not be delivered"
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

// decode reads a value out of payloads; what cannot be read is the zero value.
func decode[T any](input *commonpb.Payloads) (value T) {
	if len(input.GetPayloads()) > 0 {
		_ = converter.GetDefaultDataConverter().FromPayloads(input, &value)
	}
	return value
}

// failureText is what a failure says, with its cause.
func failureText(failure *failurepb.Failure) string {
	text := failure.GetMessage()
	if cause := failure.GetCause(); cause != nil {
		text += ": " + failureText(cause)
	}
	return text
}
