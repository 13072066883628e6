package http_test

import (
	"bufio"
	"context"
	"io"
	nethttp "net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func TestEvents(t *testing.T) {
	t.Parallel()

	t.Run("a stream reports the events and ends with the reply", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{KeepAlive: time.Hour}, channeltest.Hold)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		response := s.open(t.Context(), "GET", "/v1/messages/a1/events", "")
		defer func() { _ = response.Body.Close() }()
		require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))

		id := s.message("a1")
		for _, e := range []event.Event{
			{Kind: event.TurnJoined},
			{Kind: event.Text, Text: "two\nlines ", Step: 1},
			{Kind: event.Reset, Step: 1},
			{Kind: event.ToolStart, Tool: "exec", Text: "ls", Step: 1},
			{Kind: event.ToolDone, Tool: "exec", Text: "a b", Step: 1},
		} {
			s.backend.Emit(id, e)
		}
		s.backend.End(id, channeltest.Answer{Reply: "done", Usage: domain.Usage{PromptTokens: 3, CompletionTokens: 1}})
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Equal(t, "event: turn_joined\ndata: {}\n\n"+
			"event: text\ndata: {\"text\":\"two\\nlines \",\"step\":1}\n\n"+
			"event: reset\ndata: {\"step\":1}\n\n"+
			"event: tool_start\ndata: {\"text\":\"ls\",\"tool\":\"exec\",\"step\":1}\n\n"+
			"event: tool_done\ndata: {\"text\":\"a b\",\"tool\":\"exec\",\"step\":1}\n\n"+
			"event: done\ndata: {\"id\":\"a1\",\"session\":\"http:main\",\"status\":\"done\",\"reply\":\"done\",\"turn\":\"ma2rgh7kp6s3pcu6ylvpw\",\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n",
			string(body))
	})

	t.Run("the stream of an ended message ends immediately", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		status, _, body := s.do("GET", "/v1/messages/a1/events", "")
		require.Equal(t, 200, status)
		require.Contains(t, body, "event: done\ndata: {\"id\":\"a1\",\"session\":\"http:main\",\"status\":\"done\",\"reply\":\"echo: hi\"")
	})

	t.Run("a quiet stream is kept alive and ends with the server", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{KeepAlive: time.Millisecond}, channeltest.Hold)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		response := s.open(t.Context(), "GET", "/v1/messages/a1/events", "")
		defer func() { _ = response.Body.Close() }()
		lines := bufio.NewReader(response.Body)
		for range 3 {
			comment, err := lines.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, ": keep-alive\n", comment)
			_, err = lines.ReadString('\n')
			require.NoError(t, err)
		}
		require.NoError(t, s.stop())
		rest, err := io.ReadAll(lines)
		require.NoError(t, err)
		require.NotContains(t, string(rest), "done")
	})

	t.Run("watching ends when the client disconnects", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, channeltest.Hold)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		response := s.open(t.Context(), "GET", "/v1/messages/a1/events", "")
		require.Equal(t, nethttp.StatusOK, response.StatusCode)
		s.await(func(c channeltest.Counts) bool { return c.Watching == 1 })
		require.NoError(t, response.Body.Close())
		s.await(func(c channeltest.Counts) bool { return c.Watching == 0 })
	})
}

// unseen is a backend that reports no events, as if all had been missed.
type unseen struct{ channels.Backend }

func (unseen) Watch(ctx context.Context, _ string, _ func(event.Event)) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestEndedMessagesAreReportedWithoutWatching(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{}, nil)
	channel, err := http.New(http.Options{Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	run(t, channel, unseen{s.backend})
	message, chat := `{"text":"hi","id":"a1","wait":true}`, `{"stream":true,"messages":[{"role":"user","content":"ho"}]}`
	s.do("POST", "/v1/messages", message)
	s.do("POST", "/v1/chat/completions", chat, "Idempotency-Key", "a2")

	s.url = "http://" + channel.Addr().String()
	_, _, body := s.do("POST", "/v1/messages", message)
	require.Contains(t, body, "echo: hi")
	_, _, body = s.do("GET", "/v1/messages/a1/events", "")
	require.Contains(t, body, "echo: hi")
	_, _, body = s.do("POST", "/v1/chat/completions", chat, "Idempotency-Key", "a2")
	require.Contains(t, body, "echo: ho")
}
