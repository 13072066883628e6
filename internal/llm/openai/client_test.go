package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	llmtest.RunProvider(t, func(baseURL string) llm.Provider {
		return newClient(t, openai.Options{BaseURL: baseURL})
	})
}

// newClient fills in what the conformance suite wants.
func newClient(t testing.TB, opts openai.Options) *openai.Client {
	if opts.StallTimeout == 0 {
		opts.StallTimeout = llmtest.StallTimeout
	}
	opts.APIKey = llmtest.Key
	client, err := openai.New(opts)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}
