package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestParametersOfEachModel(t *testing.T) {
	t.Parallel()
	s := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Text("ok") })
	row, _ := llm.Lookup("moonshot")
	client := newClient(t, openai.Options{BaseURL: s.URL, Quirks: row.Quirks})
	ask := func(model string, temperature float64) llmtest.Request {
		req := llmtest.Conversation()
		req.Model, req.Temperature, req.MaxTokens = model, temperature, 77
		_, err := client.Complete(t.Context(), req, nil)
		require.NoError(t, err, model)
		all := s.Requests()
		return all[len(all)-1]
	}

	plain := ask("gpt-4.1", 0)
	require.Equal(t, 77, plain.MaxTokens)
	require.Zero(t, plain.MaxCompletionTokens)
	require.InDelta(t, 0, *plain.Temperature, 1e-6, "a zero is said, not left out")

	for _, model := range []string{"o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5.1-codex", "openai/gpt-5-mini", "gpt-6-luna"} {
		got := ask(model, 0.7)
		require.Zero(t, got.MaxTokens, model)
		require.Equal(t, 77, got.MaxCompletionTokens, model)
		require.Nil(t, got.Temperature, model)
	}

	require.InDelta(t, 1.0, *ask("kimi-k2.5", 0.7).Temperature, 1e-6)
}

func TestReasoningIsReturnedAsTheProviderWants(t *testing.T) {
	t.Parallel()
	const thought = `{"role":"assistant","tool_calls":`
	tests := []struct {
		reasoning      llm.ReasoningBack
		given, missing string // reasoning_content of the message with reasoning, and of the one without
		text           string // content of the message with reasoning
	}{
		{reasoning: llm.ReasoningDropped},
		{reasoning: llm.ReasoningSent, given: thought},
		{reasoning: llm.ReasoningRequired, given: thought, missing: " "},
		{reasoning: llm.ReasoningTagged, text: "<think>\n" + thought + "\n</think>\n\n"},
	}
	for _, tt := range tests {
		s := llmtest.NewServer(t, llmtest.Text("ok"))
		client := newClient(t, openai.Options{BaseURL: s.URL, Quirks: llm.Quirks{Reasoning: tt.reasoning}})
		req := llmtest.Conversation()
		req.Messages[2].Reasoning = thought
		_, err := client.Complete(t.Context(), req, nil)
		require.NoError(t, err)
		require.Empty(t, s.Invalid())
		got := s.Requests()[0].Messages
		require.Equal(t, tt.given, got[2].ReasoningContent, tt.reasoning)
		require.Equal(t, tt.text, got[2].Content.Text, tt.reasoning)
		require.Equal(t, tt.text == "", got[2].Content.Null, tt.reasoning)
		require.Equal(t, tt.missing, got[5].ReasoningContent, tt.reasoning)
	}
}

func TestFieldsOfOtherRolesAreNotSent(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Text("ok"))
	client := newClient(t, openai.Options{BaseURL: s.URL, Quirks: llm.Quirks{Reasoning: llm.ReasoningRequired}})
	req := llmtest.Conversation()
	for i := range req.Messages {
		m := &req.Messages[i]
		m.Name, m.CallID, m.Reasoning = "list_dir", "a", "hm"
		if i == 4 {
			m.CallID = "b"
		}
		if m.Role != domain.RoleUser {
			m.Images = []domain.Image{{MIME: "image/png", Data: []byte("png")}}
		}
		if m.Role != domain.RoleAssistant {
			m.ToolCalls = req.Messages[2].ToolCalls
		}
	}
	_, err := client.Complete(t.Context(), req, nil)
	require.NoError(t, err)
	require.Empty(t, s.Invalid())
	for _, m := range s.Requests()[0].Messages {
		require.Equal(t, m.Role == "tool", m.Name != "" && m.ToolCallID != "", m.Role)
		require.Equal(t, m.Role == "assistant", m.ReasoningContent != "", m.Role)
		require.Equal(t, m.Role == "assistant" && m.Content.Null, len(m.ToolCalls) > 0, m.Role)
		require.Empty(t, m.Content.Images, m.Role)
	}
}

func TestKeyIsSent(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Text("ok"))
	_, err := newClient(t, openai.Options{BaseURL: s.URL + "/"}).Complete(t.Context(), llmtest.Conversation(), nil)
	require.NoError(t, err)
	require.Equal(t, "Bearer "+llmtest.Key, s.Requests()[0].Header.Get("Authorization"))
}

func TestRequestsRejectedByTheLibraryArePermanent(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	req := llmtest.Conversation()
	req.Model = "gpt-6-astra" // the library knows that it takes no tools here
	_, err := newClient(t, openai.Options{BaseURL: s.URL}).Complete(t.Context(), req, nil)
	require.True(t, remote.As(err).Permanent())
	require.Zero(t, s.Count())
}

func TestNewNeedsAURL(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "api.openai.com/v1", "ftp://x/v1", "http://", "://"} {
		_, err := openai.New(openai.Options{Service: "acme", BaseURL: base})
		require.ErrorContains(t, err, "acme", base)
	}
}
