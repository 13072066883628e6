package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// events makes a stream of a choice's JSON values.
func events(choices ...string) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&b, "data: {\"model\":\"m\",\"choices\":[%s]}\n\n", c)
	}
	return b.String() + "data: [DONE]\n\n"
}

// calls makes a stream of one delta for each list of tool calls.
func calls(lists ...string) string {
	choices := make([]string, len(lists))
	for i, list := range lists {
		choices[i] = `{"delta":{"tool_calls":[` + list + `]}}`
	}
	return events(append(choices, `{"delta":{},"finish_reason":"tool_calls"}`)...)
}

func TestToolCallsOfUnusualProviders(t *testing.T) {
	t.Parallel()
	two := []domain.ToolCall{{ID: "1", Name: "a", Arguments: `{"x":1}`}, {ID: "2", Name: "b", Arguments: `{"y":2}`}}
	tests := []struct {
		name, body string
		want       []domain.ToolCall
	}{
		{"numbered, in pieces and interleaved", calls(
			`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}},{"index":1,"id":"2","function":{"name":"b","arguments":""}}`,
			`{"index":1,"function":{"arguments":"{\"y\":2}"}},{"index":0,"function":{"arguments":":1}"}}`), two},
		{"all numbered 0", calls(
			`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}`, `{"index":0,"function":{"arguments":":1}"}}`,
			`{"index":0,"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}`), two},
		{"not numbered", calls(
			`{"id":"1","function":{"name":"a","arguments":"{\"x\""}}`, `{"function":{"arguments":":1}"}}`,
			`{"id":"2","function":{"name":"b","arguments":"{\"y\":2}"}}`), two},
		{
			"not numbered, without IDs, the same tool", calls(
				`{"function":{"name":"a","arguments":"{\"x\":1}"}},{"function":{"name":"a","arguments":"{\"x\":2}"}}`),
			[]domain.ToolCall{{ID: "call_1", Name: "a", Arguments: `{"x":1}`}, {ID: "call_2", Name: "a", Arguments: `{"x":2}`}},
		},
		{
			"name and ID in every piece", calls(
				`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\""}}`, `{"index":0,"id":"1","function":{"name":"a","arguments":":1}"}}`),
			two[:1],
		},
		{
			"the name in every piece, no ID", calls(
				`{"index":0,"function":{"name":"a","arguments":"{\"x\""}}`, `{"index":0,"function":{"name":"a","arguments":":1}"}}`,
				`{"index":0,"function":{"name":"a","arguments":""}}`),
			[]domain.ToolCall{{ID: "call_1", Name: "a", Arguments: `{"x":1}`}},
		},
		{
			"the same ID twice", calls(
				`{"index":0,"id":"1","function":{"name":"a","arguments":"{\"x\":1}"}}`, `{"index":1,"id":"1","function":{"name":"b","arguments":"{\"y\":2}"}}`),
			[]domain.ToolCall{two[0], {ID: "call_2", Name: "b", Arguments: `{"y":2}`}},
		},
		{
			"an ID that we would give", calls(
				`{"index":0,"id":"call_2","function":{"name":"a","arguments":"{\"x\":1}"}}`, `{"index":1,"function":{"name":"b","arguments":"{\"y\":2}"}}`),
			[]domain.ToolCall{{ID: "call_2", Name: "a", Arguments: `{"x":1}`}, {ID: "call_3", Name: "b", Arguments: `{"y":2}`}},
		},
		{
			"without a name, and with nothing at all", calls(`{"index":0,"id":"1","function":{"arguments":"{}"}}`, `{"index":1,"function":{}}`),
			[]domain.ToolCall{{ID: "1", Name: "unknown", Arguments: `{}`}},
		},
		{
			"arguments that are no text", calls(`{"index":0,"id":"1","function":{"name":"a","arguments":{"x":1}}},{"index":1,"id":"2","function":{"name":"b","arguments":null}}`),
			[]domain.ToolCall{two[0], {ID: "2", Name: "b", Arguments: `{}`}},
		},
		{
			"arguments null, text in text, single quotes, a fence", calls(
				`{"index":0,"id":"1","function":{"name":"a","arguments":"null"}},{"index":1,"id":"2","function":{"name":"a","arguments":"\"{\\\"x\\\":1}\""}}`,
				`{"index":2,"id":"3","function":{"name":"a","arguments":"{'x':1}"}},{"index":3,"id":"4","function":{"name":"a","arguments":"`+"```json\\n{\\\"x\\\":1}\\n```"+`"}}`),
			[]domain.ToolCall{
				{ID: "1", Name: "a", Arguments: `{}`},
				{ID: "2", Name: "a", Arguments: `{"x":1}`},
				{ID: "3", Name: "a", Arguments: `{"x":1}`},
				{ID: "4", Name: "a", Arguments: `{"x":1}`},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, err := complete(t, openai.Options{}, llmtest.Raw("text/event-stream", tt.body))
			require.NoError(t, err)
			for i, call := range resp.ToolCalls {
				require.JSONEq(t, tt.want[i].Arguments, call.Arguments)
				resp.ToolCalls[i].Arguments = tt.want[i].Arguments
			}
			require.Equal(t, tt.want, resp.ToolCalls)
		})
	}
}

func TestHugeBrokenArgumentsAreFast(t *testing.T) {
	t.Parallel()
	broken := `{"a":"` + strings.Repeat("x\"y ", 200_000)
	begun := time.Now()
	resp, err := complete(t, openai.Options{StallTimeout: time.Minute}, llmtest.Calls(llmtest.Call{Name: "a", Arguments: broken}))
	require.NoError(t, err)
	require.Contains(t, resp.ToolCalls[0].Arguments, `"_raw"`)
	require.Less(t, time.Since(begun), 20*time.Second)
}

func TestStreamsOfUnusualProviders(t *testing.T) {
	t.Parallel()
	const whole = `{"model":"m","choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],` + "\n" + `"usage":{"prompt_tokens":1,"completion_tokens":2}}`
	tests := []struct{ name, kind, body string }{
		{"no finish reason but an end", "text/event-stream", events(`{"delta":{"content":"Hi"}}`)},
		{"a finish reason but no end", "text/event-stream", strings.TrimSuffix(events(`{"delta":{"content":"Hi"}}`, `{"finish_reason":"stop"}`), "data: [DONE]\n\n")},
		{"no line end at the end", "text/event-stream", strings.TrimSpace(events(`{"delta":{"content":"Hi"}}`))},
		{"carriage returns and no space", "text/event-stream", strings.ReplaceAll(strings.ReplaceAll(events(`{"delta":{"content":"Hi"}}`), "data: ", "data:"), "\n", "\r\n")},
		{"comments and other fields", "text/event-stream", ": waiting\n\nevent: x\nid: 1\n" + strings.Repeat(":\n\n", 500) + events(`{"delta":{"content":"Hi"}}`)},
		{"nulls", "text/event-stream", events(`{"delta":{"content":null,"tool_calls":null},"finish_reason":null}`, `{"delta":{"content":"Hi"}}`)},
		{"parts instead of text", "text/event-stream", events(`{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}`, `{"delta":{"content":[{"type":"text","text":"Hi"}]}}`)},
		{"another choice", "text/event-stream", events(`{"index":1,"delta":{"content":"No"}}`, `{"index":0,"delta":{"content":"Hi"}}`)},
		{"an answer that is no stream", "application/json; charset=utf-8", whole},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp, err := complete(t, openai.Options{}, llmtest.Raw(tt.kind, tt.body))
			require.NoError(t, err)
			require.Equal(t, "Hi", resp.Content)
			require.Equal(t, "stop", resp.FinishReason)
			require.Equal(t, "m", resp.Model)
		})
	}
}

func TestUnreadableStreams(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing":            "",
		"no JSON":            "data: {oops\n\n",
		"an unclear error":   "data: {\"error\":null}\n\n",
		"an error in a list": "data: {\"id\":\"1\",\"error\":{\"message\":\"down\"},\"choices\":[]}\n\n",
		"a page":             "<html>hello</html>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := complete(t, openai.Options{}, llmtest.Raw("text/event-stream", body))
			failure := remote.As(err)
			require.NotNil(t, failure)
			require.False(t, failure.Permanent())
		})
	}
}

func TestSilenceAfterTheFinishReasonEndsTheStream(t *testing.T) {
	t.Parallel()
	// Events: role, text, finish reason, usage, end.
	resp, err := complete(t, openai.Options{StallTimeout: time.Second}, llmtest.StallStream("Hi", 3))
	require.NoError(t, err)
	require.Equal(t, "Hi", resp.Content)
}

func TestWithoutStreaming(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{Name: "a", Arguments: "{x: 1}"}).Thinking("hm").Usage(3, 4),
		llmtest.Hang(),
	)
	client := newClient(t, openai.Options{BaseURL: s.URL, NoStream: true, Timeout: time.Second})
	resp, err := client.Complete(t.Context(), llmtest.Conversation(), nil)
	require.NoError(t, err)
	require.Equal(t, llm.Response{
		Reasoning:    "hm",
		ToolCalls:    []domain.ToolCall{{ID: "call_1", Name: "a", Arguments: `{"x": 1}`}},
		FinishReason: "tool_calls",
		Usage:        domain.Usage{PromptTokens: 3, CompletionTokens: 4},
		Model:        llmtest.Model,
	}, resp)
	require.False(t, s.Requests()[0].Stream)

	_, err = client.Complete(t.Context(), llmtest.Conversation(), nil)
	require.False(t, remote.As(err).Permanent())
	require.ErrorContains(t, err, "not done after 1s")
}

func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	answers := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers++
		if answers%2 == 0 {
			http.Error(w, "no", http.StatusInternalServerError)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write([]byte(events(`{"delta":{"content":"Hi"}}`)))
		_ = http.NewResponseController(w).Flush()
		<-time.After(5 * time.Millisecond) // the end of the body comes later than that of the stream
	}))
	defer server.Close()
	client := newClient(t, openai.Options{BaseURL: server.URL})
	fresh := 0
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		if !info.Reused {
			fresh++
		}
	}})
	for range 20 {
		_, _ = client.Complete(ctx, llmtest.Conversation(), nil)
	}
	require.Less(t, fresh, 5, "on a busy machine an end may come too late now and then")
}

func TestErrorShapes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		body, message string
		tooLong       bool
	}{
		{body: `{"error":{"message":"no way","type":"x"}}`, message: "no way"},
		{body: `{"error":{"message":"too much","code":"context_length_exceeded"}}`, message: "too much", tooLong: true},
		{body: `{"error":{"code":400,"message":"too much","type":"exceed_context_size_error"}}`, message: "too much", tooLong: true},
		{body: `[{"error":{"code":400,"message":"no way","status":"INVALID_ARGUMENT"}}]`, message: "no way"},
		{body: `{"error":"no way"}`, message: "no way"},
		{body: `{"object":"error","message":"no way","code":400}`, message: "no way"},
		{body: `{"detail":[{"msg":"no way"}]}`, message: "no way"},
		{body: "<html>\n no   way</html>", message: "no way"},
		{body: "", message: "no reason given"},
		{body: strings.Repeat("ü", 10_000), message: "ü…"},
		{body: `{"error":{"message":"key ` + llmtest.Key + ` is bad","code":"context_length_exceeded"}}`, message: "key [key] is bad", tooLong: true},
		{body: `key ` + llmtest.Key, message: "key [key]"},
	}
	for _, tt := range tests {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.Header().Set("Retry-After-Ms", "2500")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(tt.body))
		}))
		defer server.Close()
		for _, noStream := range []bool{false, true} {
			client := newClient(t, openai.Options{Service: "acme", BaseURL: server.URL, NoStream: noStream})
			_, err := client.Complete(t.Context(), llmtest.Conversation(), nil)
			require.ErrorContains(t, err, "acme: status 400: ")
			require.ErrorContains(t, err, tt.message)
			require.NotContains(t, err.Error(), llmtest.Key)
			require.Less(t, len(err.Error()), 1000)
			require.Equal(t, 2500*time.Millisecond, remote.As(err).RetryAfter)
			if tt.tooLong {
				require.ErrorIs(t, err, llm.ErrTooLong)
			} else {
				require.NotErrorIs(t, err, llm.ErrTooLong)
			}
		}
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	models, err := newClient(t, openai.Options{BaseURL: s.URL}).Models(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{llmtest.Model}, models)
	_, err = newClient(t, openai.Options{BaseURL: s.URL + "/wrong"}).Models(t.Context())
	require.Equal(t, http.StatusNotFound, remote.As(err).Status)
}

func TestUnreachableServerIsTemporary(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client := newClient(t, openai.Options{BaseURL: server.URL})
	_, err := client.Complete(t.Context(), llmtest.Conversation(), nil)
	require.NotNil(t, remote.As(err))
	require.False(t, remote.As(err).Permanent())
}

func TestCancelledContextMakesNoCall(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newClient(t, openai.Options{BaseURL: s.URL}).Complete(ctx, llmtest.Conversation(), nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Nil(t, remote.As(err))
	require.Zero(t, s.Count())
}

func complete(t *testing.T, opts openai.Options, step llmtest.Step) (llm.Response, error) {
	s := llmtest.NewServer(t, step)
	opts.BaseURL = s.URL
	return newClient(t, opts).Complete(t.Context(), llmtest.Conversation(), nil)
}
