package http_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// asking is a backend whose messages all wait for an approval.
type asking struct{ channels.Backend }

func (a asking) Message(ctx context.Context, id string) (domain.Reply, error) {
	state, err := a.Backend.Message(ctx, id)
	state.Status, state.Approvals = domain.ReplyRunning, []domain.Approval{{ID: "ab12", Tool: "exec", Title: "git push", Arguments: "git push"}}
	return state, err
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	question := event.Event{Kind: event.Approval, ID: "ab12", Tool: "exec", Text: "git push", Step: 1}

	t.Run("a message lists the approvals it waits for", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, channeltest.Hold)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		_, _, body := s.do("GET", "/v1/messages/a1", "")
		require.JSONEq(t, `{"id":"a1","session":"http:main","status":"queued","reply":""}`, body)

		channel, err := http.New(http.Options{Listen: "127.0.0.1:0"})
		require.NoError(t, err)
		run(t, channel, asking{s.backend})
		s.url = "http://" + channel.Addr().String()
		_, _, body = s.do("GET", "/v1/messages/a1", "")
		require.JSONEq(t, `{"id":"a1","session":"http:main","status":"running","reply":"",
			"approvals":[{"id":"ab12","tool":"exec","title":"git push","arguments":"git push"}]}`, body)
	})

	t.Run("the event stream reports an approval", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{KeepAlive: time.Hour}, channeltest.Hold)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		response := s.open(t.Context(), "GET", "/v1/messages/a1/events", "")
		defer func() { _ = response.Body.Close() }()
		s.backend.Emit(s.message("a1"), question)
		s.backend.End(s.message("a1"), channeltest.Answer{Reply: "Pushed."})
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Contains(t, string(body), "event: approval\ndata: {\"text\":\"git push\",\"tool\":\"exec\",\"step\":1,\"id\":\"ab12\"}\n\nevent: done\n")
	})

	t.Run("an OpenAI stream asks outside the reply", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{KeepAlive: time.Hour}, channeltest.Hold)
		stream, err := s.openAI("").CreateChatCompletionStream(t.Context(), ask("push it"))
		require.NoError(t, err)
		defer func() { _ = stream.Close() }()
		first, err := stream.Recv()
		require.NoError(t, err)
		s.backend.Emit(s.message(first.ID), question)
		chunk, err := stream.Recv()
		require.NoError(t, err)
		require.Empty(t, chunk.Choices[0].Delta.Content)
		require.Equal(t, "May I run exec: git push\nAnswer `/approve ab12` or `/deny ab12`.\n", chunk.Choices[0].Delta.ReasoningContent)
		s.backend.End(s.message(first.ID), channeltest.Answer{Reply: "Pushed."})
		chunk, err = stream.Recv()
		require.NoError(t, err)
		require.Equal(t, "Pushed.", chunk.Choices[0].Delta.Content)
		require.Empty(t, chunk.Choices[0].Delta.ReasoningContent)
	})
}
