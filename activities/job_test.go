package activities_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// clock is a bundle whose signals are kept.
type clock struct {
	*bundle
	signalled []string
	fail      error // of the next signal
}

func setupClock(t *testing.T, jobs activities.JobOptions, script ...llmtest.Step) *clock {
	t.Helper()
	c := &clock{bundle: setup(t, script...)}
	c.options.Jobs = jobs
	c.options.Channels.Signal = func(_ context.Context, m domain.Inbound) error {
		if err := c.fail; err != nil {
			c.fail = nil
			return err
		}
		c.signalled = append(c.signalled, m.ID)
		return nil
	}
	var err error
	c.agent, err = activities.NewAgent(c.options)
	require.NoError(t, err)
	return c
}

func (c *clock) addJob(t *testing.T, kind domain.JobKind, spec string) {
	t.Helper()
	_, err := c.store.AddJob(t.Context(), domain.Job{
		ID: "j", Name: "plants", Message: "water them", Kind: kind, Spec: spec, Zone: "Europe/Berlin", Session: "slack:C1:1.2",
		Route: domain.Route{Channel: "slack", Chat: "C1", Thread: "1.2", Sender: "U1", Push: true}, SenderName: "Ana",
	}, "", 10)
	require.NoError(t, err)
}

func (c *clock) fire(t *testing.T, job, due string) protocol.FireResult {
	t.Helper()
	at, err := time.Parse(time.RFC3339, due)
	require.NoError(t, err)
	result, err := execute[protocol.FireResult](t, c.agent.Fire, protocol.FireInput{Job: job, Due: at})
	require.NoError(t, err)
	return result
}

func TestFire(t *testing.T) {
	t.Parallel()

	t.Run("the message goes where the job was made", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{Overlap: config.OverlapSkip})
		c.addJob(t, domain.JobCron, "0 9 * * *")
		result := c.fire(t, "j", "2026-03-02T08:00:00Z")
		require.Equal(t, "job:j", result.Session)
		in, err := c.store.Inbound(t.Context(), result.Message)
		require.NoError(t, err)
		require.Equal(t, "slack C1 1.2 U1 Ana", in.Channel+" "+in.Chat+" "+in.Thread+" "+in.Sender+" "+in.SenderName)
		require.True(t, in.Push)
		require.True(t, in.Queue)
		require.Contains(t, in.Text, "[Scheduled job \"plants\" (j), due Mon 2026-03-02 09:00:00 CET]\nwater them\n")
		require.Equal(t, &domain.Enriched{Text: in.Text, SenderName: "Ana", Zone: "Europe/Berlin"}, in.Enriched, "its channel is not asked for more")
		require.Equal(t, result, c.fire(t, "j", "2026-03-02T08:00:00Z"), "a retry")
		require.Equal(t, []string{in.ID, in.ID}, c.signalled, "which signals again, for a signal may have been lost")
		require.Equal(t, "the previous run is still active", c.fire(t, "j", "2026-03-03T08:00:00Z").Skipped)
	})

	t.Run("a failed signal is retried", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{})
		c.addJob(t, domain.JobEvery, "3600")
		c.fail = errors.New("Temporal is away")
		_, err := execute[protocol.FireResult](t, c.agent.Fire, protocol.FireInput{Job: "j", Due: time.Unix(3600, 0)})
		require.ErrorContains(t, err, "Temporal is away")
		require.Equal(t, []string{c.fire(t, "j", "1970-01-01T01:00:00Z").Message}, c.signalled)
	})

	t.Run("a repeated local time counts once", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{Overlap: config.OverlapQueue})
		c.addJob(t, domain.JobCron, "30 2 * * *")
		first := c.fire(t, "j", "2026-10-25T00:30:00Z")
		require.Equal(t, first, c.fire(t, "j", "2026-10-25T01:30:00Z"))
		require.NotEqual(t, first, c.fire(t, "j", "2026-10-26T01:30:00Z"))
	})

	t.Run("a one-time job ends", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{Overlap: config.OverlapSkip})
		c.addJob(t, domain.JobAt, "2026-03-02T08:00:00Z")
		early := c.fire(t, "j", "2026-03-01T08:00:00Z")
		require.NotEmpty(t, early.Message, "run by hand")
		late := c.fire(t, "j", "2026-03-04T12:00:00Z")
		require.NotEmpty(t, late.Message, "it is not skipped, though the early run is still at work")
		require.Equal(t, late, c.fire(t, "j", "2026-03-02T08:00:00Z"), "the same, by another way")
		require.Equal(t, "the job has ended", c.fire(t, "j", "2026-03-01T09:00:00Z").Skipped)
	})

	t.Run("beside the last run, in a session of its own", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{Overlap: config.OverlapAllow})
		c.addJob(t, domain.JobEvery, "3600")
		require.Equal(t, "job:j", c.fire(t, "j", "2026-03-02T08:00:00Z").Session)
		require.Equal(t, "job:j:2026-03-02T09%3A00%3A00Z", c.fire(t, "j", "2026-03-02T09:00:00Z").Session)
	})

	t.Run("made where replies are fetched, it waits for its turn there", func(t *testing.T) {
		t.Parallel()
		for overlap, second := range map[string]protocol.FireResult{
			config.OverlapSkip:  {Skipped: "the previous run is still active"},
			config.OverlapQueue: {Session: "http:main"},
			config.OverlapAllow: {Session: "http:main"},
		} {
			c := setupClock(t, activities.JobOptions{Overlap: overlap})
			_, err := c.store.AddJob(t.Context(), domain.Job{
				ID: "j", Message: "water them", Kind: domain.JobEvery, Spec: "3600", Zone: "UTC", Session: "http:main",
				Route: domain.Route{Channel: "http", Chat: "main", Sender: "http"},
			}, "", 10)
			require.NoError(t, err)
			_, _, err = c.store.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "http:main", Channel: "http", Chat: "main", Text: "hi"})
			require.NoError(t, err)
			result := c.fire(t, "j", "2026-03-02T08:00:00Z")
			require.Equal(t, "http:main", result.Session, "that the conversation is busy does not matter")
			in, err := c.store.Inbound(t.Context(), result.Message)
			require.NoError(t, err)
			require.Equal(t, "http main http j", in.Channel+" "+in.Chat+" "+in.Sender+" "+in.Job)
			require.False(t, in.Push)
			require.True(t, in.Queue)
			again := c.fire(t, "j", "2026-03-02T09:00:00Z")
			require.Equal(t, second, protocol.FireResult{Session: again.Session, Skipped: again.Skipped}, overlap)
		}
	})

	t.Run("a removed one does not", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{})
		c.addJob(t, domain.JobEvery, "3600")
		require.NoError(t, c.store.RemoveJob(t.Context(), "j"))
		require.Equal(t, "the job has ended", c.fire(t, "j", "2026-03-02T08:00:00Z").Skipped)
		require.Equal(t, "the job does not exist", c.fire(t, "x", "2026-03-02T08:00:00Z").Skipped)
		require.Empty(t, c.signalled)
	})
}

func TestHeartbeat(t *testing.T) {
	t.Parallel()

	const due = "2026-03-02T08:00:00Z"
	for name, content := range map[string]string{
		"an empty file": "", "headings": "# Heartbeat\n\n## Daily\n", "empty items": "- [ ]\n* \n---\n",
		"a comment": "<!-- look at\nthe oven -->\n", "a comment that does not end": "# A\n<!-- look\nat the oven\n",
	} {
		t.Run("nothing comes of "+name, func(t *testing.T) {
			t.Parallel()
			c := setupClock(t, activities.JobOptions{})
			require.NoError(t, os.WriteFile(filepath.Join(c.workspace, "HEARTBEAT.md"), []byte(content), 0o600))
			require.Equal(t, "HEARTBEAT.md has no tasks", c.fire(t, domain.Heartbeat, due).Skipped)
			require.Empty(t, c.signalled)
		})
	}

	t.Run("it does not run without a file", func(t *testing.T) {
		t.Parallel()
		c := setupClock(t, activities.JobOptions{})
		require.Equal(t, "HEARTBEAT.md has no tasks", c.fire(t, domain.Heartbeat, due).Skipped)
	})

	beating := func(t *testing.T, jobs activities.JobOptions, script ...llmtest.Step) *clock {
		t.Helper()
		c := setupClock(t, jobs, script...)
		require.NoError(t, os.WriteFile(filepath.Join(c.workspace, "HEARTBEAT.md"), []byte("# A <!-- b -->\n- look at the oven\n"), 0o600))
		return c
	}

	t.Run("it does not run outside the active hours", func(t *testing.T) {
		t.Parallel()
		c := beating(t, activities.JobOptions{IsActive: func(time.Time) bool { return false }})
		require.Equal(t, "outside the active hours", c.fire(t, domain.Heartbeat, due).Skipped)
	})

	t.Run("questions are asked one at a time", func(t *testing.T) {
		t.Parallel()
		c := beating(t, activities.JobOptions{Route: domain.Route{Channel: "slack", Chat: "C1", Push: true}, IsActive: func(time.Time) bool { return true }})
		result := c.fire(t, domain.Heartbeat, due)
		require.Equal(t, "heartbeat", result.Session)
		in, err := c.store.Inbound(t.Context(), result.Message)
		require.NoError(t, err)
		require.Equal(t, "slack C1", in.Channel+" "+in.Chat)
		require.True(t, in.Push)
		require.Equal(t, "the previous run is still active", c.fire(t, domain.Heartbeat, "2026-03-02T08:30:00Z").Skipped)
	})

	for reply, delivered := range map[string]bool{
		"HEARTBEAT_OK": false, " `HEARTBEAT_OK`.\n": false, "**HEARTBEAT_OK**": false,
		"The oven is on. HEARTBEAT_OK": true, "all is well": true,
	} {
		t.Run("the reply "+reply, func(t *testing.T) {
			t.Parallel()
			c := beating(t, activities.JobOptions{Route: domain.Route{Channel: "slack", Chat: "C1", Push: true}}, llmtest.Text(reply))
			message := c.fire(t, domain.Heartbeat, due).Message
			result, err := execute[protocol.CompleteResult](t, c.agent.Complete, protocol.CompleteInput{
				Session: domain.SessionRef{Key: domain.Heartbeat, Channel: "slack"}, Turn: message, Step: 1, Messages: []string{message},
			})
			require.NoError(t, err)
			require.True(t, result.Final)
			require.Equal(t, delivered, result.Outbox != "")
		})
	}

	t.Run("elsewhere the word is a reply like any other", func(t *testing.T) {
		t.Parallel()
		b := setup(t, llmtest.Text("HEARTBEAT_OK"))
		b.accept(t, "m1", "say HEARTBEAT_OK", true)
		result, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		require.NotEmpty(t, result.Outbox)
	})
}
