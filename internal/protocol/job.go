package protocol

import (
	"strings"
	"time"
)

// What jobs are named by.
const (
	JobWorkflow  = "Job"
	FireActivity = "Fire"

	// JobChannel is the channel of jobs' sessions: nobody writes there but the clock.
	JobChannel = "job"
	// Heartbeat is the ID and the session of the job that Holdfast has by itself.
	Heartbeat = "heartbeat"
	// HeartbeatOK is the reply to it that says nothing, and is not delivered.
	HeartbeatOK = "HEARTBEAT_OK"
)

// JobWorkflowID is the ID of a job's schedule. The runs that it starts have it too,
// followed by their time.
func JobWorkflowID(job string) string {
	if job == Heartbeat {
		return job
	}
	return JobChannel + "/" + job
}

// JobSession is the session that a job has of its own.
func JobSession(job string) string {
	if job == Heartbeat {
		return job
	}
	return SessionKey(JobChannel, job, "")
}

// JobSessionAt is a session for one occurrence of a job alone.
func JobSessionAt(job, occurrence string) string { return SessionKey(JobChannel, job, occurrence) }

// JobOf is the job whose session it is; empty if it is none.
func JobOf(session string) string {
	rest, is := strings.CutPrefix(session, JobChannel+":")
	if !is {
		return ""
	}
	job, _, _ := strings.Cut(rest, ":")
	return job
}

// JobMessage is the ID of the message of one occurrence of a job.
func JobMessage(job, occurrence string) string { return MessageID(JobChannel, job, occurrence) }

// JobInput starts a run of a job.
type JobInput struct {
	ID string `json:"id"`
}

// FireInput asks for a job's message to be brought to its session.
type FireInput struct {
	Job string    `json:"job"`
	Due time.Time `json:"due"` // when it was to fire
}

// FireResult says what became of it.
type FireResult struct {
	Session string `json:"session,omitempty"`
	Message string `json:"message,omitempty"`
	Skipped string `json:"skipped,omitempty"` // why nothing was done
}
