package protocol

import "time"

// What jobs are named by.
const (
	JobWorkflow  = "Job"
	FireActivity = "Fire"
)

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
