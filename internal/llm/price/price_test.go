package price_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/price"
)

func TestCost(t *testing.T) {
	t.Parallel()
	p := price.Price{Input: 2, Cached: 0.5, Output: 8}
	require.EqualValues(t, 10_000_000, p.Cost(domain.Usage{PromptTokens: 1_000_000, CompletionTokens: 1_000_000}, 0), "ten dollars")
	require.EqualValues(t, 600*2+400*0.5+50*8, p.Cost(domain.Usage{PromptTokens: 1000, CompletionTokens: 50}, 400))
	require.EqualValues(t, 500, p.Cost(domain.Usage{PromptTokens: 1000}, 5000), "no more is cached than there is")
	require.EqualValues(t, 2000, price.Price{Input: 2}.Cost(domain.Usage{PromptTokens: 1000}, 400), "no price of its own")
	require.EqualValues(t, 1, price.Price{Input: 0.06}.Cost(domain.Usage{PromptTokens: 10}, 0), "0.6 is nearer to 1")
	require.Zero(t, price.Price{}.Cost(domain.Usage{PromptTokens: 1000, CompletionTokens: 1000}, 0))
}

func TestLookup(t *testing.T) {
	t.Parallel()
	table := price.New(
		map[string]price.Price{
			"lab/Qwen3-32B":           {Input: 1, Output: 2},
			"lab/*":                   {Input: 9, Output: 9},
			"openai/gpt-4.1-mini":     {Input: 7, Output: 7},
			"azure/ours":              {Input: 5, Output: 5},
			"openrouter/z-ai/glm-4.6": {Input: 6, Output: 6},
		},
		map[string]string{"work": "openai", "lab": "vllm"},
	)
	gpt41 := price.Price{Input: 2, Cached: 0.5, Output: 8}
	sonnet := price.Price{Input: 3, Cached: 0.3, Output: 15}
	tests := []struct {
		name, provider string
		models         []string
		want           price.Price
		known          bool
	}{
		{"by name", "openai", []string{"gpt-4.1"}, gpt41, true},
		{"a dated version", "openai", []string{"gpt-4.1-2025-04-14"}, gpt41, true},
		{"a version without a year", "xai", []string{"grok-4-0709"}, price.Price{Input: 3, Cached: 0.75, Output: 15}, true},
		{"the latest", "mistral", []string{"mistral-large-latest"}, price.Price{Input: 0.5, Cached: 0.05, Output: 1.5}, true},
		{"a sibling is not its prefix", "openai", []string{"gpt-4.1-nano"}, price.Price{Input: 0.1, Cached: 0.025, Output: 0.4}, true},
		{"an unknown sibling", "openai", []string{"gpt-4.1-huge"}, price.Price{}, false},
		{"an unknown successor", "anthropic", []string{"claude-sonnet-4-9"}, price.Price{}, false},
		{"a wildcard", "xai", []string{"grok-4-1-fast-reasoning"}, price.Price{Input: 0.2, Cached: 0.05, Output: 0.5}, true},
		{"a provider with the user's own name", "work", []string{"gpt-4.1"}, gpt41, true},
		{"what vendors charge, by a gateway, with a dot", "openrouter", []string{"anthropic/claude-sonnet-4.5"}, sonnet, true},
		{"a gateway's own price is not known", "openrouter", []string{"deepseek/deepseek-v4-pro"}, price.Price{}, false},
		{"a gateway's free ones", "openrouter", []string{"deepseek/deepseek-v4-flash:free"}, price.Price{}, true},
		{"capitals", "minimax", []string{"MiniMax-M2"}, price.Price{Input: 0.3, Cached: 0.03, Output: 1.2}, true},
		{"local", "ollama", []string{"anything:7b"}, price.Price{}, true},
		{"the user's own wins", "openai", []string{"gpt-4.1-mini"}, price.Price{Input: 7, Output: 7}, true},
		{"the user's own, of a provider of his", "lab", []string{"qwen3-32b"}, price.Price{Input: 1, Output: 2}, true},
		{"the user's own, by a wildcard", "lab", []string{"other"}, price.Price{Input: 9, Output: 9}, true},
		{"the user's own, of a gateway", "openrouter", []string{"z-ai/glm-4.6"}, price.Price{Input: 6, Output: 6}, true},
		{"a deployment by its own name", "azure", []string{"ours", "gpt-4.1-2025-04-14"}, price.Price{Input: 5, Output: 5}, true},
		{"a deployment by what answered", "azure", []string{"theirs", "gpt-4.1-2025-04-14"}, gpt41, true},
		{"nobody knows", "custom", []string{"x"}, price.Price{}, false},
		{"no name", "openai", nil, price.Price{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, known := table.Lookup(tt.provider, tt.models...)
			require.Equal(t, tt.known, known)
			require.Equal(t, tt.want, got)
			cost, known := table.Cost(domain.Usage{PromptTokens: 100, CompletionTokens: 10}, 50, tt.provider, tt.models...)
			require.Equal(t, tt.known, known)
			require.Equal(t, tt.want.Cost(domain.Usage{PromptTokens: 100, CompletionTokens: 10}, 50), cost)
		})
	}
}

// Providers that charge in another currency, or by tiers that cannot be told
// apart, have no built-in price.
var unknown = map[string]bool{"aihubmix": true, "siliconflow": true, "volcengine": true}

func TestDefaultModelsHavePrices(t *testing.T) {
	t.Parallel()
	table := price.New(nil, nil)
	for _, row := range llm.Registry() {
		if row.DefaultModel == "" {
			continue
		}
		p, known := table.Lookup(row.Name, row.DefaultModel)
		require.Equal(t, !unknown[row.Name], known, row.Name)
		if known {
			require.Positive(t, p.Input, row.Name)
			require.Greater(t, p.Output, p.Input, row.Name)
			require.Less(t, p.Cached, p.Input, row.Name)
		}
	}
}
