package workflows_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

// TestReplay replays histories that the engine recorded. If it fails, this version cannot
// continue open workflows. Until the first release, record the histories anew as TestReplay
// in internal/command describes.
func TestReplay(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.json*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			replayer := worker.NewWorkflowReplayer()
			for kind, f := range map[string]any{
				protocol.SessionWorkflow: workflows.Session, protocol.SubagentWorkflow: workflows.Subagent,
				protocol.JobWorkflow: workflows.Job, protocol.ConsolidationWorkflow: workflows.Consolidation,
			} {
				replayer.RegisterWorkflowWithOptions(f, workflow.RegisterOptions{Name: kind})
			}
			history, err := client.HistoryFromJSON(bytes.NewReader(read(t, path)), client.HistoryJSONOptions{})
			require.NoError(t, err)
			require.NoError(t, replayer.ReplayWorkflowHistory(nil, history))
		})
	}
}

// read returns a file, unpacked if need be.
func read(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	if !strings.HasSuffix(path, ".gz") {
		return raw
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	raw, err = io.ReadAll(unpacked)
	require.NoError(t, err)
	return raw
}
