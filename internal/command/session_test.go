package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// stopLimit is how long /stop may take.
const stopLimit = 2 * time.Second

func TestStop(t *testing.T) {
	t.Parallel()

	t.Run("while the model hangs", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t, llmtest.Hang(), llmtest.Text("next"))
		n := startNode(t, model.URL)
		hanging := n.send(t, "main", "", "hang")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, model.Await(ctx, 1))

		started := time.Now()
		require.Equal(t, "Stopped.", n.ask(t, "main", "/stop").Text)
		stopped := n.await(t, hanging)
		require.Less(t, time.Since(started), stopLimit)
		require.Equal(t, domain.ReplyFailed, stopped.Status)
		require.Equal(t, "Stopped.", stopped.Text)
		require.Equal(t, "next", n.ask(t, "main", "again").Text)
		require.Empty(t, model.Invalid())
	})

	t.Run("while a command runs", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t,
			llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done"}`}),
			llmtest.Text("next"))
		n := startNode(t, model.URL)
		running := n.send(t, "main", "", "run")
		pid := filepath.Join(n.cfg.Workspace, "pid")
		var process string
		require.Eventually(t, func() bool {
			raw, err := os.ReadFile(pid)
			process = strings.TrimSpace(string(raw))
			return err == nil && process != ""
		}, patience, 10*time.Millisecond)

		started := time.Now()
		require.Equal(t, "Stopped.", n.ask(t, "main", "/stop").Text)
		require.Less(t, time.Since(started), stopLimit)
		stopped := n.await(t, running)
		require.Equal(t, domain.ReplyFailed, stopped.Status)
		require.Eventually(t, func() bool {
			_, err := os.Stat("/proc/" + process)
			return os.IsNotExist(err)
		}, patience, 10*time.Millisecond, "the command still runs")
		require.Equal(t, "next", n.ask(t, "main", "again").Text)
		require.Empty(t, model.Invalid())
	})

	t.Run("while nothing runs", func(t *testing.T) {
		t.Parallel()
		n := startNode(t, echo(t).URL)
		require.Equal(t, "Nothing is running.", n.ask(t, "main", "/stop").Text)
	})
}

func TestCommands(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		return llmtest.Text(fmt.Sprintf("%d messages", len(r.Messages)))
	})
	n := startNode(t, model.URL)
	require.Equal(t, "2 messages", n.ask(t, "main", "one").Text)
	require.Equal(t, "4 messages", n.ask(t, "main", "two").Text)
	require.Contains(t, n.ask(t, "main", "/help").Text, "/new")
	require.Equal(t, "Nothing is running.", n.ask(t, "main", "/status").Text)
	require.Equal(t, "6 messages", n.ask(t, "main", "/etc/passwd is a path, not a command").Text)

	fresh := n.send(t, "main", "new-1", "/new")
	require.Equal(t, "New conversation.", n.await(t, fresh).Text)
	require.Equal(t, "2 messages", n.ask(t, "main", "three").Text)
	// The same /new again, with its run closed since, has no effect.
	n.closedCost(t, "http:main")
	n.send(t, "main", "new-1", "/new")
	require.Equal(t, "4 messages", n.ask(t, "main", "four").Text)
	require.Empty(t, model.Invalid())
}

func TestNewStopsTheTurn(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if strings.HasPrefix(r.LastUser(), "hang") {
			return llmtest.Hang()
		}
		return llmtest.Text(fmt.Sprintf("fresh, of %d messages", len(r.Messages)))
	})
	n := startNode(t, model.URL)
	hanging := n.send(t, "main", "", "hang")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, model.Await(ctx, 1))
	require.Equal(t, "New conversation.", n.ask(t, "main", "/new").Text)
	require.Equal(t, domain.ReplyFailed, n.await(t, hanging).Status)
	require.Equal(t, "fresh, of 2 messages", n.ask(t, "main", "hello").Text, "the system prompt and the new message")
}

func TestStatusReportsRunningWork(t *testing.T) {
	t.Parallel()
	model := llmtest.NewServer(t, llmtest.Hang(), llmtest.Text("unused"))
	n := startNode(t, model.URL)
	n.send(t, "main", "", "hang")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, model.Await(ctx, 1))
	require.Contains(t, n.ask(t, "main", "/status").Text, "step 1")
	n.ask(t, "main", "/stop")
}

func TestDeduplication(t *testing.T) {
	t.Parallel()

	t.Run("three identical events are one turn", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { n.send(t, "main", "same", "hi") })
		}
		wg.Wait()
		require.Equal(t, "echo 1", n.await(t, "same").Text)
		n.closedCost(t, "http:main")
		n.send(t, "main", "same", "hi")
		require.Equal(t, "echo 1", n.await(t, "same").Text)
		require.Equal(t, "echo 2", n.ask(t, "main", "another").Text)
		require.Equal(t, 2, model.Count())
	})

	t.Run("the same ID with another text is refused", func(t *testing.T) {
		t.Parallel()
		n := startNode(t, echo(t).URL)
		n.send(t, "main", "same", "hi")
		_, err := n.api.Send(t.Context(), "main", "same", "something else")
		require.ErrorContains(t, err, "409")
	})

	t.Run("a push channel's event delivered three times is answered once", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		memory := channeltest.NewMemory("memory")
		n := startNode(t, model.URL, func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
		event := domain.Inbound{PlatformID: "e1", Chat: "main", Sender: "ana", Text: "hi", Push: true}
		for range 3 {
			require.NoError(t, memory.Deliver(t.Context(), event))
		}
		n.closedCost(t, "memory:main")
		require.NoError(t, memory.Deliver(t.Context(), event))
		event.PlatformID = "e2"
		require.NoError(t, memory.Deliver(t.Context(), event))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		posted, err := memory.Await(ctx, 2)
		require.NoError(t, err)
		n.closedCost(t, "memory:main")
		require.Len(t, memory.Posted(), 2, posted)
		require.Equal(t, 2, model.Count())
	})
}

func TestMidTurnMessages(t *testing.T) {
	t.Parallel()

	t.Run("a message joins the running turn at its next step", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		model := llmtest.NewServer(t,
			llmtest.Calls(llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}).After(hold),
			llmtest.Text("both"))
		n := startNode(t, model.URL)
		first := n.send(t, "main", "", "first")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, model.Await(ctx, 1))
		second := n.send(t, "main", "", "second")
		n.awaitQueued(t)
		close(hold)
		require.Equal(t, "both", n.await(t, first).Text)
		require.Equal(t, "both", n.await(t, second).Text)
		require.Contains(t, model.Requests()[1].LastUser(), "second")
		require.Empty(t, model.Invalid())

		// Redelivered after the run closed, a joined message stays answered.
		n.closedCost(t, "http:main")
		n.send(t, "main", second, "second")
		require.Equal(t, "both", n.await(t, second).Text)
		require.Equal(t, 2, model.Count())
	})

	t.Run("with mid_turn queue it waits for its own turn", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		model := llmtest.NewServer(t,
			llmtest.Calls(llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}).After(hold),
			llmtest.Text("one"), llmtest.Text("two"))
		n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) { c.Agent.MidTurn = config.MidTurnQueue })
		first := n.send(t, "main", "", "first")
		second := n.send(t, "main", "", "second")
		n.awaitQueued(t)
		close(hold)
		require.Equal(t, "one", n.await(t, first).Text)
		require.Equal(t, "two", n.await(t, second).Text)
		require.Empty(t, model.Invalid())
	})
}

// awaitQueued waits until a message waits in the session main.
func (n *testNode) awaitQueued(t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool {
		value, err := n.client.QueryWorkflow(context.Background(), protocol.Names{}.Session("http:main"), "", protocol.StatusQuery)
		if err != nil {
			return false
		}
		var status protocol.Status
		return value.Get(&status) == nil && status.Queued > 0
	}, patience, 10*time.Millisecond)
}

// userTexts are the user messages of the session main, in order.
func (n *testNode) userTexts(t testing.TB) []string {
	t.Helper()
	transcript, err := n.api.Transcript(t.Context(), "http:main")
	require.NoError(t, err)
	var texts []string
	for _, m := range transcript {
		if m.Role == "user" {
			texts = append(texts, m.Content)
		}
	}
	return texts
}

func TestStorms(t *testing.T) {
	t.Parallel()

	t.Run("100 concurrent messages to one session are all accepted, in order", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() { n.send(t, "main", fmt.Sprintf("m%03d", i), fmt.Sprintf("message %03d", i)) })
		}
		wg.Wait()
		for i := range 100 {
			require.Equal(t, domain.ReplyDone, n.await(t, fmt.Sprintf("m%03d", i)).Status)
		}
		texts := n.userTexts(t)
		require.Len(t, texts, 100)
		slices.Sort(texts)
		require.Len(t, slices.Compact(texts), 100)
		n.closedCost(t, "http:main")
		// The latest run was told of the last of them, in this order.
		told, took := bySender(n.told(t))["http"], n.took(t)["http"]
		require.NotEmpty(t, told)
		require.Equal(t, told, took[len(took)-len(told):])
		require.Empty(t, model.Invalid())
	})

	t.Run("messages sent one after the other keep their order", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL)
		var sent []string
		for i := range 100 {
			sent = append(sent, fmt.Sprintf("message %03d", i))
			n.send(t, "main", fmt.Sprintf("m%03d", i), sent[i])
		}
		n.await(t, "m099")
		require.Equal(t, sent, n.userTexts(t))
	})

	t.Run("64 concurrent sessions", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL)
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				session := fmt.Sprintf("s%d", i)
				for range 3 {
					if answer := n.ask(t, session, "hi"); answer.Status != domain.ReplyDone {
						t.Errorf("%s: %s: %s", session, answer.Status, answer.Text)
					}
				}
			})
		}
		wg.Wait()
		require.Equal(t, 192, model.Count())
		require.Empty(t, model.Invalid())
	})
}
