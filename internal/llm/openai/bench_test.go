package openai_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
)

// BenchmarkComplete is one call against a stub: what is spent besides
// the provider's own time.
func BenchmarkComplete(b *testing.B) {
	url := llmtest.NewStub(b, strings.Repeat("an answer\n", 60))
	short := llm.Request{Model: llmtest.Model, Messages: []domain.Message{{Role: domain.RoleUser, Content: "hello"}}}
	long := short
	for range 20 {
		long.Tools = append(long.Tools, llm.ToolSpec{Name: "tool" + strings.Repeat("x", len(long.Tools)), Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"a path"}}}`)})
	}
	long.Messages = nil
	for range 100 {
		long.Messages = append(long.Messages,
			domain.Message{Role: domain.RoleUser, Content: strings.Repeat("question ", 100)},
			domain.Message{Role: domain.RoleAssistant, Content: strings.Repeat("an answer\n", 100)})
	}
	long.Messages = append(long.Messages, short.Messages...)

	for _, bench := range []struct {
		name     string
		req      llm.Request
		noStream bool
	}{
		{"streamed", short, false},
		{"whole", short, true},
		{"200 messages of 1 kB streamed", long, false},
	} {
		b.Run(bench.name, func(b *testing.B) {
			client, err := openai.New(openai.Options{BaseURL: url, NoStream: bench.noStream})
			require.NoError(b, err)
			defer client.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Complete(context.Background(), bench.req, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
