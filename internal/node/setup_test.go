// Tests of the node and of packages that need a real engine: they are together so that
// one test binary links it.
package node_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/doctor"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/node"
	_ "github.com/holdfast-ai/holdfast/internal/supervisor/early" // the test binary is its own supervisor
	"github.com/holdfast-ai/holdfast/internal/testrun"
)

func TestMain(m *testing.M) {
	testrun.Parallel(8)
	os.Exit(m.Run())
}

// examine runs the doctor and returns what it finds, and whether anything failed.
func examine(t *testing.T, environ []string) (out string, failed bool) {
	t.Helper()
	var all strings.Builder
	doctor.Run(t.Context(), environ, func(f doctor.Finding) {
		fmt.Fprintln(&all, f)
		failed = failed || f.Level == doctor.Fail
	})
	return all.String(), failed
}

// startNode runs a node until the test ends. Its model is at url.
func startNode(t *testing.T, url string) *node.Node {
	t.Helper()
	cfg := config.Default(t.TempDir())
	cfg.Model = "scripted/model"
	cfg.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: url, APIKey: "key", Timeout: time.Minute}
	cfg.Heartbeat.Enabled = false
	enginetest.Seed(t, cfg.DataDir())
	n, err := node.Open(t.Context(), cfg, slog.New(slog.DiscardHandler), node.Roles{Engine: true, Worker: true, Starter: true, Private: true})
	require.NoError(t, err)
	t.Cleanup(n.Close)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	ready := make(chan struct{})
	go func() { done <- n.Run(ctx, func() { close(ready) }) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	<-ready
	return n
}

// ask sends a message to the session main and waits for the answer.
func ask(t *testing.T, n *node.Node, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	api := client.New(n.APIURL(), "")
	receipt, err := api.Send(ctx, "main", "", text)
	require.NoError(t, err)
	_, err = api.Follow(ctx, receipt.ID, func(event.Event) {})
	require.NoError(t, err)
}
