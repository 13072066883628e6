package slack_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	lib "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
)

// calls counts the calls that were made, each of which ends in err.
type calls struct {
	made int
	err  error
}

func (c *calls) do(context.Context) error {
	c.made++
	return c.err
}

func TestLimits(t *testing.T) {
	t.Parallel()
	channel := func(t *testing.T) *slack.Channel {
		t.Helper()
		c, err := slack.New(slack.Options{BotToken: "xoxb-1"})
		require.NoError(t, err)
		return c
	}
	limited := func(wait time.Duration) *calls { return &calls{err: &lib.RateLimitedError{RetryAfter: wait}} }

	t.Run("calls are rejected until the limit expires", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, refused, fine := channel(t), limited(10*time.Second), &calls{}
			err := slack.Call(c, t.Context(), "users.info", "", refused.do)
			require.Equal(t, 10*time.Second, remoteOf(err).RetryAfter)
			time.Sleep(4 * time.Second)
			err = slack.Call(c, t.Context(), "users.info", "", fine.do)
			require.Equal(t, http.StatusTooManyRequests, remoteOf(err).Status)
			require.Equal(t, 6*time.Second, remoteOf(err).RetryAfter)
			require.ErrorContains(t, err, "users.info: slack asked to wait")
			require.Zero(t, fine.made)
			require.NoError(t, slack.Call(c, t.Context(), "auth.test", "", fine.do))
			time.Sleep(6 * time.Second)
			require.NoError(t, slack.Call(c, t.Context(), "users.info", "", fine.do))
			require.Equal(t, 2, fine.made)
		})
	})

	t.Run("messages are limited in each chat by itself", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, fine := channel(t), &calls{}
			require.Error(t, slack.Call(c, t.Context(), "chat.postMessage", "C1", limited(time.Minute).do))
			require.Error(t, slack.Call(c, t.Context(), "chat.postMessage", "C1", fine.do))
			require.NoError(t, slack.Call(c, t.Context(), "chat.postMessage", "C2", fine.do))
			require.NoError(t, slack.Call(c, t.Context(), "chat.update", "C1", fine.do))
		})
	})

	t.Run("a limit without Retry-After lasts a second", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, fine := channel(t), &calls{}
			err := slack.Call(c, t.Context(), "users.info", "", (&calls{err: lib.SlackErrorResponse{Err: "ratelimited"}}).do)
			require.Equal(t, time.Second, remoteOf(err).RetryAfter)
			require.Error(t, slack.Call(c, t.Context(), "users.info", "", fine.do))
			time.Sleep(time.Second)
			require.NoError(t, slack.Call(c, t.Context(), "users.info", "", fine.do))
		})
	})

	t.Run("optional calls are skipped first", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			c, fine := channel(t), &calls{}
			require.Error(t, slack.Call(c, t.Context(), "chat.postMessage", "C1", limited(time.Minute).do))
			require.Error(t, slack.Call(c, chat.Skippable(t.Context()), "chat.update", "C1", fine.do), "the chat is")
			require.Error(t, slack.Call(c, chat.Skippable(t.Context()), "chat.postMessage", "C2", fine.do), "the method is")
			require.Zero(t, fine.made)
			require.NoError(t, slack.Call(c, chat.Skippable(t.Context()), "chat.update", "C2", fine.do))
			time.Sleep(time.Minute)
			require.NoError(t, slack.Call(c, chat.Skippable(t.Context()), "chat.update", "C1", fine.do))
		})
	})
}
