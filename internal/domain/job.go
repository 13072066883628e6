package domain

import (
	"strings"
	"time"
)

// Job is a scheduled prompt. `holdfast jobs --json` prints its JSON.
type Job struct {
	ID         string    `json:"id"`
	Name       string    `json:"name,omitempty"`
	Message    string    `json:"message"` // the prompt
	Kind       JobKind   `json:"kind"`
	Spec       string    `json:"spec"`
	Zone       string    `json:"zone"`    // IANA name; the zone of a JobCron and of displayed times
	Session    string    `json:"session"` // that created it
	Route      Route     `json:"-"`       // where its replies go
	SenderName string    `json:"-"`
	Paused     bool      `json:"paused"`
	Scheduled  bool      `json:"-"` // a Temporal schedule exists, as far as we know
	CreatedAt  time.Time `json:"created_at"`
	FiredAt    time.Time `json:"fired_at,omitzero"` // last; zero: never
	EndedAt    time.Time `json:"ended_at,omitzero"` // zero: active
	Removed    bool      `json:"removed,omitempty"` // ended by a user rather than by its last occurrence
}

// JobKind is how a job's times are given.
type JobKind string

// The kinds of jobs, with the meaning of Job.Spec.
const (
	JobAt    JobKind = "at"    // once: an RFC 3339 time
	JobEvery JobKind = "every" // repeatedly, counted from its creation: seconds
	JobCron  JobKind = "cron"  // a cron expression of five fields, in Job.Zone
)

const (
	// JobChannel is the channel of jobs' own sessions.
	JobChannel = "job"
	// Heartbeat is the ID and the session of the built-in job.
	Heartbeat = "heartbeat"
	// HeartbeatOK is the heartbeat's reply for "nothing to report"; it is not delivered.
	HeartbeatOK = "HEARTBEAT_OK"
)

// labelLimit bounds a label, in characters.
const labelLimit = 40

// Label returns the job's name, or the beginning of its message.
func (j Job) Label() string {
	if j.Name != "" {
		return j.Name
	}
	label := []rune(strings.Join(strings.Fields(j.Message), " "))
	if len(label) > labelLimit {
		label = append(label[:labelLimit-1], '…')
	}
	return string(label)
}

// RunsIn returns the session that receives the job's messages: its own, or the session
// that created it if replies are fetched there rather than delivered.
func (j Job) RunsIn() string {
	if !j.Route.Push && j.Session == SessionKey(j.Route.Channel, j.Route.Chat, j.Route.Thread) {
		return j.Session
	}
	return JobSession(j.ID)
}

// JobSession returns the key of a job's own session.
func JobSession(job string) string {
	if job == Heartbeat {
		return job
	}
	return SessionKey(JobChannel, job, "")
}

// JobSessionAt returns the key of a session for a single occurrence of a job.
func JobSessionAt(job, occurrence string) string { return SessionKey(JobChannel, job, occurrence) }

// JobOf returns the ID of the job that owns a session; empty for other sessions.
func JobOf(session string) string {
	rest, found := strings.CutPrefix(session, JobChannel+":")
	if !found {
		return ""
	}
	job, _, _ := strings.Cut(rest, ":")
	return job
}
