package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
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
// hang: commands, the ends of turns, messages to stop and the delivery of a reply, whose first
// attempt failed, are done as usual.
func TestCommandsDoNotWaitBehindModelCalls(t *testing.T) {
	t.Parallel()
	const slots, extra = 4, 4
	memory, answer := channeltest.NewMemory("memory"), make(chan struct{})
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if strings.Contains(r.LastUser(), "reply") {
			return llmtest.Text("the reply").After(answer)
		}
		return llmtest.Hang()
	})
	n := startNode(t, model.URL, withModelCalls(slots), func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
	memory.Fail(1)
	require.NoError(t, memory.Deliver(t.Context(), domain.Inbound{PlatformID: "1", Chat: "c", Sender: "ana", Text: "reply"}))
	require.NoError(t, model.Await(t.Context(), 1))
	var hanging []string
	for i := range slots + extra {
		hanging = append(hanging, n.send(t, "h"+strconv.Itoa(i), "", "hang"))
	}
	require.NoError(t, model.Await(t.Context(), slots))
	close(answer)
	replied := time.Now()
	_, err := memory.Await(t.Context(), 1)
	require.NoError(t, err)
	require.Less(t, time.Since(replied), 2*time.Second, "the reply")
	require.NoError(t, model.Await(t.Context(), slots+1))

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

// TestSendersTakeTurns lets one sender ask in many conversations at once and hand over work to
// subagents, with a job and the first message of another sender behind: the other sender comes
// next, the job and the subagents last.
func TestSendersTakeTurns(t *testing.T) {
	t.Parallel()
	const messages, subagents = 6, 3
	next := make(chan struct{})
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if !strings.Contains(r.LastUser(), "ana first") || len(r.Results()) > 0 {
			return llmtest.Text("done").After(next)
		}
		var calls []llmtest.Call
		for i := range subagents {
			calls = append(calls, llmtest.Call{Name: "spawn", Arguments: fmt.Sprintf(`{"task":"task %d"}`, i)})
		}
		return llmtest.Calls(calls...)
	})
	n := startNode(t, model.URL, withModelCalls(1))
	accept := func(channel, chat, sender, text string) (session string) {
		t.Helper()
		accepted, err := n.starter.Accept(t.Context(), domain.Inbound{
			Channel: channel, Chat: chat, PlatformID: text, Sender: sender, Text: text,
		})
		require.NoError(t, err)
		n.awaitCall(t, accepted.Session)
		return accepted.Session
	}
	tree := accept("http", "first", "ana", "ana first")
	require.NoError(t, model.Await(t.Context(), 2)) // its next step, or one of its subagents
	var children []domain.Subagent
	require.Eventually(t, func() bool {
		var err error
		children, err = n.store.Subagents(t.Context(), tree)
		return err == nil && len(children) == subagents
	}, patience, 10*time.Millisecond)
	for _, child := range children {
		n.awaitCall(t, child.Session)
	}
	accept(domain.JobChannel, "j1", "ana", "job")
	for i := range messages {
		accept("http", fmt.Sprint("c", i), "ana", fmt.Sprint("ana ", i))
	}
	accept("http", "bea", "bea", "bea")

	var order []string
	at := func(text string) int {
		return slices.IndexFunc(order, func(s string) bool { return strings.Contains(s, text) })
	}
	began := model.Requests()[1].LastUser()
	asked := func(text string) bool { return strings.Contains(began, text) || at(text) >= 0 }
	for i := 3; !asked("job") || !asked("task 0") || !asked("task 1") || !asked("task 2"); i++ {
		next <- struct{}{}
		require.NoError(t, model.Await(t.Context(), i))
		order = append(order, model.Requests()[i-1].LastUser())
	}
	close(next)
	require.LessOrEqual(t, at("bea"), 3, order)
	last := at(fmt.Sprint("ana ", messages-1))
	for i := range messages {
		last = max(last, at(fmt.Sprint("ana ", i)))
	}
	require.Greater(t, at("job"), last, order)
	for i, text := range order {
		if strings.HasPrefix(text, "task ") {
			require.Greater(t, i, last, order)
		}
	}
}

// awaitCall waits until the session's workflow has asked for a model call.
func (n *testNode) awaitCall(t *testing.T, session string) {
	t.Helper()
	require.Eventually(t, func() bool {
		run, err := n.Temporal.Run(t.Context(), session, "")
		return err == nil && len(run.Pending) > 0
	}, patience, 10*time.Millisecond)
}
