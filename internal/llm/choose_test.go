package llm_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	var (
		openai     = llm.Configured{Name: "openai", APIKey: "sk-1"}
		anthropic  = llm.Configured{Name: "anthropic", APIKey: "sk-ant-1"}
		openrouter = llm.Configured{Name: "openrouter", APIKey: "sk-or-1"}
		aihubmix   = llm.Configured{Name: "aihubmix", APIKey: "k", BaseURL: "https://aihubmix.com/v1"}
		gemini     = llm.Configured{Name: "gemini", APIKey: "k"}
		mine       = llm.Configured{Name: "mine", Kind: "openai", BaseURL: "http://10.0.0.1/v1", APIKey: "k", Timeout: time.Minute}
		keyless    = llm.Configured{Name: "box", BaseURL: "http://10.0.0.2/v1"}
	)
	list := func(c ...llm.Configured) []llm.Configured { return c }
	tests := []struct {
		name       string
		model      string
		configured []llm.Configured
		provider   string // name of the chosen one
		kind       string // its row
		want       string // the model
	}{
		{"named", "openai/gpt-4.1", list(anthropic, openai), "openai", "openai", "gpt-4.1"},
		{"named in capitals", "OpenAI/gpt-4.1", list(openai), "openai", "openai", "gpt-4.1"},
		{"slashes and dots in the model", "openrouter/meta-llama/llama-3.3-70b:free", list(openai, openrouter), "openrouter", "openrouter", "meta-llama/llama-3.3-70b:free"},
		{"named by the user's own name", "mine/some/model-1.5", list(openai, mine), "mine", "openai", "some/model-1.5"},
		{"own name without a kind is custom", "box/llama", list(keyless), "box", "custom", "llama"},
		{"local providers need no configuration", "ollama/llama3.2:3b", nil, "ollama", "ollama", "llama3.2:3b"},
		{"vendor without a key through a gateway", "anthropic/claude-opus-4-5", list(openai, openrouter), "openrouter", "openrouter", "anthropic/claude-opus-4-5"},
		{"vendor with a key directly", "anthropic/claude-opus-4-5", list(openrouter, anthropic), "anthropic", "anthropic", "claude-opus-4-5"},
		{"gateway key first", "gpt-4.1", list(openai, openrouter), "openrouter", "openrouter", "openai/gpt-4.1"},
		{"gateway recognized by its key", "claude-sonnet-4-5", list(llm.Configured{Name: "x", APIKey: "sk-or-2"}), "x", "openrouter", "anthropic/claude-sonnet-4-5"},
		{"gateway key before gateway base URL", "claude-x", list(aihubmix, openrouter), "openrouter", "openrouter", "anthropic/claude-x"},
		{"gateway keeps an existing vendor", "meta-llama/llama-x", list(openrouter), "openrouter", "openrouter", "meta-llama/llama-x"},
		{"gateway base URL next", "anthropic/claude-x", list(openai, aihubmix), "aihubmix", "aihubmix", "claude-x"},
		{"gateway recognized by its base URL", "qwen-x", list(llm.Configured{Name: "x", APIKey: "k", BaseURL: "https://api.siliconflow.com/v1"}, openai), "x", "siliconflow", "qwen-x"},
		{"then by model name", "claude-sonnet-4-5", list(openai, anthropic), "anthropic", "anthropic", "claude-sonnet-4-5"},
		{"short keywords only at the start", "o3-mini", list(anthropic, openai), "openai", "openai", "o3-mini"},
		{"then the only one", "llama-x", list(keyless), "box", "custom", "llama-x"},
		{"then the only complete one", "llama-x", list(keyless, llm.Configured{Name: "ollama"}, llm.Configured{Name: "openai"}), "box", "custom", "llama-x"},
		{"path without a provider", "org/llama-x", list(keyless), "box", "custom", "org/llama-x"},
		{"prefixes are removed", "gemini/models/gemini-2.5-pro", list(gemini), "gemini", "gemini", "gemini-2.5-pro"},
		{"empty: the first with a key, in the registry's order", "", list(openai, keyless, anthropic), "anthropic", "anthropic", "claude-sonnet-4-5"},
		{"empty: gateways first", "", list(openai, openrouter), "openrouter", "openrouter", "anthropic/claude-sonnet-4.5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := llm.Choose(tt.model, tt.configured)
			require.NoError(t, err)
			require.Equal(t, tt.provider, got.Name)
			require.Equal(t, tt.kind, got.Provider.Name)
			require.Equal(t, tt.want, got.Model)
			require.NotEmpty(t, got.BaseURL)
		})
	}
	t.Run("what is configured wins over the registry", func(t *testing.T) {
		t.Parallel()
		got, err := llm.Choose("mine/x", list(mine))
		require.NoError(t, err)
		require.Equal(t, mine, got.Configured)
		got, err = llm.Choose("openai/x", list(openai))
		require.NoError(t, err)
		require.Equal(t, "https://api.openai.com/v1", got.BaseURL)
	})
}

func TestChooseErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	two := []llm.Configured{{Name: "a", BaseURL: "http://a/v1"}, {Name: "b", BaseURL: "http://b/v1"}}
	tests := []struct {
		name, model string
		configured  []llm.Configured
		want        string
	}{
		{"nothing at all", "", nil, "OPENAI_API_KEY"},
		{"no default model", "", two, "provider/model"},
		{"named without a key", "openai/gpt-4.1", nil, "set OPENAI_API_KEY or providers.openai.api_key"},
		{"named and configured without a key", "groq/x", []llm.Configured{{Name: "groq"}}, "GROQ_API_KEY"},
		{"own without a key", "mine/x", []llm.Configured{{Name: "mine", Kind: "openai"}}, "set providers.mine.api_key"},
		{"without a base URL", "azure/x", []llm.Configured{{Name: "azure", APIKey: "k"}}, "set providers.azure.base_url"},
		{"a known model", "claude-x", nil, "set ANTHROPIC_API_KEY"},
		{"an unknown model", "foo", nil, "provider/model"},
		{"an unknown model and a choice", "foo", two, "configured are a, b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := llm.Choose(tt.model, tt.configured)
			require.ErrorIs(t, err, llm.ErrNoProvider)
			require.ErrorContains(t, err, tt.want)
		})
	}
	_, err := llm.Choose("x", []llm.Configured{{Name: "a", Kind: "opnai", BaseURL: "http://a/v1"}})
	require.ErrorContains(t, err, `unknown kind "opnai"`)
	require.ErrorContains(t, err, "openai")
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	seen, keys := map[string]bool{}, map[string]bool{}
	for _, p := range llm.Registry() {
		require.NotEmpty(t, p.KeyEnv, p.Name)
		require.False(t, seen[p.Name] || keys[p.KeyEnv], p.Name)
		seen[p.Name], keys[p.KeyEnv] = true, true
		if p.BaseURL != "" {
			u, err := url.Parse(p.BaseURL)
			require.NoError(t, err)
			require.NotEmpty(t, u.Host)
			require.Equal(t, p.Local, u.Scheme == "http", p.Name)
		}
		if p.DefaultModel != "" && len(p.Keywords) > 0 {
			got, err := llm.Choose(p.DefaultModel, []llm.Configured{{Name: p.Name, APIKey: "k"}})
			require.NoError(t, err)
			require.Equal(t, p.Name, got.Name)
		}
	}
	for _, name := range []string{
		"openai", "anthropic", "openrouter", "deepseek", "gemini", "groq", "mistral", "xai", "moonshot", "zhipu", "dashscope",
		"minimax", "siliconflow", "aihubmix", "volcengine", "azure", "ollama", "vllm", "lm_studio", "custom",
	} {
		require.True(t, seen[name], name)
	}
}
