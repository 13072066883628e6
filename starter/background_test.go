package starter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func TestBackgroundReplies(t *testing.T) {
	t.Parallel()
	b := setup(t)
	background := func(after time.Time) []domain.BackgroundReply {
		t.Helper()
		all, err := b.Background(t.Context(), "test:c1", after)
		require.NoError(t, err)
		return all
	}
	require.Empty(t, background(time.Time{}))

	m := b.accept(t, inbound("1", "hi")).Message
	b.begin(t, m, 1, m)
	_, err := b.store.AddJob(t.Context(), domain.Job{ID: "j", Name: "plants", Kind: domain.JobEvery, Spec: "60"}, m, 5)
	require.NoError(t, err)
	b.answer(t, m, 1, "hello")
	require.Empty(t, background(time.Time{}), "it answers a person")

	job, err := b.store.Job(t.Context(), "j")
	require.NoError(t, err)
	require.Equal(t, "test:c1", job.RunsIn())
	_, err = b.store.Fire(t.Context(), store.Firing{Job: "j", Message: domain.Inbound{ID: "f1", Session: job.RunsIn(), Channel: "test", Chat: "c1"}})
	require.NoError(t, err)
	b.begin(t, "f1", 1, "f1")
	b.answer(t, "f1", 1, "water them")
	all := background(time.Time{})
	require.Len(t, all, 1)
	require.Equal(t, domain.BackgroundReply{
		Turn: "f1", Cause: domain.CauseJob, Label: "plants", Status: domain.ReplyDone, Text: "water them", EndedAt: all[0].EndedAt,
	}, all[0])
	require.Empty(t, background(all[0].EndedAt))
}
