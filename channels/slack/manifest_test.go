package slack_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

func TestManifestAt(t *testing.T) {
	t.Parallel()
	const url = "https://bot.example.com/slack"
	for _, at := range []string{url, "https://bot.example.com", "https://bot.example.com/"} {
		text, err := slack.ManifestAt(at)
		require.NoError(t, err)
		var manifest map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(text), &manifest))
		settings, _ := manifest["settings"].(map[string]any)
		require.Equal(t, false, settings["socket_mode_enabled"])
		for _, where := range []string{"event_subscriptions", "interactivity"} {
			part, _ := settings[where].(map[string]any)
			require.Equal(t, url, part["request_url"], where)
		}
		features, _ := manifest["features"].(map[string]any)
		commands, _ := features["slash_commands"].([]any)
		command, _ := commands[0].(map[string]any)
		require.Equal(t, url, command["url"])
		require.NotContains(t, text, "holdfast.example.com")
	}
	for _, at := range []string{"", "bot.example.com", "http://bot.example.com/slack", "https://", "https://a:b@c/slack", "https://c/slack?a=b", "https://c/%zz"} {
		_, err := slack.ManifestAt(at)
		require.ErrorContains(t, err, "https://holdfast.example.com/slack", at)
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Features struct {
			SlashCommands []struct {
				Command string
				Hint    string `yaml:"usage_hint"`
			} `yaml:"slash_commands"`
			AppHome struct {
				Messages bool `yaml:"messages_tab_enabled"`
				ReadOnly bool `yaml:"messages_tab_read_only_enabled"`
			} `yaml:"app_home"`
		}
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Settings struct {
			Events struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
			Interactivity struct {
				Enabled bool `yaml:"is_enabled"`
			}
			Socket bool `yaml:"socket_mode_enabled"`
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(slack.Manifest), &manifest))

	var names []string
	for _, scope := range slack.Scopes {
		names = append(names, scope.Name)
		require.NotEmpty(t, scope.Why, scope.Name)
		require.Contains(t, slacktest.AllScopes, scope.Name)
	}
	require.IsIncreasing(t, names)
	page, err := os.ReadFile("../../docs/slack.md")
	require.NoError(t, err)
	for _, scope := range slack.Scopes {
		require.Regexp(t, "\\n\\| `"+scope.Name+"` \\|.+\\| "+regexp.QuoteMeta(scope.Why)+" \\|\\n", string(page))
	}
	require.Equal(t, names, manifest.OAuth.Scopes.Bot)
	require.Equal(t, []string{"app_mention", "message.channels", "message.groups", "message.im", "message.mpim"}, manifest.Settings.Events.Bot)
	require.Equal(t, "/holdfast", manifest.Features.SlashCommands[0].Command)
	var commands []string
	for _, command := range protocol.Commands() {
		commands = append(commands, string(command.Name))
	}
	require.Equal(t, strings.Join(commands, " | "), manifest.Features.SlashCommands[0].Hint)
	require.Contains(t, slack.Manifest, "callback_id: holdfast_stop")
	require.True(t, manifest.Features.AppHome.Messages)
	require.False(t, manifest.Features.AppHome.ReadOnly)
	require.True(t, manifest.Settings.Interactivity.Enabled)
	require.True(t, manifest.Settings.Socket)
}
