package slack_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestMessagesAreFollowedAgainAfterARestart(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.emit(a, reset, text("one"))
	draft := s.drafted(a, says("one"))
	s.stop()
	s.channel, s.stop = s.open(drafting)
	s.await(func() bool { return s.channel.Followed() == 1 })
	s.emit(a, text(" two"))
	sent := s.answer(a, "done")
	require.Equal(t, slacktest.DM+"/"+draft.TS, sent.PlatformID)
	s.idle()
	s.final(a, "done")
	require.Equal(t, []string{"white_check_mark"}, s.reactions(a))
	require.Len(t, s.Calls("chat.postMessage"), 1, "the turn has its draft already")
}

func TestAMessageIsFollowedOnce(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	statusless(s)
	a := s.ask(slacktest.General)
	for range 10 {
		s.channel.Follow(s.backend, a.id, a.msg)
	}
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
	require.Len(t, s.Calls("reactions.add"), 2)
}

func TestMessagesWithoutATimestampGetNoReaction(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	msg := domain.Inbound{
		Channel: slack.Name, PlatformID: "command-123", Chat: slacktest.Team + "/" + slacktest.DM, Sender: slacktest.Ana, Text: "/status",
	}
	accepted, err := s.backend.Accept(s.ctx, msg)
	require.NoError(t, err)
	s.channel.Follow(s.backend, accepted.Message, msg)
	s.backend.Emit(accepted.Message, reset)
	s.backend.End(accepted.Message, channeltest.Answer{Reply: "idle"})
	s.idle()
	require.Empty(t, s.Calls("reactions.add"))
}

func TestRunEndsWhenNothingIsFollowed(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	release := make(chan struct{})
	posting := make(chan struct{})
	s.After("chat.postMessage", func(slacktest.Call) { close(posting); <-release })
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	<-posting
	var stopping sync.WaitGroup
	stopped := make(chan struct{})
	stopping.Go(func() { s.stop(); close(stopped) })
	select {
	case <-stopped:
		t.Fatal("Run ended while a draft was being posted")
	case <-time.After(50 * time.Millisecond):
	}
	s.Heal()
	close(release)
	stopping.Wait()
	require.NotEmpty(t, s.backend.TakeDraft(a.id), "where it is was recorded")
	require.NoError(t, s.backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Watching == 0 }))

	b := s.ask(slacktest.DM)
	s.emit(b, reset)
	require.Equal(t, -1, s.channel.Followed(), "nothing is followed after Run")
}

func TestManyMessagesAtOnce(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	s.RateLimitEvery("reactions.add", 10, 10*time.Millisecond)
	s.RateLimitEvery("chat.startStream", 7, 10*time.Millisecond)
	s.RateLimitEvery("chat.appendStream", 7, 10*time.Millisecond)
	messages := make([]asked, 200)
	for i := range messages {
		messages[i] = s.accept(slacktest.General)
		s.channel.Follow(s.backend, messages[i].id, messages[i].msg)
		require.LessOrEqual(t, s.channel.Followed(), 64)
		s.emit(messages[i], reset, text("some"))
	}
	s.await(func() bool { return len(s.Calls("chat.appendStream")) > 0 })
	for i, a := range messages {
		s.answer(a, fmt.Sprintf("reply %d", i))
	}
	s.idle()
	for i, a := range messages {
		s.final(a, fmt.Sprintf("reply %d", i))
	}
}

func TestRunShowsWhatHappens(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{Stream: true}, answer: channeltest.Hold})
	said := r.Say(slacktest.Ana, slacktest.General, "<@"+slacktest.BotUser+"> do it")
	r.accepted(1)
	require.NoError(t, r.Await(r.ctx, func() bool {
		return r.Assistant(slacktest.General, said.TS).Status == "is thinking…"
	}))
	id := r.backend.MessageID(slack.Name, slacktest.Team+"/"+slacktest.General, said.TS)
	begun := time.Now()
	r.backend.Emit(id, text("Half"))
	require.NoError(t, r.Await(r.ctx, func() bool {
		thread := r.Thread(slacktest.General, said.TS)
		return len(thread) == 2 && thread[1].Text == "Half"
	}))
	require.Greater(t, time.Since(begun), 1400*time.Millisecond, "a quick reply has no draft")
	draft := r.backend.TakeDraft(id)
	r.backend.End(id, channeltest.Answer{Reply: "Whole"})
	_, err := r.channel.Send(r.ctx, channels.OutboundMessage{
		ID: "o-" + id, Channel: slack.Name, Chat: slacktest.Team + "/" + slacktest.General, Thread: said.TS, Text: "Whole", Draft: draft,
	})
	require.NoError(t, err)
	thread := r.Thread(slacktest.General, said.TS)
	require.Len(t, thread, 2)
	require.Equal(t, "Whole", thread[1].Text)
}

func TestSlackAway(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	warm := s.ask(slacktest.DM)
	s.answer(warm, "first")
	s.idle()
	s.Down()
	a := s.ask(slacktest.DM)
	s.emit(a, reset, text("one"))
	draft := s.end(a, "done")
	s.idle()
	s.Up()
	s.deliver(s.channel, a, draft, "done")
	require.Len(t, s.Posted(), 2)
}
