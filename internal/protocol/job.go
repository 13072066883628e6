package protocol

import (
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// What jobs are named by.
const (
	JobWorkflow  = "Job"
	FireActivity = "Fire"
)

// JobWorkflowID returns the ID of a job's schedule. Its runs have the same ID followed
// by their time.
func JobWorkflowID(job string) string {
	if job == domain.Heartbeat {
		return job
	}
	return domain.JobChannel + "/" + job
}

// JobInput starts a run of a job.
type JobInput struct {
	ID string `json:"id"`
}

// FireInput asks to send a job's message to its session.
type FireInput struct {
	Job string    `json:"job"`
	Due time.Time `json:"due"` // when it was to fire
}

// FireResult is the result of firing a job.
type FireResult struct {
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
	Skipped string `json:"skipped,omitempty"` // why nothing was done
}
