package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
)

func TestCachedTokensOfEachProvider(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		usage string
		want  int
	}{
		"nothing said":        {`"prompt_tokens_details":null`, 0},
		"openai, openrouter":  {`"prompt_tokens_details":{"cached_tokens":60,"audio_tokens":0}`, 60},
		"deepseek":            {`"prompt_cache_hit_tokens":61,"prompt_cache_miss_tokens":39,"prompt_tokens_details":{"cached_tokens":61}`, 61},
		"moonshot":            {`"cached_tokens":62`, 62},
		"anthropic, by proxy": {`"cache_read_input_tokens":63,"cache_creation_input_tokens":9`, 63},
		"more than there are": {`"cached_tokens":1000`, 100},
	} {
		usage := `"usage":{"prompt_tokens":100,"completion_tokens":5,` + tt.usage + `}`
		stream := `data: {"model":"m","choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\n" +
			`data: {"model":"m","choices":[],` + usage + "}\n\ndata: [DONE]\n\n"
		resp, err := complete(t, openai.Options{}, llmtest.Raw("text/event-stream", stream))
		require.NoError(t, err)
		require.Equal(t, tt.want, resp.CachedTokens, name)
		require.Equal(t, domain.Usage{PromptTokens: 100, CompletionTokens: 5}, resp.Usage, name)

		whole := `{"model":"m","choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],` + usage + `}`
		resp, err = complete(t, openai.Options{NoStream: true}, llmtest.Raw("application/json", whole))
		require.NoError(t, err)
		require.Equal(t, tt.want, resp.CachedTokens, name)
	}
}
