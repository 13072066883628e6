package slack_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// manifest is the part of a manifest that the tests look at.
type manifest struct {
	Features struct {
		AgentView *struct {
			Description string `yaml:"agent_description"`
			Prompts     []struct {
				Title, Message string
			} `yaml:"suggested_prompts"`
		} `yaml:"agent_view"`
		AssistantView any `yaml:"assistant_view"`
		SlashCommands []struct {
			Command string
			URL     string
			Hint    string `yaml:"usage_hint"`
		} `yaml:"slash_commands"`
		AppHome struct {
			Home     bool `yaml:"home_tab_enabled"`
			Messages bool `yaml:"messages_tab_enabled"`
			ReadOnly bool `yaml:"messages_tab_read_only_enabled"`
		} `yaml:"app_home"`
	}
	OAuth struct {
		Scopes struct{ Bot []string }
	} `yaml:"oauth_config"`
	Settings struct {
		Events struct {
			URL string   `yaml:"request_url"`
			Bot []string `yaml:"bot_events"`
		} `yaml:"event_subscriptions"`
		Interactivity struct {
			URL     string `yaml:"request_url"`
			Enabled bool   `yaml:"is_enabled"`
		}
		Socket bool `yaml:"socket_mode_enabled"`
	}
}

// readManifest returns the manifest as text and decoded.
func readManifest(t *testing.T, m slack.Manifest) (string, manifest) {
	t.Helper()
	text, err := m.YAML()
	require.NoError(t, err)
	var decoded manifest
	require.NoError(t, yaml.Unmarshal([]byte(text), &decoded))
	return text, decoded
}

func TestManifestForHTTP(t *testing.T) {
	t.Parallel()
	const url = "https://bot.example.com/slack"
	for _, at := range []string{url, "https://bot.example.com", "https://bot.example.com/"} {
		text, manifest := readManifest(t, slack.Manifest{URL: at})
		require.False(t, manifest.Settings.Socket)
		require.Equal(t, url, manifest.Settings.Events.URL)
		require.Equal(t, url, manifest.Settings.Interactivity.URL)
		require.Equal(t, url, manifest.Features.SlashCommands[0].URL)
		require.NotContains(t, text, "holdfast.example.com")
	}
	for _, at := range []string{"bot.example.com", "http://bot.example.com/slack", "https://", "https://a:b@c/slack", "https://c/slack?a=b", "https://c/%zz"} {
		_, err := slack.Manifest{URL: at}.YAML()
		require.ErrorContains(t, err, "https://holdfast.example.com/slack", at)
		_, err = slack.Manifest{URL: at}.JSON()
		require.Error(t, err)
	}
}

func TestManifest(t *testing.T) {
	t.Parallel()
	text, manifest := readManifest(t, slack.Manifest{})

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
	require.Nil(t, manifest.Features.AgentView)
	require.Nil(t, manifest.Features.AssistantView)
	require.Equal(t, []string{"app_mention", "message.channels", "message.groups", "message.im", "message.mpim"}, manifest.Settings.Events.Bot)
	require.Equal(t, "/holdfast", manifest.Features.SlashCommands[0].Command)
	var commands []string
	for _, command := range domain.Commands() {
		commands = append(commands, string(command.Name))
	}
	require.Equal(t, strings.Join(commands, " | "), manifest.Features.SlashCommands[0].Hint)
	require.Contains(t, text, "callback_id: holdfast_stop")
	require.True(t, manifest.Features.AppHome.Messages)
	require.False(t, manifest.Features.AppHome.ReadOnly)
	require.True(t, manifest.Settings.Interactivity.Enabled)
	require.True(t, manifest.Settings.Socket)
}

func TestManifestWithAgentView(t *testing.T) {
	t.Parallel()
	_, manifest := readManifest(t, slack.Manifest{AgentView: true})
	require.NotEmpty(t, manifest.Features.AgentView.Description)
	require.NotEmpty(t, manifest.Features.AgentView.Prompts)
	require.Contains(t, manifest.OAuth.Scopes.Bot, "assistant:write")
	require.Len(t, manifest.OAuth.Scopes.Bot, len(slack.Scopes)+1)
	require.Subset(t, manifest.Settings.Events.Bot, []string{"app_context_changed", "app_home_opened", "message.im"})
}

func TestManifestWithHome(t *testing.T) {
	t.Parallel()
	_, plain := readManifest(t, slack.Manifest{})
	require.False(t, plain.Features.AppHome.Home)
	for _, m := range []slack.Manifest{{Home: true}, {Home: true, AgentView: true}} {
		_, manifest := readManifest(t, m)
		require.True(t, manifest.Features.AppHome.Home)
		require.True(t, manifest.Features.AppHome.Messages)
		opened := slices.DeleteFunc(manifest.Settings.Events.Bot, func(event string) bool { return event != "app_home_opened" })
		require.Len(t, opened, 1)
	}
}

// TestSlackAcceptsTheManifest has every form of the manifest validated, and a few
// that Slack refuses.
func TestSlackAcceptsTheManifest(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	validate := func(t *testing.T, text string) (answer struct {
		OK     bool
		Error  string
		Errors []struct{ Message string }
	},
	) {
		t.Helper()
		response, err := http.PostForm(server.APIURL()+"apps.manifest.validate", url.Values{"manifest": {text}})
		require.NoError(t, err)
		defer response.Body.Close()
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answer))
		return answer
	}
	for _, m := range []slack.Manifest{{}, {AgentView: true}, {URL: "https://bot.example.com"}, {URL: "https://bot.example.com", AgentView: true}, {Home: true}} {
		text, err := m.JSON()
		require.NoError(t, err)
		answer := validate(t, text)
		require.True(t, answer.OK, "%+v: %+v", m, answer)
	}

	plain, err := slack.Manifest{}.JSON()
	require.NoError(t, err)
	for name, change := range map[string][2]string{
		"Assistant:write scope should include agent_view feature":               {`"chat:write"`, `"chat:write", "assistant:write"`},
		"New apps must use agent_view":                                          {`"features": {`, `"features": { "assistant_view": {"assistant_description": "x"},`},
		"Agent View requires the assistant:write scope":                         {`"features": {`, `"features": { "agent_view": {"agent_description": "x"},`},
		"message.im requires the scope im:history":                              {`"im:history",`, ``},
		"Event Subscription requires either Request URL or Socket Mode Enabled": {`"socket_mode_enabled": true`, `"socket_mode_enabled": false`},
	} {
		require.Contains(t, plain, change[0])
		answer := validate(t, strings.Replace(plain, change[0], change[1], 1))
		require.Equal(t, "invalid_manifest", answer.Error, name)
		require.Contains(t, answer.Errors, struct{ Message string }{name})
	}
}
