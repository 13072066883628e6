package command

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest/wire"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/prompt"
)

// promptBudget bounds, in bytes, what each model call carries before the first
// message: the system prompt and the schemas of all built-in tools.
const promptBudget = 11_000

// TestPromptBudget measures a new workspace's prompt as a model receives it.
func TestPromptBudget(t *testing.T) {
	t.Parallel()
	var body []byte
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		req, _ := wire.ReadRequest(w, r)
		wire.Write(w, req, wire.Completion{Content: "ok"})
	}))
	t.Cleanup(model.Close)
	push := withChannels(map[string]node.PushChannel{"memory": channeltest.NewMemory("memory")})
	n := startNode(t, model.URL, push, func(c *config.Config, _ *node.Roles) {
		_, err := prompt.WriteTemplates(c.Workspace)
		require.NoError(t, err)
	})
	require.Equal(t, "ok", n.ask(t, "main", "hi").Text)

	var sent struct {
		Messages []struct{ Role, Content string }
		Tools    json.RawMessage
	}
	require.NoError(t, json.Unmarshal(body, &sent))
	require.Equal(t, "system", sent.Messages[0].Role)
	system := strings.ReplaceAll(sent.Messages[0].Content, n.cfg.Workspace, "/home/ana/.holdfast/workspace")
	for _, tool := range []string{
		"apply_patch", "cron", "edit_file", "exec", "exec_read", "exec_start", "exec_stop", "exec_write", "find_files", "grep",
		"list_dir", "memory_search", "message", "read_file", "spawn", "web_fetch", "web_search", "write_file",
	} {
		require.Contains(t, string(sent.Tools), `"name":"`+tool+`"`)
	}
	t.Logf("system prompt: %d bytes, tools: %d bytes", len(system), len(sent.Tools))
	require.LessOrEqual(t, len(system)+len(sent.Tools), promptBudget)
}
