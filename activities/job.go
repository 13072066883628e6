package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// heartbeatFile, in the workspace, holds the heartbeat's tasks.
const heartbeatFile = "HEARTBEAT.md"

// heartbeatLimit bounds how much of it is looked at for tasks, in bytes.
const heartbeatLimit = 64 << 10

// JobOptions configure how jobs run.
type JobOptions struct {
	Overlap string // what happens if a job is due while its last run is active
	// IsActive reports whether the heartbeat runs at a time; nil: always.
	IsActive func(time.Time) bool
	// Route is where the heartbeat's replies go. Without a channel they are dropped.
	Route domain.Route
}

// Fire accepts a job's message in the session that the job runs in, once per
// occurrence, and signals the session.
func (a *Agent) Fire(ctx context.Context, in protocol.FireInput) (result protocol.FireResult, err error) {
	defer recoverPanic(ctx, &err)
	result, err = a.fire(ctx, in)
	return result, failure(ctx, ctx, err)
}

func (a *Agent) fire(ctx context.Context, in protocol.FireInput) (protocol.FireResult, error) {
	compose := a.jobFiring
	if in.Job == domain.Heartbeat {
		compose = a.heartbeatFiring
	}
	firing, skipped, err := compose(ctx, in)
	if err != nil || skipped != "" {
		return protocol.FireResult{Skipped: skipped}, err
	}
	message, err := a.Store.Fire(ctx, firing)
	switch {
	case errors.Is(err, store.ErrBusy):
		return protocol.FireResult{Skipped: "the previous run is still active"}, nil
	case errors.Is(err, domain.ErrNotFound):
		return protocol.FireResult{Skipped: "the job has ended"}, nil
	case err != nil:
		return protocol.FireResult{}, fmt.Errorf("accept the message of job %s: %w", in.Job, err)
	}
	result := protocol.FireResult{Session: message.Session, Message: message.ID}
	if message.Turn != "" {
		return result, nil
	}
	if err := a.Channels.Signal(ctx, message); err != nil {
		return protocol.FireResult{}, fmt.Errorf("signal the message of job %s: %w", in.Job, err)
	}
	return result, nil
}

func (a *Agent) jobFiring(ctx context.Context, in protocol.FireInput) (f store.Firing, skipped string, err error) {
	job, err := a.Store.Job(ctx, in.Job)
	if errors.Is(err, domain.ErrNotFound) {
		return store.Firing{}, "the job does not exist", nil
	}
	if err != nil {
		return store.Firing{}, "", fmt.Errorf("read job %s: %w", in.Job, err)
	}
	occurrence := schedule.Occurrence(job, in.Due)
	content := fmt.Sprintf("[Scheduled job %q (%s), due %s]\n%s\n\n"+
		"[This was scheduled in advance and is not a new message. Do it, and answer with what to say in the conversation it was scheduled in. Do not mention jobs or IDs.]",
		job.Label(), job.ID, schedule.Stamp(job, in.Due), text.Escape(job.Message))
	f = store.Firing{
		Message: inbound(in, job.RunsIn(), job.Route, content, occurrence), Job: job.ID, Last: schedule.Ends(job, in.Due),
		Skip: a.Jobs.Overlap == config.OverlapSkip && job.Kind != domain.JobAt,
	}
	f.Message.SenderName = job.SenderName
	f.Message.Enriched = &domain.Enriched{Text: content, SenderName: job.SenderName, Zone: job.Zone}
	if own := f.Message.Session == domain.JobSession(job.ID); own && a.Jobs.Overlap == config.OverlapAllow {
		f.Beside = domain.JobSessionAt(job.ID, occurrence)
	}
	return f, "", nil
}

func (a *Agent) heartbeatFiring(_ context.Context, in protocol.FireInput) (f store.Firing, skipped string, err error) {
	if a.Jobs.IsActive != nil && !a.Jobs.IsActive(time.Now()) {
		return store.Firing{}, "outside the active hours", nil
	}
	switch content, err := a.heartbeatText(); {
	case err != nil:
		a.Logger.Warn("heartbeat skipped", "file", heartbeatFile, "err", err)
		return store.Firing{}, fmt.Sprintf("%s cannot be read: %v", heartbeatFile, err), nil
	case !hasTasks(content):
		return store.Firing{}, heartbeatFile + " has no tasks", nil
	}
	content := fmt.Sprintf("[Heartbeat]\nRead %s in the workspace, and do what is due now. "+
		"If there is nothing to say about it, answer exactly %s.", heartbeatFile, domain.HeartbeatOK)
	route := a.Jobs.Route
	if route.Channel == "" {
		route.Channel = domain.Heartbeat
	}
	f = store.Firing{Message: inbound(in, domain.JobSession(in.Job), route, content, in.Due.UTC().Format(time.RFC3339Nano)), Skip: true}
	f.Message.Enriched = &domain.Enriched{Text: content}
	return f, "", nil
}

// heartbeatText returns the start of the heartbeat's file; "" if it does not exist.
func (a *Agent) heartbeatText() (string, error) {
	root, err := os.OpenRoot(a.Workspace)
	if err != nil {
		return "", err
	}
	defer root.Close()
	content, _, err := safefile.Text(root, heartbeatFile, heartbeatLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return content, err
}

// inbound returns the message of one occurrence of a job.
func inbound(in protocol.FireInput, session string, route domain.Route, text, occurrence string) domain.Inbound {
	return domain.Inbound{
		ID: domain.JobMessage(in.Job, occurrence), Session: session,
		Channel: route.Channel, Chat: route.Chat, Thread: route.Thread, Push: route.Push, Sender: route.Sender,
		Text: text, SentAt: in.Due, Queue: true,
	}
}

// hasTasks reports whether Markdown has more than headings, comments and empty list
// items.
func hasTasks(markdown string) bool {
	for rest := markdown; ; {
		before, comment, found := strings.Cut(rest, "<!--")
		for line := range strings.Lines(before) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && strings.Trim(line, "-*[] ") != "" {
				return true
			}
		}
		if !found {
			return false
		}
		_, rest, _ = strings.Cut(comment, "-->")
	}
}

// isHeartbeatOK reports whether a reply to the heartbeat says that there is nothing
// to report. It is not delivered.
func isHeartbeatOK(session domain.SessionRef, reply string) bool {
	return session.Key == domain.Heartbeat && strings.Trim(reply, " \t\r\n`*.") == domain.HeartbeatOK
}

// listJobs lists the session's jobs for /jobs, or all jobs if the operator asks.
func (a *Agent) listJobs(ctx context.Context, message domain.Inbound) string {
	session := message.Session
	if a.fromOperator(message) {
		session = ""
	}
	jobs, err := a.Store.Jobs(ctx, session)
	if err != nil {
		return "Cannot read the jobs: " + err.Error()
	}
	return schedule.List(jobs, time.Now())
}
