package command

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// TestSenderScope has two people with separate memories.
func TestSenderScope(t *testing.T) {
	t.Parallel()
	push := channeltest.NewMemory("memory")
	model := echo(t)
	n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": push}), func(c *config.Config, _ *node.Roles) { c.Memory.Scope = config.MemorySender })
	ana, err := memory.ScopeOf(memory.Sender, "memory", "", "ana")
	require.NoError(t, err)
	for name, text := range map[string]string{"memory/MEMORY.md": "for all", "memory/" + ana.String() + "/MEMORY.md": "only ana's"} {
		path := filepath.Join(n.cfg.Workspace, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for i, sender := range []string{"ana", "ben"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, push.Deliver(ctx, domain.Inbound{PlatformID: strconv.Itoa(i), Chat: sender, Sender: sender, Text: "hi"}))
		posted(t, push, i+1)
		system := model.Requests()[i].Messages[0].Content.Text
		require.Contains(t, system, "for all")
		require.Equal(t, sender == "ana", strings.Contains(system, "only ana's"), sender)
	}
}

func TestUsualScopes(t *testing.T) {
	t.Parallel()
	usual := node.Scopes(config.Default(t.TempDir()).Memory)
	require.Equal(t, "workspace", usual("http", "main", "ana").String())
	require.Equal(t, "channel-slack-T1-C2", usual("slack", "T1/C2", "T1/U3").String())
	require.Equal(t, "sender-slack-T1-U3", usual("slack", "T1/D4", "T1/U3").String())
}
