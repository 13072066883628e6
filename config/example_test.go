package config_test

import (
	"reflect"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/holdfast-ai/holdfast/config"
)

// uncommented is the example with its settings, but not its prose, made real.
func uncommented() []byte {
	return regexp.MustCompile(`(?m)^#(\S|  )`).ReplaceAll(config.Example(), []byte("$1"))
}

func TestTheExampleSetsNothing(t *testing.T) {
	t.Parallel()
	cfg, err := load(string(config.Example()))
	require.NoError(t, err)
	require.Equal(t, config.Default("/h"), cfg)
}

func TestTheExampleShowsTheDefaults(t *testing.T) {
	t.Parallel()
	cfg, err := load(string(uncommented()))
	require.NoError(t, err)
	require.Equal(t, map[string]config.Provider{"example": {
		Kind: "openai", BaseURL: "https://llm.example.com/v1", Timeout: 10 * time.Minute,
		Headers: map[string]config.Secret{"X-Team": "research"},
	}}, cfg.Providers)
	clear(cfg.Providers)
	require.Equal(t, map[string]config.Price{"example/*": {Input: 1.5, Cached: 0.15, Output: 6}}, cfg.Prices)
	clear(cfg.Prices)
	require.Equal(t, map[string]config.MCPServer{"example": {
		Args: []string{}, URL: "https://mcp.example.com/mcp",
		Headers: map[string]config.Secret{"Authorization": "Bearer "}, Timeout: time.Minute, Tools: []string{},
	}}, cfg.Tools.MCP.Servers)
	clear(cfg.Tools.MCP.Servers)
	require.Equal(t, map[string]config.Chat{"slack:c012abc": {
		Respond: "all", Tools: []string{"read_file", "web_*"}, Approvers: []string{},
	}}, cfg.Channels.Chats)
	clear(cfg.Channels.Chats)
	require.Equal(t, map[string]config.WebhookEndpoint{"ci": {URL: "https://ci.example.org/holdfast"}}, cfg.Channels.Webhook.Endpoints)
	clear(cfg.Channels.Webhook.Endpoints)
	require.Equal(t, config.Default("/h"), cfg)
}

func TestTheExampleHasEveryKey(t *testing.T) {
	t.Parallel()
	var tree map[string]any
	require.NoError(t, yaml.Unmarshal(uncommented(), &tree))
	requireKeys(t, "", reflect.TypeFor[config.Config](), tree)
}

func requireKeys(t *testing.T, at string, typ reflect.Type, tree map[string]any) {
	t.Helper()
	for field := range typ.Fields() {
		key := field.Tag.Get("yaml")
		if key == "-" {
			continue
		}
		if key == ",squash" {
			requireKeys(t, at, field.Type, tree)
			continue
		}
		require.Contains(t, tree, key, "under %q", at)
		below, _ := tree[key].(map[string]any)
		if field.Type.Kind() == reflect.Struct {
			requireKeys(t, at+key+".", field.Type, below)
		}
		if field.Type.Kind() == reflect.Map && field.Type.Elem().Kind() == reflect.Struct {
			require.Len(t, below, 1, "under %q: an example", at+key)
			for name, entry := range below {
				entry, _ := entry.(map[string]any)
				requireKeys(t, at+key+"."+name+".", field.Type.Elem(), entry)
			}
		}
	}
}
