package slacktest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func post(s *slacktest.Server, channel string) error {
	_, _, err := client(s).PostMessage(channel, text("hi"))
	return err
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	s.RateLimit("chat.postMessage", 1, 1500*time.Millisecond)
	var limited *slack.RateLimitedError
	require.ErrorAs(t, post(s, slacktest.General), &limited)
	require.Equal(t, 2*time.Second, limited.RetryAfter, "whole seconds, rounded up")
	require.NoError(t, post(s, slacktest.General))

	s.RateLimitEvery("chat.postMessage", 3, time.Second)
	var failed []int
	for i := range 6 {
		if post(s, slacktest.General) != nil {
			failed = append(failed, i)
		}
	}
	require.Equal(t, []int{2, 5}, failed)
	s.Heal()
	for range 3 {
		require.NoError(t, post(s, slacktest.General))
	}
	calls := s.Calls("chat.postMessage")
	require.Equal(t, http.StatusTooManyRequests, calls[0].Status)
	require.Equal(t, "ratelimited", calls[0].Error)
	require.Equal(t, "hi", calls[1].Args["text"])
	require.NotEmpty(t, calls[1].TS)
}

func TestFaults(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	s.Fail("chat.postMessage", 1, slacktest.Fault{Status: http.StatusServiceUnavailable, Channel: slacktest.General})
	require.NoError(t, post(s, slacktest.DM))
	var status slack.StatusCodeError
	require.ErrorAs(t, post(s, slacktest.General), &status)
	require.Equal(t, http.StatusServiceUnavailable, status.Code)

	s.Fail(slacktest.Any, slacktest.Always, slacktest.Fault{Error: "token_revoked"})
	for range 3 {
		require.EqualError(t, post(s, slacktest.General), "token_revoked")
	}
	s.Heal()
	s.Fail("chat.postMessage", 1, slacktest.Fault{Cut: true})
	require.Error(t, post(s, slacktest.General))
	require.Empty(t, s.Channel(slacktest.General))
	require.NoError(t, post(s, slacktest.General))
}

func TestLostResponse(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	s.LoseResponse("chat.postMessage", 1)
	require.Error(t, post(s, slacktest.General))
	require.Len(t, s.Posted(), 1)
	require.Equal(t, s.Posted()[0].TS, s.Calls("chat.postMessage")[0].TS)
	require.NoError(t, post(s, slacktest.General))
	require.Len(t, s.Posted(), 2)
}

func TestHooks(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	posted := map[string]int{}
	s.Before("chat.postMessage", func(c slacktest.Call) { posted["before "+c.Args["text"]] = len(s.Posted()) })
	s.After("chat.postMessage", func(c slacktest.Call) { posted["after "+c.Args["text"]] = len(s.Posted()) })
	require.NoError(t, post(s, slacktest.General))
	require.Equal(t, map[string]int{"before hi": 0, "after hi": 1}, posted)
}

func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	s.Slow("auth.test", 50*time.Millisecond)
	_, err := client(s).AuthTest()
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.Calls("auth.test")[0].Took, 50*time.Millisecond)
}

func TestRefusedWebSocket(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	s.Fail("link", 1, slacktest.Fault{Status: http.StatusServiceUnavailable})
	connect(t, s)
	require.Equal(t, http.StatusServiceUnavailable, s.Calls("link")[0].Status)
	require.Len(t, s.Calls("apps.connections.open"), 2)
}

func TestAnOutage(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	connect(t, s)
	s.Down()
	require.NoError(t, s.AwaitConnections(bounded(t), 0))
	require.Error(t, post(s, slacktest.General))
	require.Empty(t, s.Calls("chat.postMessage"))
	s.Up()
	require.NoError(t, post(s, slacktest.General))
	require.NoError(t, s.AwaitConnections(bounded(t), 1))
}
