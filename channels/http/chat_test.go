package http_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func (s *server) openAI(token string) *openai.Client {
	config := openai.DefaultConfig(token)
	config.BaseURL = s.url + "/v1"
	return openai.NewClientWithConfig(config)
}

func ask(texts ...string) openai.ChatCompletionRequest {
	request := openai.ChatCompletionRequest{Model: "gpt-x"}
	for _, text := range texts {
		request.Messages = append(request.Messages,
			openai.ChatCompletionMessage{Role: "user", Content: text}, openai.ChatCompletionMessage{Role: "assistant", Content: "…"})
	}
	return request
}

func TestChatCompletionsForAnOpenAIClient(t *testing.T) {
	t.Parallel()

	t.Run("the last user message is answered", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{Token: "secret"}, func(msg domain.Inbound) *channeltest.Answer {
			return &channeltest.Answer{Reply: "echo: " + msg.Text, Usage: domain.Usage{PromptTokens: 5, CompletionTokens: 2}}
		})
		request := ask("one", "two")
		request.User = "ana"
		response, err := s.openAI("secret").CreateChatCompletion(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, "echo: two", response.Choices[0].Message.Content)
		require.Equal(t, "assistant", response.Choices[0].Message.Role)
		require.Equal(t, openai.FinishReasonStop, response.Choices[0].FinishReason)
		require.Equal(t, "gpt-x", response.Model)
		require.Equal(t, "chat.completion", response.Object)
		require.Equal(t, 7, response.Usage.TotalTokens)
		require.Equal(t, "chat-"+response.ID, response.Header().Get("X-Holdfast-Session"), "a user may have many chats")

		accepted := s.backend.Accepted()
		require.Equal(t, []domain.Inbound{
			{Channel: "http", PlatformID: response.ID, Chat: "chat-" + response.ID, Sender: "ana", Text: "two", Queue: true},
		}, accepted)
	})

	t.Run("no chat is the operator's", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, func(domain.Inbound) *channeltest.Answer { return &channeltest.Answer{Reply: "ok"} })
		for _, user := range []string{"", "http"} {
			request := ask("/approve")
			request.User = user
			_, err := s.openAI("").CreateChatCompletion(t.Context(), request)
			require.NoError(t, err)
		}
		for _, message := range s.backend.Accepted() {
			require.Equal(t, "openai", message.Sender)
		}
	})

	t.Run("text parts are joined", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		response, err := s.openAI("").CreateChatCompletion(t.Context(), openai.ChatCompletionRequest{
			Messages: []openai.ChatCompletionMessage{{Role: "user", MultiContent: []openai.ChatMessagePart{
				{Type: openai.ChatMessagePartTypeText, Text: "one"}, {Type: openai.ChatMessagePartTypeText, Text: "two"},
			}}},
		})
		require.NoError(t, err)
		require.Equal(t, "echo: one\ntwo", response.Choices[0].Message.Content)
		require.Equal(t, "holdfast", response.Model)
	})

	t.Run("a stream sends the reply in chunks, then the usage", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{KeepAlive: time.Hour}, channeltest.Hold)
		request := ask("hi")
		request.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
		stream, err := s.openAI("").CreateChatCompletionStream(t.Context(), request)
		require.NoError(t, err)
		defer func() { _ = stream.Close() }()

		first, err := stream.Recv()
		require.NoError(t, err)
		require.Equal(t, "assistant", first.Choices[0].Delta.Role)
		for _, piece := range []string{"Hel", "lo"} {
			s.backend.Emit(s.message(first.ID), event.Event{Kind: event.Text, Text: piece, Step: 1})
			chunk, err := stream.Recv()
			require.NoError(t, err)
			require.Equal(t, piece, chunk.Choices[0].Delta.Content)
			require.Equal(t, "chat.completion.chunk", chunk.Object)
		}
		s.backend.End(s.message(first.ID), channeltest.Answer{Reply: "Hello!", Usage: domain.Usage{PromptTokens: 5, CompletionTokens: 2}})
		chunk, err := stream.Recv()
		require.NoError(t, err)
		require.Equal(t, "!", chunk.Choices[0].Delta.Content)
		chunk, err = stream.Recv()
		require.NoError(t, err)
		require.Equal(t, openai.FinishReasonStop, chunk.Choices[0].FinishReason)
		chunk, err = stream.Recv()
		require.NoError(t, err)
		require.Empty(t, chunk.Choices)
		require.Equal(t, &openai.Usage{PromptTokens: 5, CompletionTokens: 2, TotalTokens: 7}, chunk.Usage)
		_, err = stream.Recv()
		require.ErrorIs(t, err, io.EOF)
	})

	t.Run("a failed turn is an error that clients do not retry", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, func(domain.Inbound) *channeltest.Answer {
			return &channeltest.Answer{Reply: "The provider refuses the key.", Status: domain.ReplyFailed}
		})
		_, err := s.openAI("").CreateChatCompletion(t.Context(), ask("hi"))
		refused, ok := errors.AsType[*openai.APIError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, 502, refused.HTTPStatusCode)
		require.Equal(t, "turn_failed", refused.Type)
		require.Equal(t, "The provider refuses the key.", refused.Message)
		_, header, _ := s.do("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, "Idempotency-Key", "k1")
		require.Equal(t, "false", header.Get("X-Should-Retry"))

		stream, err := s.openAI("").CreateChatCompletionStream(t.Context(), ask("hi"))
		require.NoError(t, err)
		defer func() { _ = stream.Close() }()
		_, err = stream.Recv()
		require.NoError(t, err)
		_, err = stream.Recv()
		refused, ok = errors.AsType[*openai.APIError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "The provider refuses the key.", refused.Message)
	})

	t.Run("a quiet stream is kept alive", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{KeepAlive: 100 * time.Microsecond}, channeltest.Hold)
		stream, err := s.openAI("").CreateChatCompletionStream(t.Context(), ask("hi"))
		require.NoError(t, err)
		defer func() { _ = stream.Close() }()
		first, err := stream.Recv()
		require.NoError(t, err)
		for range 400 {
			chunk, err := stream.Recv()
			require.NoError(t, err)
			require.Empty(t, chunk.Choices[0].Delta.Content)
		}
		s.backend.End(s.message(first.ID), channeltest.Answer{Reply: "No.", Status: domain.ReplyFailed})
		for err == nil {
			_, err = stream.Recv()
		}
		refused, ok := errors.AsType[*openai.APIError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, "No.", refused.Message)
	})

	t.Run("client tools are rejected", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		request := ask("hi")
		request.Tools = []openai.Tool{{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: "f"}}}
		_, err := s.openAI("").CreateChatCompletion(t.Context(), request)
		refused, ok := errors.AsType[*openai.APIError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, 400, refused.HTTPStatusCode)
		require.Equal(t, "unsupported_parameter", refused.Code)
		require.Contains(t, refused.Message, "the agent runs its own tools")
	})

	t.Run("models are listed", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		list, err := s.openAI("").ListModels(t.Context())
		require.NoError(t, err)
		require.Len(t, list.Models, 1)
		require.Equal(t, "holdfast", list.Models[0].ID)
	})
}

func TestChatCompletionsKnowAMessageAgain(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{}, nil)
	body := `{"messages":[{"role":"user","content":"hi"}]}`
	for range 2 {
		status, header, answer := s.do("POST", "/v1/chat/completions", body, "Idempotency-Key", "k1")
		require.Equal(t, 200, status, answer)
		require.Contains(t, answer, `"id":"k1"`)
		require.Equal(t, "chat-k1", header.Get("X-Holdfast-Session"))
	}
	require.Len(t, s.backend.Accepted(), 1)

	status, _, _ := s.do("POST", "/v1/chat/completions", strings.Replace(body, "hi", "ho", 1), "Idempotency-Key", "k1")
	require.Equal(t, 409, status)
	status, _, _ = s.do("POST", "/v1/chat/completions", body, "X-Holdfast-Session", "header", "Idempotency-Key", "k2")
	require.Equal(t, 200, status)
	require.Equal(t, "header", s.backend.Accepted()[1].Chat)
	for range 2 {
		s.do("POST", "/v1/chat/completions", body)
	}
	accepted := s.backend.Accepted()
	require.Len(t, accepted, 4)
	require.NotEqual(t, accepted[2].Chat, accepted[3].Chat)
}

// The text of a stream only grows, whatever events are missing or repeated, and ends
// with the reply.
func TestStreamedTextEndsWithTheReply(t *testing.T) {
	t.Parallel()
	text := func(step int, text string) event.Event {
		return event.Event{Kind: event.Text, Step: step, Text: text}
	}
	reset := event.Event{Kind: event.Reset, Step: 1}
	tool := event.Event{Kind: event.ToolStart, Step: 1, Tool: "exec"}
	tests := []struct {
		name   string
		events []event.Event
		reply  string
		want   string
	}{
		{"no events", nil, "Hello", "Hello"},
		{"all events", []event.Event{text(1, "Hel"), text(1, "lo")}, "Hello", "Hello"},
		{"the end is missed", []event.Event{text(1, "Hel")}, "Hello", "Hello"},
		{"the beginning is missed", []event.Event{text(1, "lo")}, "Hello", "lo\n\nHello"},
		{"white space around the reply", []event.Event{text(1, " \n"), text(1, "Hello"), text(1, "\n")}, "Hello", "Hello\n"},
		{"repeated call, same text", []event.Event{text(1, "Hel"), reset, text(1, "H"), text(1, "ello")}, "Hello", "Hello"},
		{"repeated call, different text", []event.Event{text(1, "Hel"), reset, text(1, "Ho"), text(1, "la")}, "Hola", "Hel\n\nHola"},
		{"repeated call, shorter text", []event.Event{text(1, "Hello"), reset, text(1, "Hel")}, "Hel", "Hello\n\nHel"},
		{"a second step after a tool call", []event.Event{text(1, "Let me look."), tool, text(2, "Fine.")}, "Fine.", "Let me look.\n\nFine."},
		{"a tool call, and the rest missed", []event.Event{text(1, "Fine"), tool}, "Fine. Two files.", "Fine\n\nFine. Two files."},
		{"a second step without a tool call", []event.Event{text(1, "One."), text(2, "Two.")}, "Two.", "One.\n\nTwo."},
		{"an empty reply", []event.Event{text(1, "One.")}, "", "One."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, http.Options{KeepAlive: time.Hour}, func(domain.Inbound) *channeltest.Answer {
				return &channeltest.Answer{Events: tt.events, Reply: tt.reply}
			})
			_, _, body := s.do("POST", "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"}]}`)
			require.True(t, strings.HasSuffix(body, "\n\ndata: [DONE]\n\n"), body)
			var got strings.Builder
			for line := range strings.Lines(body) {
				if data, ok := strings.CutPrefix(line, "data: {"); ok {
					var chunk openai.ChatCompletionStreamResponse
					require.NoError(t, json.Unmarshal([]byte("{"+data), &chunk))
					require.Nil(t, chunk.Usage)
					got.WriteString(chunk.Choices[0].Delta.Content)
				}
			}
			require.Equal(t, tt.want, got.String())
		})
	}
}
