package command

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// addJob adds a job whose replies go to the chat "c" of the channel "memory".
func (n *testNode) addJob(t *testing.T, id string, kind domain.JobKind, spec string) domain.Job {
	t.Helper()
	job, err := n.jobs.Add(t.Context(), domain.Job{
		ID: id, Message: id, Kind: kind, Spec: spec, Zone: "UTC", Session: "s",
		Route: domain.Route{Channel: "memory", Chat: "c", Push: true},
	}, "")
	require.NoError(t, err)
	return job
}

// TestJobsPausedOverTheirTime lets times pass while jobs are paused, also while
// no process runs.
func TestJobsPausedOverTheirTime(t *testing.T) {
	t.Parallel()
	cfg, r, memory := jobHome(t, nil)
	n, stop := startOn(t, cfg, r)
	due := time.Now().Add(30 * time.Second).UTC().Truncate(time.Second)
	n.addJob(t, "once", domain.JobAt, due.Format(time.RFC3339))
	every := n.addJob(t, "every", domain.JobEvery, "2")
	posted(t, memory, 2)
	for _, id := range []string{"once", "every"} {
		require.NoError(t, n.jobs.Pause(t.Context(), id, true))
	}
	paused := time.Now().Add(2 * time.Second) // one may be running
	stop()
	n, _ = startOn(t, cfg, r)
	until(t, due.Add(2*time.Second))
	require.Empty(t, n.dues(t, "once"))

	before := len(n.dues(t, "every"))
	require.Empty(t, n.runJob(t, "every").Skipped)
	require.Eventually(t, func() bool { return len(n.dues(t, "every")) == before+1 }, patience, 10*time.Millisecond)
	byHand := n.dues(t, "every")[before]

	resumed := time.Now().Truncate(time.Second)
	for _, id := range []string{"once", "every"} {
		require.NoError(t, n.jobs.Pause(t.Context(), id, false))
	}
	require.Eventually(t, func() bool {
		dues := n.dues(t, "every")
		return len(n.dues(t, "once")) == 1 && len(dues) > 2 && dues[len(dues)-2].After(resumed)
	}, patience, 10*time.Millisecond)
	for _, at := range n.dues(t, "every") {
		if !at.Equal(byHand) {
			require.False(t, at.After(paused) && at.Before(resumed), "it is not made up for: %v", at)
			require.Zero(t, at.Sub(every.CreatedAt.Truncate(time.Second))%(2*time.Second))
		}
	}
	once, err := n.store.Job(t.Context(), "once")
	require.NoError(t, err)
	require.False(t, once.EndedAt.IsZero())
	require.False(t, once.Removed)
}

// TestJobRemovedWhileDue removes a job after its schedule has started a run,
// before a worker processes it.
func TestJobRemovedWhileDue(t *testing.T) {
	t.Parallel()
	cfg, r, memory := jobHome(t, nil)
	idle := r
	idle.Worker = false
	n, stop := startOn(t, cfg, idle)
	due := time.Now().Add(3 * time.Second).UTC().Format(time.RFC3339)
	n.addJob(t, "kept", domain.JobAt, due)
	n.addJob(t, "removed", domain.JobAt, due)
	var run string
	for _, id := range []string{"kept", "removed"} {
		require.Eventually(t, func() bool {
			described, err := n.client.ScheduleClient().GetHandle(t.Context(), protocol.Names{}.Job(id)).Describe(t.Context())
			if err != nil || len(described.Info.RecentActions) == 0 {
				return false
			}
			run = described.Info.RecentActions[0].StartWorkflowResult.WorkflowID
			return true
		}, patience, 10*time.Millisecond)
	}
	require.NoError(t, n.jobs.Remove(t.Context(), "removed"))
	stop()
	n, _ = startOn(t, cfg, r)
	posted(t, memory, 1)
	var result protocol.FireResult
	require.NoError(t, n.client.GetWorkflow(t.Context(), run, "").Get(t.Context(), &result))
	require.Equal(t, protocol.FireResult{Skipped: "the job has ended"}, result)
	require.Empty(t, n.dues(t, "removed"))
	require.Equal(t, "done: kept", memory.Posted()[0].Text)
}

// requireEvery checks that a recurring job was run at its times and at no other, and
// for none of them twice.
func (n *testNode) requireEvery(t *testing.T, id string, every time.Duration) {
	t.Helper()
	job, err := n.store.Job(t.Context(), id)
	require.NoError(t, err)
	dues := n.dues(t, id)
	for _, at := range dues {
		require.Zero(t, at.Sub(job.CreatedAt.Truncate(time.Second))%every)
	}
	require.Len(t, slices.CompactFunc(slices.SortedFunc(slices.Values(dues), time.Time.Compare), time.Time.Equal), len(dues))
}
