package node_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

const patience = 30 * time.Second

// jobsBundle is jobs on an engine that nobody works for.
type jobsBundle struct {
	*schedule.Jobs
	store   *store.Store
	client  client.Client
	options schedule.Options
}

func startJobs(t *testing.T) *jobsBundle {
	t.Helper()
	e := enginetest.Start(t, protocol.SearchChannel, protocol.SearchSession, protocol.SearchSender)
	c, err := client.DialContext(t.Context(), client.Options{HostPort: e.Address()})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	o := schedule.Options{
		Client: dispatch.New(c, "default", protocol.Names{}), Store: s, CatchUp: time.Hour, Overlap: config.OverlapSkip, Shortest: time.Minute,
		IsOperator: func(r domain.Route) bool { return r.Sender == "root" },
	}
	return &jobsBundle{Jobs: schedule.New(o), store: s, client: c, options: o}
}

// turn begins a turn of a conversation.
func (b *jobsBundle) turn(t *testing.T, id, chat, sender, zone string) {
	t.Helper()
	session := domain.SessionKey("test", chat, "")
	_, _, err := b.store.Accept(t.Context(), domain.Inbound{ID: id, Session: session, Channel: "test", Chat: chat, Sender: sender, Text: "hi", Push: true})
	require.NoError(t, err)
	if zone != "" {
		_, err = b.store.SaveEnriched(t.Context(), id, domain.Enriched{Text: "hi", Zone: zone})
		require.NoError(t, err)
	}
	_, err = b.store.Begin(t.Context(), store.BeginInput{Session: session, Channel: "test", Turn: id, Step: 1, Messages: []string{id}})
	require.NoError(t, err)
}

// call calls the tool as a turn's call.
func (b *jobsBundle) call(t *testing.T, key, session, arguments string) (string, error) {
	t.Helper()
	cron := b.Tool()
	require.NoError(t, cron.Err())
	result, err := cron.Run(t.Context(), tool.Call{Key: key, Session: session, Attempt: 1, Arguments: json.RawMessage(arguments)})
	require.False(t, result.Failed)
	return result.Text, err
}

// schedules are the IDs of the schedules that there are.
func (b *jobsBundle) schedules(t *testing.T, ids ...string) (there []string) {
	t.Helper()
	for _, id := range ids {
		if _, err := b.client.ScheduleClient().GetHandle(t.Context(), protocol.Names{}.Job(id)).Describe(t.Context()); err == nil {
			there = append(there, id)
		}
	}
	return there
}

// keep looks after the schedules until done is true.
func (b *jobsBundle) keep(t *testing.T, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.Keep(ctx)
	}()
	require.Eventually(t, done, patience, 10*time.Millisecond)
	cancel()
	<-ended
}

func TestIntervalsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	b.turn(t, "m1", "c1", "ana", "")
	for seconds, want := range map[string]string{
		"18446744134": "too long", "99999999999999": "too long", "-18446744134": "at least 60 seconds",
	} {
		_, err := b.call(t, "m1.1.0", "test:c1", `{"action":"add","message":"m","every_seconds":`+seconds+`}`)
		require.ErrorContains(t, err, want, seconds)
	}
}

func TestScheduleTool(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	b.turn(t, "m1", "c1", "ana", "Europe/Berlin")
	b.turn(t, "m2", "c2", "ben", "")
	b.turn(t, "m3", "c3", "root", "")
	id := domain.ShortID("m1.1.0")
	add := `{"action":"add","message":"say good morning","name":"morning","cron_expr":"0 9 * * 1-5"}`

	text, err := b.call(t, "m1.1.0", "test:c1", add)
	require.NoError(t, err)
	require.Contains(t, text, "Added.\n- `"+id+"` **morning**: cron 0 9 * * 1-5 (Europe/Berlin); next ")
	again, err := b.call(t, "m1.1.0", "test:c1", add)
	require.NoError(t, err, "a retry")
	require.Equal(t, text, again)
	jobs, err := b.store.Jobs(t.Context(), "test:c1")
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	require.True(t, jobs[0].Scheduled)
	require.Equal(t, domain.Route{Channel: "test", Chat: "c1", Sender: "ana", Push: true}, jobs[0].Route)
	require.Equal(t, []string{id}, b.schedules(t, id))

	for name, c := range map[string]struct{ key, session, want string }{
		"its conversation":  {"m1.1.1", "test:c1", "morning"},
		"another":           {"m2.1.0", "test:c2", "There are no jobs."},
		"the operator's":    {"m3.1.0", "test:c3", "morning"},
		"the job's own run": {"m1.1.1", domain.JobSession(id), "morning"},
	} {
		text, err := b.call(t, c.key, c.session, `{"action":"list"}`)
		require.NoError(t, err)
		require.Contains(t, text, c.want, name)
	}

	remove := `{"action":"remove","job_id":"` + id + `"}`
	_, err = b.call(t, "m2.1.0", "test:c2", remove)
	require.ErrorContains(t, err, "no job")
	for range 2 {
		text, err = b.call(t, "m1.1.2", "test:c1", remove)
		require.NoError(t, err, "also a retry")
		require.Equal(t, "Removed.", text)
		require.Empty(t, b.schedules(t, id))
	}
	text, err = b.call(t, "m1.1.0", "test:c1", add)
	require.NoError(t, err)
	require.NotEmpty(t, text)
	require.Empty(t, b.schedules(t, id), "a retry that comes late does not bring it back")

	for arguments, want := range map[string]string{
		`{"action":"pause"}`:  "use add, list or remove",
		`{"action":"remove"}`: "job_id is missing",
		`{"action":"add"}`:    "message is missing",
		`{"action":"add","message":"m","every_seconds":59}`:            "at least 60 seconds",
		`{"action":"add","message":"m","at":"2020-01-01T00:00:00Z"}`:   "at is in the past",
		`{"action":"add","message":"m","cron_expr":"61 * * * *"}`:      "invalid cron expression",
		`{"action":"add","message":"m","cron_expr":"x","tz":"Mars/X"}`: "unknown time zone",
	} {
		_, err := b.call(t, "m1.2.0", "test:c1", arguments)
		require.ErrorContains(t, err, want)
		require.NotErrorIs(t, err, tool.ErrRetry, "it is for the model to read")
	}
	_, err = b.store.Job(t.Context(), domain.ShortID("m1.2.0"))
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, _, err = b.store.SaveCompletion(t.Context(), store.Completion{Turn: "m1", Step: 1, Message: domain.Message{Role: domain.RoleAssistant}, Final: true})
	require.NoError(t, err)
	_, err = b.call(t, "m1.3.0", "test:c1", add)
	require.ErrorIs(t, err, store.ErrTurnEnded)
}

func everyMinute(id string) domain.Job {
	return domain.Job{ID: id, Message: "m", Kind: domain.JobEvery, Spec: "60", Zone: "UTC", Session: "s"}
}

func TestScheduleKeep(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	for _, id := range []string{"lost", "removed"} {
		_, err := b.Add(t.Context(), everyMinute(id), "")
		require.NoError(t, err)
	}
	require.NoError(t, b.client.ScheduleClient().GetHandle(t.Context(), "job/lost").Delete(t.Context()))
	require.NoError(t, b.store.RemoveJob(t.Context(), "removed"))
	_, err := b.store.AddJob(t.Context(), everyMinute("crashed"), "", 10)
	require.NoError(t, err)
	bad := everyMinute("bad")
	bad.Kind, bad.Spec = domain.JobCron, "a b c d e"
	_, err = b.store.AddJob(t.Context(), bad, "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{"removed"}, b.schedules(t, "lost", "removed", "crashed", "bad"))

	b.keep(t, func() bool {
		unsettled, err := b.store.UnsettledJobs(t.Context())
		return err == nil && len(unsettled) == 0
	})
	require.Equal(t, []string{"lost", "crashed"}, b.schedules(t, "lost", "removed", "crashed", "bad"))
	refused, err := b.store.Job(t.Context(), "bad")
	require.NoError(t, err)
	require.True(t, refused.Removed)
	_, err = b.Add(t.Context(), func() domain.Job { bad.ID = "bad2"; return bad }(), "")
	require.ErrorIs(t, err, dispatch.ErrInvalidSchedule)
}

func TestSchedulePauseAndRun(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	_, err := b.Add(t.Context(), everyMinute("j"), "")
	require.NoError(t, err)
	handle := b.client.ScheduleClient().GetHandle(t.Context(), "job/j")
	paused := func() bool {
		described, err := handle.Describe(t.Context())
		require.NoError(t, err)
		return described.Schedule.State.Paused
	}
	require.NoError(t, b.Pause(t.Context(), "j", true))
	require.Eventually(t, paused, patience, 10*time.Millisecond)
	require.NoError(t, handle.Delete(t.Context()))
	b.keep(t, func() bool { return len(b.schedules(t, "j")) == 1 })
	require.True(t, paused(), "also when it had to be made again")

	require.NoError(t, b.Run(t.Context(), "j"))
	require.Eventually(t, func() bool {
		described, err := handle.Describe(t.Context())
		require.NoError(t, err)
		return described.Info.NumActions == 1
	}, patience, 10*time.Millisecond)
	require.NoError(t, b.Pause(t.Context(), "j", false))
	require.Eventually(t, func() bool { return !paused() }, patience, 10*time.Millisecond)

	require.NoError(t, b.Remove(t.Context(), "j"))
	for _, err := range []error{b.Remove(t.Context(), "j"), b.Run(t.Context(), "j"), b.Pause(t.Context(), "j", true), b.Run(t.Context(), "x")} {
		require.ErrorIs(t, err, domain.ErrNotFound)
	}
	require.Empty(t, b.schedules(t, "j"))
}

func TestHeartbeatsSchedule(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	every := func() time.Duration {
		described, err := b.client.ScheduleClient().GetHandle(t.Context(), domain.Heartbeat).Describe(t.Context())
		if err != nil {
			return 0
		}
		return described.Schedule.Spec.Intervals[0].Every
	}
	for _, want := range []time.Duration{time.Hour, 30 * time.Minute, 0, time.Hour} {
		b.options.Heartbeat = want
		b.Jobs = schedule.New(b.options)
		b.keep(t, func() bool { return every() == want })
	}
}
