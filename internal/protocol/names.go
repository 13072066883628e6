package protocol

import (
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Names are what a deployment calls its task queues, workflows and schedules. All begin
// with the deployment's prefix, so that several deployments can share a namespace. The
// zero value has no prefix.
type Names struct{ prefix string }

// NewNames returns the names of the deployment with that prefix (temporal.prefix), which
// may be empty.
func NewNames(prefix string) Names {
	if prefix != "" {
		prefix += "/"
	}
	return Names{prefix}
}

// NamesOf returns the names of the deployment whose agent queue that is.
func NamesOf(agentQueue string) Names {
	prefix, _ := strings.CutSuffix(agentQueue, agentQueueName)
	return Names{prefix}
}

const (
	agentQueueName   = "agent"
	controlQueueName = "control"
	toolsQueueName   = "tools"
	execPrefix       = "exec/"    // before a place
	outboxPrefix     = "outbox/"  // before a channel's name
	sessionPrefix    = "session/" // before a session's key
)

// AgentQueue returns the task queue of the workflows and their model calls. They share
// it because the server hands a workflow task's activity over with the task only on the
// same queue, which saves a transaction for each message.
func (n Names) AgentQueue() string { return n.prefix + agentQueueName }

// ControlQueue returns the task queue of the short activities: commands, ends of turns,
// reports, jobs.
func (n Names) ControlQueue() string { return n.prefix + controlQueueName }

// ToolsQueue returns the task queue of tool calls.
func (n Names) ToolsQueue() string { return n.prefix + toolsQueueName }

// ExecQueue returns the task queue of what concerns the commands at a place.
func (n Names) ExecQueue(place string) string { return n.prefix + execPrefix + place }

// OutboxQueue returns the task queue of a channel's deliveries.
func (n Names) OutboxQueue(channel string) string { return n.prefix + outboxPrefix + channel }

// Deployment returns the name of the Worker Deployment that the settings call name.
func (n Names) Deployment(name string) string { return strings.ReplaceAll(n.prefix, "/", "-") + name }

// Session returns the ID of a session's workflow. At most one run with it is open.
func (n Names) Session(key string) string {
	if id, is := domain.SubagentOf(key); is {
		return n.prefix + domain.SubagentChannel + "/" + id
	}
	return n.prefix + sessionPrefix + key
}

// SessionOf returns the key of the session whose workflow has that ID.
func (n Names) SessionOf(workflowID string) (key string, is bool) {
	if name, ours := strings.CutPrefix(workflowID, n.prefix); ours {
		if id, is := strings.CutPrefix(name, domain.SubagentChannel+"/"); is {
			return domain.SubagentSession(id), true
		}
		return strings.CutPrefix(name, sessionPrefix)
	}
	return "", false
}

// Consolidation returns the ID of the workflow that consolidates a memory scope or,
// without a scope, that looks for scopes to consolidate.
func (n Names) Consolidation(scope string) string {
	if scope == "" {
		return n.prefix + "consolidation"
	}
	return n.prefix + "consolidation/" + scope
}

// ConsolidationSchedule returns the ID of the schedule that consolidates the memory of
// sessions that have become idle.
func (n Names) ConsolidationSchedule() string { return n.prefix + "memory" }

// Job returns the ID of a job's schedule. Its runs have the same ID followed by their
// time.
func (n Names) Job(job string) string {
	if job == domain.Heartbeat {
		return n.prefix + job
	}
	return n.prefix + domain.JobChannel + "/" + job
}
