//go:build peers

package command

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// startAimock runs the aimock provider with the fixtures and returns its address.
func startAimock(t *testing.T, fixtures string) string {
	t.Helper()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())

	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "fixtures.json"), []byte(fixtures), 0o600))
	settings := filepath.Join(folder, "aimock.json")
	raw, err := json.Marshal(map[string]any{"llm": map[string]any{"fixtures": filepath.Join(folder, "fixtures.json")}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(settings, raw, 0o600))

	cmd := exec.Command("node", filepath.Join(dir, "node_modules/@copilotkit/aimock/dist/aimock-cli.js"),
		"--config", settings, "--host", "127.0.0.1", "--port", port)
	cmd.Stderr = t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	base := "http://127.0.0.1:" + port
	require.Eventually(t, func() bool {
		response, err := http.Get(base + "/v1/models")
		if err != nil {
			return false
		}
		return response.Body.Close() == nil
	}, patience, 50*time.Millisecond)
	return base
}

// TestAimock runs turns against a third-party fake provider.
func TestAimock(t *testing.T) {
	base := startAimock(t, `{"fixtures": [
		{"match": {"userMessage": "hello"}, "response": {"content": "Hi there!"}},
		{"match": {"userMessage": "list", "hasToolResult": true}, "response": {"content": "I looked into both."}},
		{"match": {"userMessage": "list", "hasToolResult": false}, "response": {"toolCalls": [
			{"name": "list_dir", "arguments": {"path": "."}},
			{"name": "exec", "arguments": {"command": "echo from the shell"}}]}}
	]}`)
	n := startNode(t, base+"/v1", func(c *config.Config, _ *node.Roles) { c.Model = "scripted/gpt-4o" })

	require.Equal(t, "Hi there!", n.ask(t, "main", "hello").Text)
	answer := n.ask(t, "main", "list what there is")
	require.Equal(t, domain.ReplyDone, answer.Status)
	require.Equal(t, "I looked into both.", answer.Text)

	journal, err := http.Get(base + "/__aimock/journal")
	require.NoError(t, err)
	defer journal.Body.Close()
	var entries []struct {
		Path string `json:"path"`
		Body json.RawMessage
	}
	require.NoError(t, json.NewDecoder(journal.Body).Decode(&entries))
	calls := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Path, "/chat/completions") {
			calls++
		}
	}
	require.Equal(t, 3, calls, "one call for the greeting, two for the tools")
}
