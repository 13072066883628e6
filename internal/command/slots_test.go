package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// withModelCalls limits the model calls that a node makes at once.
func withModelCalls(n int) func(*config.Config, *node.Roles) {
	return func(c *config.Config, _ *node.Roles) { c.Worker.ModelCalls = n }
}

// TestCommandsDoNotWaitBehindModelCalls fills all slots of the model calls with calls that
// hang: commands, the ends of turns and messages to stop are answered as usual.
func TestCommandsDoNotWaitBehindModelCalls(t *testing.T) {
	t.Parallel()
	const slots, extra = 4, 4
	model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Hang() })
	n := startNode(t, model.URL, withModelCalls(slots))
	var hanging []string
	for i := range slots + extra {
		hanging = append(hanging, n.send(t, "h"+strconv.Itoa(i), "", "hang"))
	}
	require.NoError(t, model.Await(t.Context(), slots))

	timed := func(session, command, want string) {
		t.Helper()
		started := time.Now()
		require.Contains(t, n.ask(t, session, command).Text, want)
		require.Less(t, time.Since(started), 2*time.Second, command)
	}
	timed("other", "/status", "Nothing is running.")
	timed("h0", "/status", "Working")
	for i := range slots + extra {
		if i%slots == 0 { // some that run, some that wait
			timed("h"+strconv.Itoa(i), "/stop", "Stopped.")
			require.Equal(t, "Stopped.", n.await(t, hanging[i]).Text)
		}
	}
}

// TestSendersTakeTurns lets one sender ask in many conversations at once, with a job and
// the first message of another sender behind: the other sender comes next, the job last.
func TestSendersTakeTurns(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Text("done").After(next) })
	n := startNode(t, model.URL, withModelCalls(1))
	accept := func(channel, chat, sender, text string) {
		t.Helper()
		accepted, err := n.starter.Accept(t.Context(), domain.Inbound{
			Channel: channel, Chat: chat, PlatformID: text, Sender: sender, Text: text,
		})
		require.NoError(t, err)
		n.awaitCall(t, accepted.Session)
	}
	accept("http", "first", "ana", "ana first")
	require.NoError(t, model.Await(t.Context(), 1))
	accept(domain.JobChannel, "j1", "ana", "job")
	const messages = 6
	for i := range messages {
		accept("http", fmt.Sprint("c", i), "ana", fmt.Sprint("ana ", i))
	}
	accept("http", "bea", "bea", "bea")

	for i := range messages + 3 {
		require.NoError(t, model.Await(t.Context(), i+1))
		next <- struct{}{}
	}
	var order []string
	for _, r := range model.Requests() {
		order = append(order, r.LastUser())
	}
	at := func(text string) int {
		return slices.IndexFunc(order, func(s string) bool { return strings.Contains(s, text) })
	}
	require.LessOrEqual(t, at("bea"), 3, order)
	require.Equal(t, messages+2, at("job"), order)
}

// awaitCall waits until the session's workflow has asked for a model call.
func (n *testNode) awaitCall(t *testing.T, session string) {
	t.Helper()
	require.Eventually(t, func() bool {
		run, err := n.Temporal.Run(t.Context(), session, "")
		return err == nil && len(run.Pending) > 0
	}, patience, 10*time.Millisecond)
}
