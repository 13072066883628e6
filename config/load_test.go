package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
)

// providers are a registry's.
func providers() map[string]string {
	return map[string]string{"openai": "OPENAI_API_KEY", "lm_studio": ""}
}

func load(yaml string, environ ...string) (config.Config, error) {
	return config.Load(strings.NewReader(yaml), config.Options{Home: "/h", Environ: environ, Providers: providers()})
}

func TestAnEmptyConfigHasTheDefaults(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "# only a comment\n", "---\n", "agent:\nproviders: {}\n", "agent: {max_iterations: }"} {
		cfg, err := load(text, "PATH=/bin", "HOLDFAST_LOG_LEVEL=")
		require.NoError(t, err, text)
		require.Equal(t, config.Default("/h"), cfg, text)
	}
	require.NoError(t, config.Default("/h").Validate())
}

func TestEveryKindOfValueIsReadFromTheFile(t *testing.T) {
	t.Parallel()
	cfg, err := load(`
model: My.Provider/Org/GPT-4.1
fallbacks: [openai/gpt-4.1, 'other/${NAME}']
workspace: work
providers:
  My.Provider: {kind: openai, base_url: "http://127.0.0.1:1/v1", api_key: Sk-1, headers: {X-Team.Name: Blue}, no_stream: true}
  OPENAI: &openai {timeout: 1d12h}
  again: *openai
  empty:
  named: {}
agent: {max_iterations: "${LIMIT}", temperature: 1, mid_turn: queue}
temporal: {tls: {ca: /ca.pem}}
engine: {retention: 7d}
store: {dsn: "postgres://u:a$$b@db/x", retention: 90d}
tools: {restrict_to_workspace: false, exec: {timeout: 90s}, web: {searxng: {base_url: "http://s"}}}
`, "NAME=x y", "LIMIT=7", "NAME=Model")
	require.NoError(t, err)

	want := config.Default("/h")
	want.Model, want.Fallbacks = "My.Provider/Org/GPT-4.1", []string{"openai/gpt-4.1", "other/Model"}
	want.Workspace = "/h/work"
	want.Providers = map[string]config.Provider{
		"My.Provider": {
			Kind: "openai", BaseURL: "http://127.0.0.1:1/v1", APIKey: "Sk-1", Timeout: 10 * time.Minute,
			Headers: map[string]config.Secret{"X-Team.Name": "Blue"}, NoStream: true,
		},
		"OPENAI": {Timeout: 36 * time.Hour},
		"again":  {Timeout: 36 * time.Hour},
		"empty":  {Timeout: 10 * time.Minute},
		"named":  {Timeout: 10 * time.Minute},
	}
	want.Agent.MaxIterations, want.Agent.Temperature, want.Agent.MidTurn = 7, 1, config.MidTurnQueue
	want.Temporal.TLS.CA = "/ca.pem"
	want.Engine.Retention = 7 * 24 * time.Hour
	want.Store = config.Store{DSN: "postgres://u:a$b@db/x", Retention: 90 * 24 * time.Hour}
	want.Tools.RestrictToWorkspace, want.Tools.Exec.Timeout, want.Tools.Web.SearXNG.BaseURL = false, 90*time.Second, "http://s"
	require.Equal(t, want, cfg)
	require.True(t, cfg.Temporal.UseTLS())
}

func TestTheEnvironmentWinsOverTheFile(t *testing.T) {
	t.Parallel()
	cfg, err := load(`
agent: {max_iterations: 3, max_tokens: 9}
fallbacks: [a/b]
providers: {my.Provider: {base_url: "http://a", headers: {X-Y: one}}}
`,
		"HOLDFAST_AGENT_MAX_ITERATIONS=5", "HOLDFAST_FALLBACKS=c/D.1, e/f", "HOLDFAST_ENGINE_RETENTION=2d",
		"HOLDFAST_CHANNELS_HTTP_ENABLED=false", "HOLDFAST_AGENT_TEMPERATURE=0.1", "HOLDFAST_WORKSPACE=~/w", "HOME=/u",
		"HOLDFAST_PROVIDERS_MY_PROVIDER_API_KEY=${K}", "HOLDFAST_PROVIDERS_MY_PROVIDER_HEADERS_X_Y=two",
		"HOLDFAST_PROVIDERS_LM_STUDIO_TIMEOUT=1m", "HOLDFAST_STORE_DSN=postgres://db/x",
		"HOLDFAST_HOME=/else", "HOLDFAST_CONFIG=/else", "HOLDFAST_FAILPOINT=x",
	)
	require.NoError(t, err)
	require.Equal(t, 5, cfg.Agent.MaxIterations)
	require.Equal(t, 9, cfg.Agent.MaxTokens)
	require.Equal(t, []string{"c/D.1", "e/f"}, cfg.Fallbacks)
	require.Equal(t, 48*time.Hour, cfg.Engine.Retention)
	require.False(t, cfg.Channels.HTTP.Enabled)
	require.InDelta(t, 0.1, cfg.Agent.Temperature, 0)
	require.Equal(t, "/u/w", cfg.Workspace)
	require.Equal(t, "postgres://db/x", cfg.Store.DSN.Reveal())
	require.Equal(t, map[string]config.Provider{
		"my.Provider": {BaseURL: "http://a", APIKey: "${K}", Timeout: 10 * time.Minute, Headers: map[string]config.Secret{"X-Y": "two"}},
		"lm_studio":   {Timeout: time.Minute},
	}, cfg.Providers)
}

func TestKeysInTheirUsualVariables(t *testing.T) {
	t.Parallel()
	environ := []string{"OPENAI_API_KEY=sk-env", "BRAVE_API_KEY=b", "TAVILY_API_KEY=t", "SEARXNG_BASE_URL=http://s"}
	t.Run("work without a file", func(t *testing.T) {
		t.Parallel()
		cfg, err := load("", environ...)
		require.NoError(t, err)
		require.Equal(t, config.Provider{APIKey: "sk-env", Timeout: 10 * time.Minute}, cfg.Providers["openai"])
		require.Equal(t, "b", cfg.Tools.Web.Brave.APIKey.Reveal())
		require.Equal(t, "t", cfg.Tools.Web.Tavily.APIKey.Reveal())
		require.Equal(t, "http://s", cfg.Tools.Web.SearXNG.BaseURL)
	})
	t.Run("join what the file says", func(t *testing.T) {
		t.Parallel()
		cfg, err := load("providers: {openai: {base_url: 'http://a'}}", environ...)
		require.NoError(t, err)
		require.Equal(t, config.Provider{BaseURL: "http://a", APIKey: "sk-env", Timeout: 10 * time.Minute}, cfg.Providers["openai"])
	})
	t.Run("give way to the file and to our own variables", func(t *testing.T) {
		t.Parallel()
		cfg, err := load("providers: {openai: {api_key: file}}", append(environ, "HOLDFAST_TOOLS_WEB_BRAVE_API_KEY=ours")...)
		require.NoError(t, err)
		require.Equal(t, "file", cfg.Providers["openai"].APIKey.Reveal())
		require.Equal(t, "ours", cfg.Tools.Web.Brave.APIKey.Reveal())
	})
}

func TestVariablesAreExpandedInTheFile(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, want string }{
		{"${A}", "one"},
		{"x${A}y${A}", "xoney" + "one"},
		{"${NONE:-two}", "two"},
		{"${EMPTY:-two}", "two"},
		{"x${EMPTY}", "x"},
		{"${NONE:-}x", "x"},
		{"$${A}", "${A}"},
		{"a$b$", "a$b$"},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			t.Parallel()
			cfg, err := load("model: '"+tt.value+"'", "A=one", "EMPTY=")
			require.NoError(t, err)
			require.Equal(t, tt.want, cfg.Model)
		})
	}
}

func TestLoadFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	opts := config.Options{Home: home}
	cfg, err := config.LoadFile("", opts)
	require.NoError(t, err, "home need not have one")
	require.Equal(t, config.Default(home), cfg)
	require.Equal(t, filepath.Join(home, "data"), cfg.DataDir())

	file := filepath.Join(home, "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("model: a/b"), 0o600))
	cfg, err = config.LoadFile("", config.Options{Environ: []string{"HOLDFAST_HOME=" + home}})
	require.NoError(t, err)
	require.Equal(t, "a/b", cfg.Model)
	require.Equal(t, home, cfg.Home)

	other := filepath.Join(home, "other.yaml")
	_, err = config.LoadFile(other, opts)
	require.ErrorIs(t, err, os.ErrNotExist)
	opts.Environ = []string{"HOLDFAST_CONFIG=" + other}
	_, err = config.LoadFile("", opts)
	require.ErrorIs(t, err, os.ErrNotExist, "one that was named must be there")
	require.NoError(t, os.WriteFile(other, []byte("\nmodle: a/b"), 0o600))
	_, err = config.LoadFile("", opts)
	require.EqualError(t, err, other+":2: modle: unknown setting; did you mean model?")
	_, err = config.LoadFile(home, opts)
	require.EqualError(t, err, "config: "+home+" is not a regular file")
	fifo := filepath.Join(home, "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	_, err = config.LoadFile(fifo, opts)
	require.EqualError(t, err, "config: "+fifo+" is not a regular file")
	_, err = config.LoadFile(os.DevNull, opts)
	require.NoError(t, err, "no settings")
}

func TestHomeDir(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		want    string
	}{
		{"in the user's home", []string{"HOME=/u"}, "/u/.holdfast"},
		{"named", []string{"HOME=/u", "HOLDFAST_HOME=/x/../y"}, "/y"},
		{"with a tilde that no shell has seen", []string{"HOME=/u", "HOLDFAST_HOME=~/y"}, "/u/y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, err := config.HomeDir(tt.environ)
			require.NoError(t, err)
			require.Equal(t, tt.want, home)
		})
	}
	_, err := config.HomeDir(nil)
	require.EqualError(t, err, "no home: set HOLDFAST_HOME or HOME")
}

func TestTheKeyOfGroqTranscribes(t *testing.T) {
	t.Parallel()
	environ := []string{"GROQ_API_KEY=gsk", "HOLDFAST_TOOLS_TRANSCRIPTION_ENABLED=true"}
	cfg, err := load("", environ...)
	require.NoError(t, err)
	require.Equal(t, config.Transcription{Enabled: true, BaseURL: "https://api.groq.com/openai/v1", APIKey: "gsk", Model: "whisper-large-v3"}, cfg.Tools.Transcription)

	cfg, err = load("tools: {transcription: {base_url: 'http://localhost:8000/v1'}}", environ...)
	require.NoError(t, err)
	require.Empty(t, cfg.Tools.Transcription.APIKey, "another service is not sent the key of Groq")

	_, err = load("tools: {transcription: {enabled: true}}")
	require.ErrorContains(t, err, "tools.transcription.api_key: must be set for Groq, here or as GROQ_API_KEY")
}
