package slack_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func TestATurnThatContinuesInAnotherProcess(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{slacktest.DM, slacktest.General} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			statusless(s)
			a := s.ask(channel)
			s.emit(a, reset, text("one"))
			draft := s.drafted(a, says("one"))
			s.channel.Pause(s.ctx, a.id)
			s.channel = s.open(drafting)
			s.resume(a)
			s.emit(a, reset, text("two"))
			s.drafted(a, says("two"))
			sent := s.answer(a, "done")
			require.Equal(t, draft.TS, sent.PlatformID)
			s.idle()
			s.final(a, "done")
			require.Equal(t, []string{"white_check_mark"}, s.reactions(a))
			require.Len(t, s.Posted(), 1, "the turn has its draft already")
		})
	}
}

func TestATurnThatSeveralCallsPresent(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	statusless(s)
	a := s.ask(slacktest.General)
	for range 10 {
		s.channel.Present(s.turn(a))
	}
	for range 10 {
		s.channel.Pause(s.ctx, a.id)
	}
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
	require.Len(t, s.Calls("reactions.add"), 2)
}

func TestCommandsGetNoReaction(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	a := asked{id: "m1", channel: slacktest.DM, msg: domain.Inbound{
		Channel: slack.Name, PlatformID: "command-123", Chat: slacktest.Team + "/" + slacktest.DM, Sender: slacktest.Ana, Text: "/status",
	}}
	s.channel.Present(s.turn(a))
	s.emit(a, reset)
	s.answer(a, "idle")
	s.idle()
	require.Empty(t, s.Calls("reactions.add"))
}

// holdUpdate has the next edit wait at Slack before it takes effect.
func holdUpdate(s *stage) (arrived chan struct{}, release func()) {
	arrived, released := make(chan struct{}), make(chan struct{})
	var first atomic.Bool
	s.Before("chat.update", func(slacktest.Call) {
		if first.CompareAndSwap(false, true) {
			close(arrived)
			<-released
		}
	})
	release = sync.OnceFunc(func() { close(released) })
	s.t.Cleanup(release)
	return arrived, release
}

// editing is a turn whose draft has an edit under way, that waits at Slack.
func editing(s *stage) (a asked, release func()) {
	s.t.Helper()
	a = s.ask(slacktest.DM)
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	arrived, release := holdUpdate(s)
	s.emit(a, text("half of"))
	<-arrived
	return a, release
}

func TestReplyWaitsForAnEdit(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a, release := editing(s)
	draft := s.drafts.Take(a.id)
	var delivery sync.WaitGroup
	delivery.Go(func() { s.deliver(s.channel, a, draft, "half of it") })
	require.Never(t, func() bool { return len(s.Calls("chat.update")) > 1 }, 100*time.Millisecond, 5*time.Millisecond)
	release()
	delivery.Wait()
	s.final(a, "half of it")
	require.Len(t, s.Calls("chat.update"), 2)
	require.Empty(t, s.Calls("conversations.history"), "the order is known")
}

func TestAnActivityWaitsForAnEditAMomentOnly(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a, release := editing(s)
	began := time.Now()
	s.channel.Pause(s.ctx, a.id)
	require.Greater(t, time.Since(began), 500*time.Millisecond, "the next step may be elsewhere")
	require.Less(t, time.Since(began), 3*time.Second)
	release()
	s.deliver(s.channel, a, s.drafts.Take(a.id), "half of it")
	s.final(a, "half of it")
}

func TestNoEditFollowsAReply(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.deliver(s.channel, a, s.drafts.Take(a.id), "whole")
	s.emit(a, text("half"))
	require.Never(t, func() bool { return len(s.Calls("chat.update")) > 1 }, 100*time.Millisecond, 5*time.Millisecond)
	s.channel.Pause(s.ctx, a.id)
	s.final(a, "whole")
}

func TestAnEditWhoseAnswerDoesNotCome(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		drafting(c)
		c.Calm(10*time.Millisecond, 50*time.Millisecond)
	})
	a, release := editing(s)
	s.await(func() bool { return len(s.Calls("chat.update")) == 1 })
	s.deliver(s.channel, a, s.end(a), "half of it") // once the edit was given up
	s.final(a, "half of it")
	release() // and then it takes effect after all
	require.Never(t, func() bool { return len(s.Posted()) != 1 }, 50*time.Millisecond, 5*time.Millisecond)
	s.final(a, "half of it")
}

func TestTheEndOfAnActivityShowsWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		drafting(c)
		c.Calm(time.Hour, 5*time.Second)
	})
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.emit(a, event.Event{Kind: event.Retry, Text: "attempt 1 of 8 failed"})
	s.channel.Pause(s.ctx, a.id)
	require.Len(t, s.Posted(), 1)
	require.Contains(t, s.Posted()[0].Text, "attempt 1 of 8 failed")
}

func TestADraftIsReplacedOnDemand(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	draft := s.drafted(a, anyMessage)
	msg := s.reply(a, s.end(a), "stopped")
	msg.Replace = true
	sent, err := s.channel.Send(s.ctx, msg)
	require.NoError(t, err)
	require.NotEqual(t, draft.TS, sent.PlatformID)
	s.final(a, "stopped")
}

func TestManyTurnsAtOnce(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	s.RateLimitEvery("reactions.add", 10, 10*time.Millisecond)
	s.RateLimitEvery("chat.startStream", 7, 10*time.Millisecond)
	s.RateLimitEvery("chat.appendStream", 7, 10*time.Millisecond)
	turns := make([]asked, 200)
	for i := range turns {
		turns[i] = s.ask(slacktest.General)
		s.emit(turns[i], reset, text("some"))
	}
	s.await(func() bool { return len(s.Calls("chat.appendStream")) > 0 })
	for i, a := range turns {
		s.answer(a, fmt.Sprintf("reply %d", i))
	}
	s.idle()
	for i, a := range turns {
		s.final(a, fmt.Sprintf("reply %d", i))
	}
	require.LessOrEqual(t, len(s.Calls("chat.startStream")), 64, "others are answered without a draft")
}

func TestThePaceOfADraft(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(*slack.Channel) {})
	begun := time.Now()
	a := s.ask(slacktest.General)
	s.await(func() bool { return s.Assistant(a.channel, a.msg.Thread).Status == "is thinking…" })
	s.emit(a, text("Half"))
	s.drafted(a, func(m slacktest.Message) bool { return m.Text == "Half" })
	require.Greater(t, time.Since(begun), 1400*time.Millisecond, "a quick reply has no draft")
	s.answer(a, "Whole")
	s.idle()
	s.final(a, "Whole")
}

func TestSlackAway(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	s.Down()
	a := s.ask(slacktest.DM)
	s.emit(a, reset, text("one"))
	require.Eventually(t, func() bool {
		_, err := s.drafts.Draft(s.ctx, a.id)
		return err == nil
	}, 10*time.Second, time.Millisecond)
	draft := s.end(a)
	s.Up()
	s.deliver(s.channel, a, draft, "done")
	require.Len(t, s.Posted(), 1)
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	// left is a draft that was left behind by a process that died.
	left := func(s *stage, channel string) (domain.Draft, slacktest.Message) {
		a := s.ask(channel)
		s.emit(a, reset, text("half"))
		m := s.drafted(a, says("half"))
		s.channel.Pause(s.ctx, a.id)
		draft, err := s.drafts.Draft(s.ctx, a.id)
		require.NoError(s.t, err)
		draft.Chat, draft.Thread, draft.Turn = a.msg.Chat, a.msg.Thread, a.id
		s.channel = s.open(drafting)
		return draft, m
	}
	for name, tt := range map[string]struct {
		channel  string
		recorded bool
	}{
		"a post": {slacktest.DM, true}, "a stream": {slacktest.General, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			draft, m := left(s, tt.channel)
			require.NoError(t, s.channel.Discard(s.ctx, draft))
			require.Empty(t, s.Message(tt.channel, m.TS).TS)
		})
	}

	t.Run("one whose place was not recorded", func(t *testing.T) {
		t.Parallel()
		for ended, channel := range map[string]string{"a post": slacktest.DM, "an open stream": slacktest.General, "a stream that Slack ended": slacktest.General} {
			s := setupStage(t, drafting)
			ts := s.Say(slacktest.Ana, channel, "do it").TS
			thread := ""
			if channel == slacktest.General {
				thread = ts
			}
			draft := domain.Draft{Turn: "m1", Chat: slacktest.Team + "/" + channel, Thread: thread, ClaimedAt: time.Now()}
			var posted string
			var err error
			if thread == "" {
				posted, err = slack.PostDraft(s.ctx, s.channel, channel, thread, draft.Reply())
			} else {
				posted, err = slack.StartStream(s.ctx, s.channel, channel, thread, slacktest.Ana, slacktest.Team)
			}
			require.NoError(t, err)
			if ended == "a stream that Slack ended" {
				s.EndStream(channel, posted, false)
			}
			require.NoError(t, s.channel.Discard(s.ctx, draft), ended)
			require.Empty(t, s.Message(channel, posted).TS, ended)
		}
	})

	t.Run("leaves the blank stream of another turn alone", func(t *testing.T) {
		t.Parallel()
		s := setupStage(t, drafting)
		a := s.ask(slacktest.General)
		s.emit(a, reset)
		m := s.drafted(a, anyMessage)
		s.await(func() bool {
			draft, err := s.drafts.Draft(s.ctx, a.id)
			return err == nil && draft.PlatformID != ""
		})
		require.NoError(t, s.channel.Discard(s.ctx, domain.Draft{Turn: "m1", Chat: a.msg.Chat, Thread: a.msg.Thread, ClaimedAt: time.Now()}))
		require.Empty(t, s.Calls("chat.delete"))
		s.answer(a, "done")
		s.idle()
		require.Equal(t, "done", s.Message(slacktest.General, m.TS).Text)
	})

	t.Run("is an error if it fails, but not if the message is gone", func(t *testing.T) {
		t.Parallel()
		s := setupStage(t, drafting)
		draft, m := left(s, slacktest.DM)
		s.Fail("chat.delete", 1, slacktest.Fault{Status: 500})
		require.Error(t, s.channel.Discard(s.ctx, draft))
		require.Equal(t, m.TS, s.Message(slacktest.DM, m.TS).TS)
		s.Delete(slacktest.DM, m.TS)
		require.NoError(t, s.channel.Discard(s.ctx, draft))
	})
}

var (
	_ channels.Presenter  = (*slack.Channel)(nil)
	_ channels.Questioner = (*slack.Channel)(nil)
	_ channels.Finder     = (*slack.Channel)(nil)
	_ channels.Splitter   = (*slack.Channel)(nil)
)
