package dispatch

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// taskTimeout is when a workflow task whose worker died is given to another worker.
	taskTimeout = 5 * time.Second
	// signalTimeout bounds one signal. It is generous: cancelling a call that a busy
	// server is about to execute only repeats the work.
	signalTimeout = 10 * time.Second
	// summaryLimit bounds, in bytes, the title of a run in the UI, and previewLimit the
	// part of a message in it.
	summaryLimit = 240
	previewLimit = 120
	// attributeLimit bounds, in bytes, the value of a search attribute.
	attributeLimit = 255
)

// startOptions are the options of every workflow that is started here.
func (c *Client) startOptions(id, summary string, p temporal.Priority, attributes temporal.SearchAttributes) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: id, TaskQueue: c.names.AgentQueue(), WorkflowTaskTimeout: taskTimeout,
		StaticSummary: text.Cut(summary, summaryLimit), TypedSearchAttributes: attributes, Priority: p,
	}
}

// scheduleAction is startOptions for workflows that a schedule starts.
func scheduleAction(o client.StartWorkflowOptions, workflow string, input any) *client.ScheduleWorkflowAction {
	return &client.ScheduleWorkflowAction{
		ID: o.ID, Workflow: workflow, Args: []any{input}, TaskQueue: o.TaskQueue, WorkflowTaskTimeout: o.WorkflowTaskTimeout,
		StaticSummary: o.StaticSummary, TypedSearchAttributes: o.TypedSearchAttributes, Priority: o.Priority,
	}
}

var (
	channelAttribute = temporal.NewSearchAttributeKeyKeyword(protocol.SearchChannel)
	sessionAttribute = temporal.NewSearchAttributeKeyKeyword(protocol.SearchSession)
	senderAttribute  = temporal.NewSearchAttributeKeyKeyword(protocol.SearchSender)
)

// searchAttributes are set on the workflows of a session. Empty ones are left out.
func searchAttributes(channel, session, sender string) temporal.SearchAttributes {
	var set []temporal.SearchAttributeUpdate
	for _, a := range []struct {
		key   temporal.SearchAttributeKeyKeyword
		value string
	}{{channelAttribute, channel}, {sessionAttribute, session}, {senderAttribute, sender}} {
		if a.value != "" {
			set = append(set, a.key.ValueSet(text.Cut(a.value, attributeLimit)))
		}
	}
	return temporal.NewSearchAttributes(set...)
}
