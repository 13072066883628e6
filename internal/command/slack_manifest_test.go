package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

func TestSlackManifest(t *testing.T) {
	t.Parallel()
	out, err := runCommand(t, nil, "slack", "manifest")
	require.NoError(t, err)
	want, err := slack.Manifest{}.YAML()
	require.NoError(t, err)
	require.Equal(t, want, out)

	out, err = runCommand(t, nil, "slack", "manifest", "--url", "https://bot.example.com/slack")
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(out, `url: "https://bot.example.com/slack"`))
	require.Contains(t, out, "socket_mode_enabled: false")

	out, err = runCommand(t, nil, "slack", "manifest", "--json", "--agent-view")
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(out)))
	require.Contains(t, out, `"assistant:write"`)
	require.Contains(t, out, `"agent_view": {`)

	_, err = runCommand(t, nil, "slack", "manifest", "--url", "localhost:8091")
	require.ErrorContains(t, err, "--url: not a URL that Slack can reach")
}
