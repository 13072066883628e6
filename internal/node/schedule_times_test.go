package node_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// matching are the times at which Temporal fires a job, after from and until to.
func (b *jobsBundle) matching(t *testing.T, id string, from, to time.Time) (times []time.Time) {
	t.Helper()
	list, err := b.client.WorkflowService().ListScheduleMatchingTimes(t.Context(), &workflowservice.ListScheduleMatchingTimesRequest{
		Namespace: "default", ScheduleId: protocol.Names{}.Job(id), StartTime: timestamppb.New(from), EndTime: timestamppb.New(to),
	})
	require.NoError(t, err)
	for _, due := range list.GetStartTime() {
		times = append(times, due.AsTime())
	}
	return times
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

// TestDaylightSaving has Temporal say when jobs fire around a change of the clocks.
func TestDaylightSaving(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	for name, c := range map[string]struct {
		cron, zone, from, to string
		want                 []string
		fires                int // of these times, how many are occurrences of their own
	}{
		"forward in Berlin": {
			"30 2 * * *", "Europe/Berlin", "2027-03-26T12:00:00Z", "2027-03-30T12:00:00Z",
			[]string{"2027-03-27T01:30:00Z", "2027-03-29T00:30:00Z", "2027-03-30T00:30:00Z"},
			3,
		},
		"back in Berlin": {
			"30 2 * * *", "Europe/Berlin", "2027-10-30T12:00:00Z", "2027-11-01T12:00:00Z",
			[]string{"2027-10-31T01:30:00Z", "2027-11-01T01:30:00Z"},
			2,
		},
		"forward in New York": {
			"30 2 * * *", "America/New_York", "2027-03-13T12:00:00Z", "2027-03-15T12:00:00Z",
			[]string{"2027-03-15T06:30:00Z"},
			1,
		},
		"back in New York": {
			"30 1 * * *", "America/New_York", "2027-11-06T12:00:00Z", "2027-11-08T12:00:00Z",
			[]string{"2027-11-07T05:30:00Z", "2027-11-07T06:30:00Z", "2027-11-08T06:30:00Z"},
			2,
		},
		"nine o'clock stays nine o'clock": {
			"0 9 * * *", "Europe/Berlin", "2027-03-27T00:00:00Z", "2027-03-28T12:00:00Z",
			[]string{"2027-03-27T08:00:00Z", "2027-03-28T07:00:00Z"},
			2,
		},
		"every hour is every hour": {
			"30 * * * *", "Europe/Berlin", "2027-03-28T00:00:00Z", "2027-03-28T02:00:00Z",
			[]string{"2027-03-28T00:30:00Z", "2027-03-28T01:30:00Z"},
			2,
		},
		"every hour, also twice": {
			"30 * * * *", "Europe/Berlin", "2027-10-31T00:00:00Z", "2027-10-31T02:00:00Z",
			[]string{"2027-10-31T00:30:00Z", "2027-10-31T01:30:00Z"},
			2,
		},
		"forward by half an hour": {
			"15 2 * * *", "Australia/Lord_Howe", "2027-10-02T00:00:00Z", "2027-10-04T00:00:00Z",
			[]string{"2027-10-02T15:45:00Z", "2027-10-03T15:15:00Z"},
			2,
		},
		"forward at midnight, on that day of the week": {
			"30 0 * * 0", "America/Santiago", "2027-09-04T00:00:00Z", "2027-09-13T00:00:00Z",
			[]string{"2027-09-12T03:30:00Z"},
			1,
		},
		"forward on another day of the week": {
			"30 2 * * 1-5", "Europe/Berlin", "2027-03-26T12:00:00Z", "2027-03-29T12:00:00Z",
			[]string{"2027-03-29T00:30:00Z"},
			1,
		},
		"forward onto another of its times": {
			"*/30 2-3 * * *", "Europe/Berlin", "2027-03-27T12:00:00Z", "2027-03-28T12:00:00Z",
			[]string{"2027-03-28T01:00:00Z", "2027-03-28T01:30:00Z"},
			2,
		},
		"every two hours, forward": {
			"0 */2 * * *", "Europe/Berlin", "2027-03-27T22:30:00Z", "2027-03-28T04:00:00Z",
			[]string{"2027-03-27T23:00:00Z", "2027-03-28T02:00:00Z", "2027-03-28T04:00:00Z"},
			3,
		},
		"every hour of a zone that is half an hour off in winter": {
			"15 * * * *", "Australia/Lord_Howe", "2027-06-01T00:00:00Z", "2027-06-01T02:00:00Z",
			[]string{"2027-06-01T00:45:00Z", "2027-06-01T01:45:00Z"},
			2,
		},
		"where the clocks stay": {
			"30 2 * * *", "Asia/Tokyo", "2027-03-27T12:00:00Z", "2027-03-28T20:00:00Z",
			[]string{"2027-03-27T17:30:00Z", "2027-03-28T17:30:00Z"},
			2,
		},
		"a day of the month, or of the week": {
			"0 9 13 * 5", "UTC", "2027-05-12T00:00:00Z", "2027-05-22T00:00:00Z",
			[]string{"2027-05-13T09:00:00Z", "2027-05-14T09:00:00Z", "2027-05-21T09:00:00Z"},
			3,
		},
	} {
		job, err := schedule.Parse(schedule.Request{Message: "m", Cron: c.cron, Zone: c.zone, Now: time.Date(2026, 3, 2, 14, 0, 30, 0, time.UTC)})
		require.NoError(t, err)
		job.ID, job.Session = domain.ShortID(name), "s"
		job, err = b.Add(t.Context(), job, "")
		require.NoError(t, err)
		var got []string
		occurrences := map[string]bool{}
		for _, due := range b.matching(t, job.ID, moment(t, c.from), moment(t, c.to)) {
			got = append(got, due.Format(time.RFC3339))
			occurrences[schedule.Occurrence(job, due)] = true
		}
		require.Equal(t, c.want, got, name)
		require.Len(t, occurrences, c.fires, name)
	}
}

// TestEveryKeepsItsTimes has a job's schedule made again: it counts from when the job
// was made, and not from when the schedule was.
func TestEveryKeepsItsTimes(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	job, err := schedule.Parse(schedule.Request{Message: "m", Every: 7 * time.Minute, Now: time.Now()})
	require.NoError(t, err)
	job.ID, job.Session = "j", "s"
	job, err = b.Add(t.Context(), job, "")
	require.NoError(t, err)
	from := time.Now().Truncate(time.Second)
	var want []time.Time
	for due := from; len(want) < 1000; want = append(want, due) {
		due = schedule.Next(job, due).UTC()
		require.Zero(t, due.Sub(job.CreatedAt.Truncate(time.Second))%(7*time.Minute))
	}
	require.Equal(t, want, b.matching(t, "j", from, want[len(want)-1]))

	require.NoError(t, b.client.ScheduleClient().GetHandle(t.Context(), "job/j").Delete(t.Context()))
	b.keep(t, func() bool { return len(b.schedules(t, "j")) == 1 })
	require.Equal(t, want, b.matching(t, "j", from, want[len(want)-1]))
}

// TestPausedOverItsTime resumes jobs some of whose times have passed meanwhile.
func TestPausedOverItsTime(t *testing.T) {
	t.Parallel()
	b := startJobs(t)
	b.options.Overlap = config.OverlapAllow // nobody works here
	b.Jobs = schedule.New(b.options)
	const pause = 11 * time.Second
	begin := time.Now()
	for _, job := range []domain.Job{
		{ID: "once", Kind: domain.JobAt, Spec: begin.Add(10 * time.Second).UTC().Format(time.RFC3339)},
		{ID: "later", Kind: domain.JobAt, Spec: begin.Add(time.Hour).UTC().Format(time.RFC3339)},
		{ID: "every", Kind: domain.JobEvery, Spec: "1"},
	} {
		job.Message, job.Zone, job.Session = "m", "UTC", "s"
		_, err := b.Add(t.Context(), job, "")
		require.NoError(t, err)
		require.NoError(t, b.Pause(t.Context(), job.ID, true))
	}
	info := func(id string) client.ScheduleInfo {
		described, err := b.client.ScheduleClient().GetHandle(t.Context(), protocol.Names{}.Job(id)).Describe(t.Context())
		require.NoError(t, err)
		return described.Info
	}
	paused := time.Now().Add(time.Second) // one that was due may be under way
	require.Never(t, func() bool { return info("once").NumActions > 0 }, pause, 100*time.Millisecond)
	resumed := time.Now()
	for _, id := range []string{"once", "later", "every"} {
		require.NoError(t, b.Pause(t.Context(), id, false))
	}
	require.Eventually(t, func() bool { return info("once").NumActions == 1 }, 20*time.Second, 10*time.Millisecond, "it is made up for at once")
	latest := func() time.Time {
		ran := info("every").RecentActions
		if len(ran) == 0 {
			return time.Time{}
		}
		return ran[len(ran)-1].ScheduleTime
	}
	require.Eventually(t, func() bool { return latest().After(resumed) }, patience, 10*time.Millisecond)
	for _, ran := range info("every").RecentActions {
		require.False(t, ran.ScheduleTime.After(paused) && ran.ScheduleTime.Before(resumed.Truncate(time.Second)), "it is not made up for: %v", ran.ScheduleTime)
	}
	require.Zero(t, info("later").NumActions)
	require.Equal(t, 1, info("once").NumActions)
}
