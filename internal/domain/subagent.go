package domain

import "time"

// Subagent is a task that a turn handed to another agent.
type Subagent struct {
	ID         string // key of the call that spawned it
	Session    string // its own
	Parent     string // session that receives its report
	Label      string
	Task       string
	Status     SubagentStatus
	Report     string // once ended
	CreatedAt  time.Time
	EndedAt    time.Time // zero while running
	Route      Route     // of the turn that spawned it
	SenderName string    // who asked for that turn
}

// SubagentStatus is the state of a subagent.
type SubagentStatus string

// The statuses of a subagent.
const (
	SubagentRunning SubagentStatus = "running"
	SubagentDone    SubagentStatus = "done"
	SubagentFailed  SubagentStatus = "failed"
	SubagentStopped SubagentStatus = "stopped" // by a user; its report is discarded
)
