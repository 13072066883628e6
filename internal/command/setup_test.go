package command

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	temporal "go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	_ "github.com/holdfast-ai/holdfast/internal/supervisor/early" // the test binary is its own supervisor
	"github.com/holdfast-ai/holdfast/internal/testrun"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
	"github.com/holdfast-ai/holdfast/starter"
)

// tune runs more tests at once than there are processors, since most of them wait, and
// collects garbage less often, here and in the processes that tests start: engines that
// live for seconds leave little behind. It leaves benchmarks alone.
func tune() {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" {
		return
	}
	testrun.Parallel(max(6, 2*runtime.GOMAXPROCS(0)))
	const gcPercent = 400
	debug.SetGCPercent(gcPercent)
	_ = os.Setenv("GOGC", strconv.Itoa(gcPercent)) // [newHome] passes it on
}

// patience bounds the wait for what should take a moment.
const patience = 60 * time.Second

// testNode is everything in one process, on free ports, with a scripted model.
type testNode struct {
	*node.Node
	api     *client.Client
	cfg     config.Config
	client  temporal.Client
	store   *store.Store
	jobs    *schedule.Jobs
	starter *starter.Starter
}

// startNode starts a node whose model is at url. It runs until the test ends.
func startNode(t testing.TB, url string, change ...func(*config.Config, *node.Roles)) *testNode {
	t.Helper()
	cfg := config.Default(t.TempDir())
	cfg.Model = "scripted/model"
	cfg.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: url, APIKey: "key", Timeout: time.Minute}
	cfg.Heartbeat.Enabled = false // it could fire at any moment
	if _, measured := t.(*testing.B); !measured {
		cfg.Engine.Durability = config.DurabilityNormal // no test cuts the power
	}
	r := node.Roles{Engine: true, Worker: true, Starter: true, Private: true}
	for _, f := range change {
		f(&cfg, &r)
	}
	if r.Engine {
		enginetest.Seed(t, cfg.DataDir())
	}
	n, _ := startOn(t, cfg, r)
	return n
}

// startOn starts a node on a home and waits until it is ready. It runs until stop is called
// or the test ends.
func startOn(t testing.TB, cfg config.Config, r node.Roles) (_ *testNode, stop func()) {
	t.Helper()
	n, ready, stop := runOn(t, cfg, r, testLog(t))
	<-ready
	return n, stop
}

// runOn is startOn without the wait, with a log. Ready is closed also if the node fails.
func runOn(t testing.TB, cfg config.Config, r node.Roles, log *slog.Logger) (_ *testNode, ready <-chan struct{}, stop func()) {
	t.Helper()
	n, err := node.Open(t.Context(), cfg, log, r)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	opened := make(chan struct{})
	open := sync.OnceFunc(func() { close(opened) })
	go func() {
		done <- n.Run(ctx, open)
		open()
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
		n.Close()
	})
	t.Cleanup(stop)
	return &testNode{
		Node: n, api: client.New(n.APIURL(), ""), cfg: n.Config, client: n.Temporal.SDK(), store: n.Store, jobs: n.Jobs, starter: n.Starter,
	}, opened, stop
}

// testLog is the log of a test: warnings, or all with HOLDFAST_TEST_LOG.
func testLog(t testing.TB) *slog.Logger {
	level := slog.LevelWarn
	if os.Getenv("HOLDFAST_TEST_LOG") != "" {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: level}))
}

// ask sends a message and waits for its answer.
func (n *testNode) ask(t testing.TB, session, text string) domain.Reply {
	t.Helper()
	return n.await(t, n.send(t, session, "", text))
}

// send sends a message and returns its ID.
func (n *testNode) send(t testing.TB, session, id, text string) string {
	t.Helper()
	receipt, err := n.api.Send(t.Context(), session, id, text)
	require.NoError(t, err)
	return receipt.ID
}

// await waits for a message's answer.
func (n *testNode) await(t testing.TB, id string) domain.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	message, err := n.api.Follow(ctx, id, func(event.Event) {})
	require.NoError(t, err)
	return message
}

// echo is a model that answers with the number of the request.
func echo(t testing.TB) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		return llmtest.Text(fmt.Sprintf("echo %d", r.Number))
	})
}

// write writes a file, with its folders.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// listening returns the URL of a server that answers.
func listening(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(nil)
	t.Cleanup(server.Close)
	return server.URL
}
