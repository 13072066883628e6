package store_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func job(id string) domain.Job {
	return domain.Job{ID: id, Name: "stand-up", Message: "remind us", Kind: domain.JobCron, Spec: "0 9 * * 1-5", Zone: "Europe/Berlin"}
}

func (b *bundle) addJob(t *testing.T, j domain.Job, turn string) domain.Job {
	t.Helper()
	stored, err := b.AddJob(t.Context(), j, turn, 10)
	require.NoError(t, err)
	return stored
}

func jobOnce(t *testing.T, b *bundle) {
	in := message("m1")
	in.SenderName = "Ana"
	_, _, err := b.Accept(t.Context(), in)
	require.NoError(t, err)
	_, err = b.AddJob(t.Context(), job("j1"), "m1", 10)
	require.ErrorIs(t, err, domain.ErrNotFound, "the turn has not begun")
	b.begin(t, step("m1", 1, "m1"))

	stored := b.addJob(t, job("j1"), "m1")
	want := job("j1")
	want.Session, want.SenderName, want.CreatedAt = session, "Ana", stored.CreatedAt
	want.Route = domain.Route{Channel: channel, Chat: "c1", Thread: "t1", Sender: "ana", Push: true}
	require.Equal(t, want, stored)
	require.WithinDuration(t, time.Now(), stored.CreatedAt, time.Minute)

	changed := job("j1")
	changed.Message = "something else"
	require.Equal(t, stored, b.addJob(t, changed, "m1"), "the first writer wins")
	_, err = b.AddJob(t.Context(), job("j2"), "m1", 1)
	require.ErrorIs(t, err, store.ErrTooMany)
	b.complete(t, "m1", 1)
	_, err = b.AddJob(t.Context(), job("j2"), "m1", 10)
	require.ErrorIs(t, err, store.ErrTurnEnded)
	require.Equal(t, stored, b.addJob(t, job("j1"), "m1"), "a retry that comes late")
}

func jobLife(t *testing.T, b *bundle) {
	given := job("j1")
	given.Session, given.Route, given.SenderName = "cli", domain.Route{Channel: "slack", Chat: "C1", Push: true}, "operator"
	stored := b.addJob(t, given, "")
	require.Equal(t, given.Route, stored.Route)
	other := job("j2")
	other.Session, other.Kind, other.Spec = session, domain.JobAt, "2030-01-02T03:04:05Z"
	b.addJob(t, other, "")

	require.Equal(t, []string{"j1", "j2"}, b.jobIDs(t, ""))
	require.Equal(t, []string{"j1"}, b.jobIDs(t, "cli"))
	require.Equal(t, []string{"j1"}, b.jobIDs(t, domain.JobSession("j1")), "its own session sees what its conversation sees")
	require.Empty(t, b.jobIDs(t, "nobody's"))

	require.Equal(t, []string{"j1", "j2"}, b.unsettled(t))
	require.NoError(t, b.ScheduledJob(t.Context(), "j1", true))
	require.NoError(t, b.ScheduledJob(t.Context(), "j2", true))
	require.Equal(t, []string{"j2"}, b.unsettled(t), "one that fires once may be overdue")

	require.NoError(t, b.PauseJob(t.Context(), "j1", true))
	paused, err := b.Job(t.Context(), "j1")
	require.NoError(t, err)
	require.True(t, paused.Paused)
	require.NoError(t, b.PauseJob(t.Context(), "j1", false))

	require.NoError(t, b.RemoveJob(t.Context(), "j1"))
	require.ErrorIs(t, b.RemoveJob(t.Context(), "j1"), domain.ErrNotFound)
	require.ErrorIs(t, b.PauseJob(t.Context(), "j1", true), domain.ErrNotFound)
	removed, err := b.Job(t.Context(), "j1")
	require.NoError(t, err)
	require.True(t, removed.Removed)
	require.False(t, removed.EndedAt.IsZero())
	require.Equal(t, []string{"j2"}, b.jobIDs(t, ""))
	require.Equal(t, []string{"j1", "j2"}, b.unsettled(t), "its schedule is there")
	require.NoError(t, b.ScheduledJob(t.Context(), "j1", false))
	require.Equal(t, []string{"j2"}, b.unsettled(t))
	_, err = b.Job(t.Context(), "j3")
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func (b *bundle) jobIDs(t *testing.T, session string) (ids []string) {
	t.Helper()
	all, err := b.Jobs(t.Context(), session)
	require.NoError(t, err)
	for _, j := range all {
		ids = append(ids, j.ID)
	}
	return ids
}

func (b *bundle) unsettled(t *testing.T) (ids []string) {
	t.Helper()
	all, err := b.UnsettledJobs(t.Context())
	require.NoError(t, err)
	for _, j := range all {
		ids = append(ids, j.ID)
	}
	return ids
}

func firing(job, id string) store.Firing {
	in := message(id)
	in.Session = domain.JobSession(job)
	in.Enriched = &domain.Enriched{Text: in.Text, Zone: "Europe/Berlin"}
	return store.Firing{Message: in, Job: job}
}

func jobFires(t *testing.T, b *bundle) {
	b.addJob(t, job("j1"), "")
	first := firing("j1", "f1")
	stored, err := b.Fire(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, "job:j1", stored.Session)
	require.Equal(t, first.Message.Enriched, stored.Enriched)
	again := firing("j1", "f1")
	again.Skip = true
	same, err := b.Fire(t.Context(), again)
	require.NoError(t, err, "a retry")
	require.Equal(t, stored, same)
	fired, err := b.Job(t.Context(), "j1")
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), fired.FiredAt, time.Minute)
	require.Zero(t, fired.EndedAt)

	skipped := firing("j1", "f2")
	skipped.Skip = true
	_, err = b.Fire(t.Context(), skipped)
	require.ErrorIs(t, err, store.ErrBusy, "accepted and not answered")
	_, err = b.Inbound(t.Context(), "f2")
	require.ErrorIs(t, err, domain.ErrNotFound)

	in := step("f1", 1, "f1")
	in.Session = stored.Session
	b.begin(t, in)
	_, err = b.Fire(t.Context(), skipped)
	require.ErrorIs(t, err, store.ErrBusy, "being answered")
	queued, err := b.Fire(t.Context(), firing("j1", "f3"))
	require.NoError(t, err)
	require.Equal(t, "job:j1", queued.Session)
	beside := firing("j1", "f4")
	beside.Beside = "job:j1:2"
	apart, err := b.Fire(t.Context(), beside)
	require.NoError(t, err)
	require.Equal(t, "job:j1:2", apart.Session)

	last := firing("j1", "f5")
	last.Last = true
	_, err = b.Fire(t.Context(), last)
	require.NoError(t, err)
	_, err = b.Fire(t.Context(), firing("j1", "f6"))
	require.ErrorIs(t, err, domain.ErrNotFound, "it has done what it was for")
	_, err = b.Fire(t.Context(), last)
	require.NoError(t, err, "a retry")
	_, err = b.Fire(t.Context(), firing("", "f7"))
	require.NoError(t, err, "nobody's")
}

func jobFiresOnce(t *testing.T, b *bundle) {
	b.addJob(t, job("j1"), "")
	texts := make([]string, 8)
	all(len(texts), func(i int) {
		f := firing("j1", "f1")
		f.Message.Text = strconv.Itoa(i)
		stored, err := b.Fire(t.Context(), f)
		if err != nil {
			t.Error(err)
		}
		texts[i] = stored.Text
	})
	require.Len(t, slices.Compact(texts), 1)
}

func silent(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	c := completed("m1", 1)
	c.Silent = true
	_, outbox, err := b.SaveCompletion(t.Context(), c)
	require.NoError(t, err)
	require.Empty(t, outbox)
	turn, err := b.Turn(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, domain.TurnDone, turn.Status)
	require.Equal(t, c.Reply, turn.Reply)
}
