package command

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// slackHome is a home whose processes are connected to a Slack of tests.
type slackHome struct {
	*home
	slack  *slacktest.Server
	mode   string
	latest atomic.Pointer[process] // of those that were started
	asked  []string                // the threads of crash tests
}

// newSlackHome returns a home whose model is at url and whose Slack is server.
func newSlackHome(t testing.TB, url string, server *slacktest.Server, mode string) *slackHome {
	t.Helper()
	h := &slackHome{home: newHome(t, url), slack: server, mode: mode}
	listen := freeAddress(t)
	if mode == slack.ModeHTTP {
		server.ServeEvents("http://" + listen + "/slack")
	}
	h.configure(t, fmt.Sprintf(`channels:
  slack:
    enabled: true
    mode: %s
    bot_token: %s
    app_token: %s
    signing_secret: %s
    listen: %s
    api_url: %s
    allow_users: ["*"]
    allow_channels: ["*"]
`, mode, slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret, listen, server.APIURL()))
	return h
}

// configure writes the home's config.
func (h *slackHome) configure(t testing.TB, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(text), 0o600))
}

// freeAddress returns a free loopback address.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// start runs `holdfast up` and returns once it is ready or has exited.
func (h *slackHome) start(t testing.TB, environ ...string) *process {
	t.Helper()
	p := h.home.start(t, environ...)
	h.latest.Store(p)
	return p
}

// connected waits until the process receives messages.
func (h *slackHome) connected(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if h.mode == slack.ModeSocket {
		require.NoError(t, h.slack.AwaitConnections(ctx, 1))
		return
	}
	require.Eventually(t, func() bool { return h.slack.Challenge(ctx) == nil }, patience, 10*time.Millisecond)
}

// killOnce kills the process that runs when it is called first.
func (h *slackHome) killOnce() func() {
	var once sync.Once
	return func() {
		once.Do(func() { h.latest.Load().kill() })
	}
}

// awaitRecorded waits until it is recorded where the draft of the answer to a
// message is.
func (h *slackHome) awaitRecorded(t testing.TB, channel, ts string) {
	t.Helper()
	stored, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(h.dir, "data", "store.db")})
	require.NoError(t, err)
	defer func() { require.NoError(t, stored.Close()) }()
	turn := domain.MessageID(slack.Name, slacktest.Team+"/"+channel, ts)
	require.Eventually(t, func() bool {
		draft, err := stored.Draft(t.Context(), turn)
		return err == nil && draft.PlatformID != ""
	}, patience, 10*time.Millisecond)
}

// temporal is a client of the process's engine.
func (p *process) temporal(t testing.TB) client.Client {
	t.Helper()
	connected, err := client.DialContext(t.Context(), client.Options{HostPort: p.info.Temporal, Logger: quiet{}})
	require.NoError(t, err)
	t.Cleanup(connected.Close)
	return connected
}

// quiet is a logger of Temporal's that says nothing.
type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}

// slackSession is the key of a conversation.
func slackSession(channel, thread string) string {
	return domain.SessionKey(slack.Name, slacktest.Team+"/"+channel, thread)
}

// awaitRest waits until a session has nothing more to do: what it said last is
// recorded, so that it will not be said again.
func awaitRest(t testing.TB, temporal client.Client, session string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	id := protocol.Names{}.Session(session)
	require.Eventually(t, func() bool { // the run may not have started, or be followed by another
		if temporal.GetWorkflow(ctx, id, "").Get(ctx, nil) != nil {
			return false
		}
		described, err := temporal.DescribeWorkflowExecution(ctx, id, "")
		return err == nil && described.WorkflowExecutionInfo.Status == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
	}, patience, 10*time.Millisecond)
}

// requireOnly checks that all the bot has written in a thread, or beside threads,
// is this, finished.
func requireOnly(t testing.TB, server *slacktest.Server, channel, thread string, want ...string) {
	t.Helper()
	messages := server.Channel(channel)
	if thread != "" {
		messages = server.Thread(channel, thread)
	}
	var all []string
	for _, m := range messages {
		if m.BotID == slacktest.Bot && (thread != "" || m.ThreadTS == "") {
			all = append(all, m.Text)
		}
	}
	require.Equal(t, want, all)
	require.Equal(t, want, finished(server, channel, thread), "a draft was left behind")
}

// sideBySide runs cases that mostly wait all at once, however few processors there
// are.
func sideBySide(t *testing.T, cases map[string]func(*testing.T)) {
	t.Helper()
	var wg sync.WaitGroup
	for name, f := range cases {
		wg.Go(func() { t.Run(name, f) })
	}
	wg.Wait()
}
