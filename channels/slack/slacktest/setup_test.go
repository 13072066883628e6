package slacktest_test

import (
	"context"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// deadline bounds every wait of these tests.
const deadline = 30 * time.Second

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func client(s *slacktest.Server) *slack.Client {
	return slack.New(slacktest.BotToken, slack.OptionAPIURL(s.APIURL()), slack.OptionAppLevelToken(slacktest.AppToken))
}

// connect runs a Socket Mode client until stop is called or the test ends, and
// waits until it is connected. It does not acknowledge.
func connect(t *testing.T, s *slacktest.Server) (c *socketmode.Client, stop func()) {
	t.Helper()
	c = socketmode.New(client(s))
	before := s.Connections()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.RunContext(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	require.NoError(t, s.AwaitConnections(bounded(t), before+1))
	return c, stop
}

// next returns the next event of a type, skipping others.
func next(t *testing.T, c *socketmode.Client, kind socketmode.EventType) socketmode.Event {
	t.Helper()
	ctx := bounded(t)
	for {
		select {
		case e := <-c.Events:
			if e.Type == kind {
				return e
			}
		case <-ctx.Done():
			require.FailNow(t, "no event of this type came", kind)
		}
	}
}
