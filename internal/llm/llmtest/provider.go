package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Key is the API key for a provider under test.
const Key = "sk-test-0123456789"

// StallTimeout is the stall timeout for a provider under test.
const StallTimeout = time.Second

// RunProvider checks the contract of [llm.Provider] for a provider of an
// OpenAI-compatible API at baseURL.
func RunProvider(t *testing.T, newProvider func(baseURL string) llm.Provider) {
	run := func(name string, check func(t *testing.T, p *probe), script ...Step) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t, script...)
			check(t, &probe{Server: s, provider: newProvider(s.URL)})
		})
	}
	runAnswers(run)
	runFailures(run)
}

type runner func(name string, check func(t *testing.T, p *probe), script ...Step)

// probe is a provider and the server that it calls.
type probe struct {
	*Server
	provider llm.Provider
	deltas   []llm.Delta
}

func (p *probe) complete(ctx context.Context) (llm.Response, error) {
	p.deltas = nil
	return p.provider.Complete(ctx, Conversation(), func(d llm.Delta) { p.deltas = append(p.deltas, d) })
}

func (p *probe) text() (text, reasoning string) {
	var see, think strings.Builder
	for _, d := range p.deltas {
		see.WriteString(d.Text)
		think.WriteString(d.Reasoning)
	}
	return see.String(), think.String()
}

// Conversation returns a request with a message of every shape.
func Conversation() llm.Request {
	return llm.Request{
		Model: Model,
		Messages: []domain.Message{
			{Role: domain.RoleSystem, Content: "Be brief."},
			{Role: domain.RoleUser, Content: "List it."},
			{Role: domain.RoleAssistant, ToolCalls: []domain.ToolCall{
				{ID: "a", Name: "list_dir", Arguments: `{"path":"."}`},
				{ID: "b", Name: "list_dir"},
			}},
			{Role: domain.RoleTool, CallID: "a", Name: "list_dir", Content: "a.txt"},
			{Role: domain.RoleTool, CallID: "b", Name: "list_dir"},
			{Role: domain.RoleAssistant, Content: " "},
			{Role: domain.RoleUser, Content: "And <now> & \"then\"?"},
		},
		Tools: []llm.ToolSpec{
			{Name: "list_dir", Description: "Lists a folder.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "noop"},
		},
		MaxTokens:   100,
		Temperature: 0.5,
	}
}

func runAnswers(run runner) {
	long := strings.Repeat("Grüße, 世界! ", 100)
	run("an answer arrives whole and in pieces", func(t *testing.T, p *probe) {
		resp, err := p.complete(t.Context())
		require.NoError(t, err)
		require.Equal(t, llm.Response{
			Content: long, FinishReason: "stop", Model: Model,
			Usage: domain.Usage{PromptTokens: 12, CompletionTokens: 34},
		}, resp)
		text, _ := p.text()
		require.Equal(t, long, text)
		require.Greater(t, len(p.deltas), 1)
	}, Text(long).Usage(12, 34))

	run("every shape of message is one that a strict provider takes", func(t *testing.T, p *probe) {
		_, err := p.complete(t.Context())
		require.NoError(t, err)
		require.Empty(t, p.Invalid())
		got := p.Requests()[0]
		require.Equal(t, Conversation().Messages[6].Content, got.LastUser())
		require.Equal(t, "a.txt", got.Messages[3].Content.Text)
		require.Equal(t, "list_dir", got.Messages[3].Name)
		require.Equal(t, `{"path":"."}`, got.Messages[2].ToolCalls[0].Function.Arguments)
		require.Len(t, got.Tools, 2)
		require.Equal(t, 100, got.MaxTokens)
		require.InDelta(t, 0.5, *got.Temperature, 0.001)
	}, Text("ok"))

	run("images come before the text", func(t *testing.T, p *probe) {
		req := Conversation()
		req.Messages[1].Images = []domain.Image{{MIME: "image/png", Data: []byte("one")}, {MIME: "image/jpeg", Data: []byte("two")}}
		req.Messages[6].Content, req.Messages[6].Images = " ", []domain.Image{{Data: []byte("GIF89a")}}
		resp, err := p.provider.Complete(t.Context(), req, nil)
		require.NoError(t, err)
		require.Empty(t, p.Invalid())
		require.Equal(t, 12, resp.CachedTokens)
		got := p.Requests()[0].Messages
		require.Equal(t, "List it.", got[1].Content.Text)
		require.Equal(t, []string{"data:image/png;base64,b25l", "data:image/jpeg;base64,dHdv"}, got[1].Content.Images)
		require.Empty(t, got[6].Content.Text)
		require.Equal(t, []string{"data:image/gif;base64,R0lGODlh"}, got[6].Content.Images)
	}, Text("ok").Usage(34, 5).Cached(12))

	run("a call of a tool", func(t *testing.T, p *probe) {
		resp, err := p.complete(t.Context())
		require.NoError(t, err)
		require.Equal(t, []domain.ToolCall{{ID: "x", Name: "list_dir", Arguments: `{"path":"ü"}`}}, resp.ToolCalls)
		require.Equal(t, "tool_calls", resp.FinishReason)
	}, Calls(Call{ID: "x", Name: "list_dir", Arguments: `{"path":"ü"}`}))

	run("parallel calls keep their order and get the IDs they lack", func(t *testing.T, p *probe) {
		resp, err := p.complete(t.Context())
		require.NoError(t, err)
		require.Equal(t, []domain.ToolCall{
			{ID: "x", Name: "list_dir", Arguments: `{"path":"1"}`},
			{ID: "call_2", Name: "list_dir", Arguments: `{"path":"2"}`},
			{ID: "call_3", Name: "noop", Arguments: `{}`},
		}, resp.ToolCalls)
	}, Calls(
		Call{ID: "x", Name: "list_dir", Arguments: `{"path":"1"}`},
		Call{Name: "list_dir", Arguments: `{"path":"2"}`},
		Call{Name: "noop"},
	))

	run("broken arguments are repaired, or wrapped", func(t *testing.T, p *probe) {
		resp, err := p.complete(t.Context())
		require.NoError(t, err)
		require.JSONEq(t, `{"path":"a.txt"}`, resp.ToolCalls[0].Arguments)
		resp, err = p.complete(t.Context())
		require.NoError(t, err)
		require.JSONEq(t, `{"_raw":"[1, 2]"}`, resp.ToolCalls[0].Arguments)
	}, BadJSON("x", "list_dir"), Calls(Call{ID: "x", Name: "list_dir", Arguments: "[1, 2]"}))

	run("thinking is not seen, in tags or in a field", func(t *testing.T, p *probe) {
		for range 2 {
			resp, err := p.complete(t.Context())
			require.NoError(t, err)
			require.Equal(t, "Hello", resp.Content)
			require.Equal(t, "hm", resp.Reasoning)
			text, reasoning := p.text()
			require.Equal(t, "Hello", text)
			require.Equal(t, "hm", reasoning)
		}
	}, Text("<think>hm</think>\n\nHello"), Text("Hello").Thinking("hm"))

	run("other finish reasons are passed on", func(t *testing.T, p *probe) {
		for _, reason := range []string{"length", "content_filter"} {
			resp, err := p.complete(t.Context())
			require.NoError(t, err)
			require.Equal(t, reason, resp.FinishReason)
		}
	}, Text("cut o").Finish("length"), Text("no").Finish("content_filter"))

	run("calls may be made at the same time", func(t *testing.T, p *probe) {
		const n = 8
		failed := make(chan error, n)
		for range n {
			go func() {
				_, err := p.provider.Complete(t.Context(), Conversation(), nil)
				failed <- err
			}()
		}
		for range n {
			require.NoError(t, <-failed)
		}
		require.Equal(t, n, p.Count())
	}, Text("1"), Text("2"), Text("3"), Text("4"), Text("5"), Text("6"), Text("7"), Text("8"))
}

func runFailures(run runner) {
	fails := func(name string, check func(t *testing.T, p *probe, err *remote.Error), step Step) {
		run(name, func(t *testing.T, p *probe) {
			_, err := p.complete(t.Context())
			require.Error(t, err)
			require.NotContains(t, err.Error(), Key)
			failure := remote.As(err)
			require.NotNil(t, failure, "%v", err)
			require.NotEmpty(t, failure.Service)
			require.Equal(t, 1, p.Count(), "one attempt at each call")
			check(t, p, failure)
		}, step)
	}
	temporary := func(status int) func(*testing.T, *probe, *remote.Error) {
		return func(t *testing.T, _ *probe, err *remote.Error) {
			require.Equal(t, status, err.Status)
			require.False(t, err.Permanent())
		}
	}
	permanent := func(status int) func(*testing.T, *probe, *remote.Error) {
		return func(t *testing.T, _ *probe, err *remote.Error) {
			require.Equal(t, status, err.Status)
			require.True(t, err.Permanent())
			require.NotErrorIs(t, err, llm.ErrTooLong)
		}
	}
	fails("429 says when to come again", func(t *testing.T, p *probe, err *remote.Error) {
		temporary(429)(t, p, err)
		require.Equal(t, 7*time.Second, err.RetryAfter)
	}, Status(429, "7"))
	fails("500 is temporary", temporary(500), Status(500, ""))
	fails("401 is permanent and keeps the key secret", permanent(401), Refuse(401, "invalid_api_key", "bad key "+Key))
	fails("404 is permanent", permanent(404), Refuse(404, "model_not_found", "no such model"))
	fails("a stream that is cut is no short answer", temporary(0), CutStream("Hello, world", 2))
	fails("a stream that is cut before it begins", temporary(0), CutStream("Hello, world", 0))
	fails("a stream that ends too early is no short answer", temporary(0),
		Raw("text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"))
	fails("a stream that stalls is given up", temporary(0), StallStream("Hello, world", 2))
	fails("a server that never answers is given up", temporary(0), Hang())
	fails("an empty answer", temporary(0), Empty())
	fails("an answer of nothing but thinking", temporary(0), Text("<think>hm</think>\n"))
	fails("an error in the middle of a stream", func(t *testing.T, _ *probe, err *remote.Error) {
		require.False(t, err.Permanent())
		require.ErrorContains(t, err, "overloaded")
	}, Raw("text/event-stream", ": waiting\n\ndata: {\"error\":{\"message\":\"overloaded\",\"code\":502}}\n\n"))
	run("images that the model does not take", func(t *testing.T, p *probe) {
		req := Conversation()
		_, err := p.provider.Complete(t.Context(), req, nil)
		require.NotErrorIs(t, err, llm.ErrNoImages, "there was none")
		req.Messages[1].Images = []domain.Image{{MIME: "image/png", Data: []byte("one")}}
		_, err = p.provider.Complete(t.Context(), req, nil)
		require.ErrorIs(t, err, llm.ErrNoImages)
		require.True(t, remote.As(err).Permanent())
	}, NoImages(), NoImages())
	fails("a conversation that is too long", func(t *testing.T, _ *probe, err *remote.Error) {
		require.ErrorIs(t, err, llm.ErrTooLong)
		require.True(t, err.Permanent())
	}, TooLong())

	run("a hanging call is cancelled at once, with the cause", func(t *testing.T, p *probe) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("stopped by the user")
		failed := make(chan error, 1)
		go func() {
			_, err := p.complete(ctx)
			failed <- err
		}()
		require.NoError(t, p.Await(t.Context(), 1))
		cancelled := time.Now()
		cancel(cause)
		err := <-failed
		require.ErrorIs(t, err, cause)
		require.Nil(t, remote.As(err), "it is not the service's fault")
		require.Less(t, time.Since(cancelled), StallTimeout)
	}, StallStream("Hello", 2))

	run("a drip slower than the whole stall time is no stall", func(t *testing.T, p *probe) {
		resp, err := p.complete(t.Context())
		require.NoError(t, err)
		require.Equal(t, "Hello", resp.Content)
	}, SlowDrip("Hello", StallTimeout/3))
}
