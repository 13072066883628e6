package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
)

func TestSecretsInFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	load := func(environ ...string) (config.Config, error) {
		return config.Load(strings.NewReader(`channels: {slack: {bot_token: "${SLACK_TOKEN}"}}`), config.Options{
			Home: dir, Environ: environ, Providers: map[string]string{"openai": "OPENAI_API_KEY"},
		})
	}
	cfg, err := load("HOLDFAST_STORE_DSN_FILE="+file("dsn", "postgres://u:p@db/holdfast\n"), "OPENAI_API_KEY_FILE="+file("key", " sk-1\n"),
		"SLACK_TOKEN_FILE="+file("slack", "xoxb-1"), "HOLDFAST_TEMPORAL_API_KEY=given", "HOLDFAST_TEMPORAL_API_KEY_FILE="+file("api", "other"),
		"SOME_OTHER_FILE=/no/such/file")
	require.NoError(t, err)
	require.Equal(t, "postgres://u:p@db/holdfast", cfg.StoreDSN())
	require.Equal(t, "sk-1", cfg.Providers["openai"].APIKey.Reveal())
	require.Equal(t, "xoxb-1", cfg.Channels.Slack.BotToken.Reveal())
	require.Equal(t, "given", cfg.Temporal.APIKey.Reveal())

	_, err = load("HOLDFAST_STORE_DSN_FILE=/no/such/file", "SLACK_TOKEN=xoxb-x")
	require.EqualError(t, err, "HOLDFAST_STORE_DSN_FILE: open /no/such/file: no such file or directory")
}
