package slack_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

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

// editing is a message whose draft has an edit under way, that waits at Slack.
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

func TestReplyWaitsForAnEditInThisProcess(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a, release := editing(s)
	draft := s.end(a, "half of it")
	var delivery sync.WaitGroup
	delivery.Go(func() { s.deliver(s.channel, a, draft, "half of it") })
	require.Never(t, func() bool { return len(s.Calls("chat.update")) > 1 }, 100*time.Millisecond, 5*time.Millisecond)
	release()
	delivery.Wait()
	s.idle()
	s.final(a, "half of it")
	require.Len(t, s.Calls("chat.update"), 2)
	require.Empty(t, s.Calls("conversations.history"), "the order is known")
}

func TestNoEditFollowsAReplyInThisProcess(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.deliver(s.channel, a, s.backend.TakeDraft(a.id), "whole") // and the news of the end are late
	s.emit(a, text("half"))
	require.Never(t, func() bool { return len(s.Calls("chat.update")) > 1 }, 100*time.Millisecond, 5*time.Millisecond)
	s.backend.End(a.id, channeltest.Answer{Reply: "whole"})
	s.idle()
	s.final(a, "whole")
}

func TestAnEditThatFollowsTheReplyOfAnotherProcess(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	worker, err := slack.New(slack.Options{BotToken: slacktest.BotToken, APIURL: s.APIURL()})
	require.NoError(t, err)
	a, release := editing(s)
	draft := s.end(a, "half of it")
	s.deliver(worker, a, draft, "half of it")
	s.final(a, "half of it")
	release()
	s.await(func() bool { return len(s.Calls("chat.update")) == 3 })
	s.idle()
	s.final(a, "half of it")
}

func TestAReplyOfAnotherProcessThatComesLast(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	worker, err := slack.New(slack.Options{BotToken: slacktest.BotToken, APIURL: s.APIURL()})
	require.NoError(t, err)
	a, release := editing(s)
	draft := s.end(a, "half of it")
	release()
	s.idle()
	s.final(a, "half of it") // written ahead of the delivery: it is the same
	s.deliver(worker, a, draft, "half of it")
	s.final(a, "half of it")
}

func TestAnEditWhoseAnswerDoesNotCome(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		drafting(c)
		c.Calm(10*time.Millisecond, 50*time.Millisecond)
	})
	a, release := editing(s)
	s.await(func() bool { return len(s.Calls("chat.update")) == 1 })
	draft := s.end(a, "half of it")
	s.deliver(s.channel, a, draft, "half of it") // once the edit was given up
	s.final(a, "half of it")
	release() // and then it takes effect after all
	s.idle()
	s.final(a, "half of it")
}

func TestARunThatEndsLeavesNoWrongReply(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	worker, err := slack.New(slack.Options{BotToken: slacktest.BotToken, APIURL: s.APIURL()})
	require.NoError(t, err)
	a, release := editing(s)
	draft := s.end(a, "half of it")
	s.deliver(worker, a, draft, "half of it")
	var stopping sync.WaitGroup
	stopping.Go(s.stop)
	release()
	stopping.Wait()
	s.final(a, "half of it")
}

func TestALongReplyIsRestoredToItsFirstPart(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	long := strings.Repeat("word ", 2000)
	parts := s.channel.Split(long)
	require.Greater(t, len(parts), 1)
	a, release := editing(s)
	s.end(a, long)
	release()
	s.idle()
	m := s.drafted(a, anyMessage)
	require.JSONEq(t, `{"id":"o-`+a.id+`.1"}`, string(m.Metadata.EventPayload))
	require.Contains(t, parts[0].Text, m.Text)
}
