package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// chatFiring is a message of a job that runs in the conversation it was made in.
func chatFiring(job, id string) store.Firing {
	f := firing(job, id)
	f.Message.Session = session
	return f
}

func jobFiresInChat(t *testing.T, b *bundle) {
	made := job("j1")
	made.Session, made.Route = session, domain.Route{Channel: channel, Chat: "c1"}
	require.Equal(t, session, b.addJob(t, made, "").RunsIn())
	made.ID, made.Route.Push = "j2", true
	require.Equal(t, "job:j2", b.addJob(t, made, "").RunsIn(), "its replies are delivered")
	made.ID, made.Session, made.Route = "j3", "cli", domain.Route{Channel: domain.JobChannel}
	require.Equal(t, "job:j3", b.addJob(t, made, "").RunsIn(), "there is no chat")

	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	b.accept(t, "m2")
	skips := chatFiring("j1", "f1")
	skips.Skip = true
	stored, err := b.Fire(t.Context(), skips)
	require.NoError(t, err, "others are at work there")
	require.Equal(t, []string{session, "j1"}, []string{stored.Session, stored.Job})

	again := chatFiring("j1", "f2")
	again.Skip = true
	_, err = b.Fire(t.Context(), again)
	require.ErrorIs(t, err, store.ErrBusy, "it waits for its turn")
	other := chatFiring("j2", "f3")
	other.Skip = true
	_, err = b.Fire(t.Context(), other)
	require.NoError(t, err, "another job")

	b.complete(t, "m1", 1)
	b.begin(t, step("f1", 1, "f1"))
	_, err = b.Fire(t.Context(), again)
	require.ErrorIs(t, err, store.ErrBusy, "it is being answered")
	b.complete(t, "f1", 1)
	_, err = b.Fire(t.Context(), again)
	require.NoError(t, err)

	turns, err := b.JobTurns(t.Context(), "j1", 10)
	require.NoError(t, err)
	require.Len(t, turns, 1, "those that began")
	require.Equal(t, "f1", turns[0].ID)
	require.NoError(t, b.RemoveJob(t.Context(), "j1"))
	everyone, err := b.AllJobs(t.Context())
	require.NoError(t, err)
	require.Len(t, everyone, 3)
	require.True(t, everyone[0].Removed)
}

func backgroundReplies(t *testing.T, b *bundle) {
	read := func(key string, after time.Time, limit int) []domain.BackgroundReply {
		t.Helper()
		all, err := b.BackgroundReplies(t.Context(), key, after, limit)
		require.NoError(t, err)
		return all
	}
	require.Empty(t, read("nobody's", time.Time{}, 10))
	b.addJob(t, job("j1"), "")
	nameless := job("j2")
	nameless.Name = ""
	b.addJob(t, nameless, "")

	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "spawn")
	_, err := b.Spawn(t.Context(), store.SpawnInput{ID: "m1.1.0", Turn: "m1", Label: "dig", Task: "t", Limit: 5})
	require.NoError(t, err)
	_, err = b.SaveResult(t.Context(), resultOf("m1", 0, "ok"))
	require.NoError(t, err)
	b.complete(t, "m1", 2)
	for _, f := range []store.Firing{chatFiring("j1", "f1"), chatFiring("j2", "f2"), firing("j1", "f3")} {
		_, err := b.Fire(t.Context(), f)
		require.NoError(t, err)
	}
	_, err = b.EndSubagent(t.Context(), "m1.1.0", domain.SubagentDone, "found")
	require.NoError(t, err)
	require.Empty(t, read(session, time.Time{}, 10), "nothing was answered yet")

	report := domain.ReportMessage("m1.1.0")
	b.begin(t, step("f1", 1, "f1"))
	b.accept(t, "m2")
	b.begin(t, step("f1", 2, "m2"))
	require.Empty(t, read(session, time.Time{}, 10), "it is running")
	b.complete(t, "f1", 2)
	b.begin(t, step(report, 1, report))
	b.complete(t, report, 1)
	b.accept(t, "m3")
	b.begin(t, step("m3", 1, "m3", "f2"))
	b.complete(t, "m3", 1)

	all := read(session, time.Time{}, 10)
	require.Len(t, all, 2, "not what joined a turn that somebody wrote for")
	first, err := b.Turn(t.Context(), "f1")
	require.NoError(t, err)
	second, err := b.Turn(t.Context(), report)
	require.NoError(t, err)
	require.Equal(t, []domain.BackgroundReply{
		{Turn: first.ID, Cause: domain.CauseJob, Label: "stand-up", Status: domain.ReplyDone, Text: first.Reply, EndedAt: first.EndedAt},
		{Turn: second.ID, Cause: domain.CauseSubagent, Label: "dig", Status: domain.ReplyDone, Text: second.Reply, EndedAt: second.EndedAt},
	}, all)
	require.Equal(t, all[:1], read(session, time.Time{}, 1))
	require.Equal(t, all[1:], read(session, first.EndedAt, 10))
	require.Empty(t, read(session, second.EndedAt, 10))

	in := step("f3", 1, "f3")
	in.Session = domain.JobSession("j1")
	b.begin(t, in)
	b.complete(t, "f3", 1)
	require.Equal(t, "f3", read(domain.JobSession("j1"), time.Time{}, 10)[0].Turn)

	b.deliver(t, "o1", domain.OutboxID("f1"), domain.OutboxID(report), domain.OutboxID("m3"))
	b.remove(t, 10)
	require.Empty(t, read(session, time.Time{}, 10))
}
