package cli_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/channels/http/client"
)

// moving is a fixture whose agent stops and starts, each time at another address.
type moving struct {
	*fixture

	t       *testing.T
	address atomic.Value // URL
	stop    func()
}

func setupMoving(t *testing.T) *moving {
	t.Helper()
	m := &moving{fixture: setup(t, channeltest.Hold), t: t}
	m.start()
	m.options.Agent = agent{client.NewFinding(m.url(t.Context()), "", m.url)}
	return m
}

func (m *moving) url(context.Context) string { return m.address.Load().(string) }

func (m *moving) start() {
	m.t.Helper()
	channel, err := http.New(http.Options{Listen: "127.0.0.1:0", Version: "v1"})
	require.NoError(m.t, err)
	ctx, cancel := context.WithCancel(m.ctx)
	ended := make(chan error, 1)
	go func() { ended <- channel.Run(ctx, m.backend) }()
	m.address.Store("http://" + channel.Addr().String())
	m.stop = func() {
		cancel()
		require.NoError(m.t, <-ended)
	}
	m.t.Cleanup(cancel)
}

// TestAgentGoesAway has the agent stop and come back elsewhere: the person is told, what was
// typed meanwhile is sent then, and a reply that is awaited arrives.
func TestAgentGoesAway(t *testing.T) {
	t.Parallel()

	t.Run("in lines", func(t *testing.T) {
		t.Parallel()
		m := setupMoving(t)
		l := m.lines()
		_, err := fmt.Fprintln(l.in, "one")
		require.NoError(t, err)
		one := m.accepted(t, 0)
		m.stop()
		m.sees(t, l, "not connected, the reply follows when it is back\n")
		m.start()
		m.sees(t, l, "connected again\n")
		m.end(one, channeltest.Answer{Reply: "first reply"})
		m.sees(t, l, "first reply\n")

		m.stop()
		m.sees(t, l, "not connected, will send when it is back\n")
		_, err = fmt.Fprintln(l.in, "two")
		require.NoError(t, err)
		m.start()
		two := m.accepted(t, 1)
		require.Equal(t, "two", two.Text)
		m.end(two, channeltest.Answer{Reply: "second reply"})
		m.sees(t, l, "second reply\n")
		require.NoError(t, l.in.Close())
		require.NoError(t, <-l.left)
	})

	t.Run("on the screen", func(t *testing.T) {
		t.Parallel()
		m := setupMoving(t)
		p := m.sit(t, filepath.Join(t.TempDir(), "history"))
		m.stop()
		p.sees("not connected, will send when it is back")
		p.types("hello there" + enter)
		p.sees("will send when it is back: hello there")
		require.NotContains(t, p.screen.String(), "› hello there\x1b[22m", "it is not shown as sent")
		m.start()
		one := m.accepted(t, 0)
		p.sees("thinking")
		m.end(one, channeltest.Answer{Reply: "welcome"})
		p.sees("welcome")

		m.stop()
		p.types("never" + enter)
		p.sees("will send when it is back: never")
		p.types(ctrlC)
		require.EqualError(t, <-p.left, "not sent: never")
		unseen, err := m.chat().Unseen()
		require.NoError(t, err)
		require.Len(t, unseen, 1, "the next chat says so")
		require.True(t, strings.HasPrefix(unseen[0].Text, "never"))
	})
}

// late answers a Send only once it is released.
type late struct {
	cli.Agent
	release chan struct{}
}

func (l late) Send(ctx context.Context, session, id, text string) error {
	err := l.Agent.Send(ctx, session, id, text)
	<-l.release
	return err
}

func TestLeavingWaitsForAMessageOnItsWay(t *testing.T) {
	t.Parallel()
	f := setup(t, holdAllButAnswers)
	release := make(chan struct{})
	f.options.Agent = late{f.options.Agent, release}
	p := f.sit(t, filepath.Join(t.TempDir(), "history"))
	p.types("push it" + enter)
	f.accepted(t, 0)
	p.types(ctrlD)
	p.sees("leaving once it is sent")
	close(release)
	p.leaves()
}
