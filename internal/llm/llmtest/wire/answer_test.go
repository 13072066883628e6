package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest/wire"
)

func TestEventsContainTheWholeAnswer(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("Grüße, 世界 ", 50)
	for name, text := range map[string]string{"text": content, "one long character after the other": strings.Repeat("世", 100), "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, arguments strings.Builder
			events := wire.Events(wire.Request{}, wire.Completion{
				Content: text,
				Calls:   []openai.ToolCall{{ID: "1", Function: openai.FunctionCall{Name: "a", Arguments: `{"ü":"世"}`}}},
			})
			require.Equal(t, "data: [DONE]\n\n", string(events[len(events)-1]))
			for _, event := range events[:len(events)-1] {
				var chunk struct {
					Choices []struct {
						Delta struct {
							Content   string
							ToolCalls []openai.ToolCall `json:"tool_calls"`
						}
					}
				}
				require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(event), "data: ")), &chunk))
				got.WriteString(chunk.Choices[0].Delta.Content)
				for _, call := range chunk.Choices[0].Delta.ToolCalls {
					arguments.WriteString(call.Function.Arguments)
				}
			}
			require.Equal(t, text, got.String())
			require.Equal(t, `{"ü":"世"}`, arguments.String())
		})
	}
}

func TestEventsOfInvalidUTF8(t *testing.T) {
	t.Parallel()
	events := wire.Events(wire.Request{}, wire.Completion{Content: strings.Repeat("\x80", 1000)})
	require.Greater(t, len(events), 3)
}
