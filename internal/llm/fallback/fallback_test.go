package fallback_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/fallback"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestProvider(t *testing.T) {
	t.Parallel()
	llmtest.RunProvider(t, func(baseURL string) llm.Provider {
		return nameless{providers(t, baseURL)}
	})
}

// nameless drops who answered: a single provider does not say.
type nameless struct{ llm.Provider }

func (n nameless) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	response, err := n.Provider.Complete(ctx, req, on)
	response.Provider, response.Asked = "", ""
	return response, err
}

// providers are those at the base URLs: a/one, b/two, c/three.
func providers(t *testing.T, urls ...string) *fallback.Provider {
	names := []string{"a/one", "b/two", "c/three"}
	var candidates []fallback.Candidate
	for i, url := range urls {
		service, model, _ := strings.Cut(names[i], "/")
		client, err := openai.New(openai.Options{Service: service, BaseURL: url, APIKey: llmtest.Key, StallTimeout: llmtest.StallTimeout})
		require.NoError(t, err)
		t.Cleanup(client.Close)
		if len(urls) == 1 {
			model = llmtest.Model
		}
		candidates = append(candidates, fallback.Candidate{Name: names[i], Provider: client, Model: model})
	}
	p, err := fallback.New(candidates, nil)
	require.NoError(t, err)
	return p
}

func TestWhichErrorsAskTheNextCandidate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		step llmtest.Step
		next bool
	}{
		{"500", llmtest.Status(500, ""), true},
		{"503 with a time to wait", llmtest.Status(503, "60"), true},
		{"a server timeout", llmtest.Status(408, ""), true},
		{"busy for long", llmtest.Status(429, "60"), true},
		{"busy for an unknown time", llmtest.Status(429, ""), true},
		{"no credit left, reported as busy", llmtest.Refuse(429, "insufficient_quota", "You exceeded your current quota"), true},
		{"a wrong key", llmtest.Status(401, ""), true},
		{"no credit left", llmtest.Status(402, ""), true},
		{"forbidden", llmtest.Status(403, ""), true},
		{"no such model", llmtest.Refuse(404, "model_not_found", "no such model"), true},
		{"a broken connection", llmtest.CutStream("Hello", 0), true},
		{"silence", llmtest.Hang(), true},
		{"nothing", llmtest.Empty(), true},
		{"busy for a moment", llmtest.Status(429, "2"), false},
		{"a bad request", llmtest.Refuse(400, "", "temperature"), false},
		{"a conversation that is too long", llmtest.TooLong(), false},
		{"a request that is too large", llmtest.Status(413, ""), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first := llmtest.NewServer(t, tt.step)
			second := llmtest.NewServer(t, llmtest.Text("from the second").Usage(3, 4))
			response, err := providers(t, first.URL, second.URL).Complete(t.Context(), llmtest.Conversation(), nil)
			require.Equal(t, 1, first.Count())
			require.Equal(t, "one", first.Requests()[0].Model)
			if !tt.next {
				require.Equal(t, "a", remote.As(err).Service)
				require.Zero(t, second.Count())
				return
			}
			require.NoError(t, err)
			require.Equal(t, llm.Response{
				Content: "from the second", FinishReason: "stop", Provider: "b", Asked: "two", Model: "two",
				Usage: domain.Usage{PromptTokens: 3, CompletionTokens: 4},
			}, response)
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	second := llmtest.NewServer(t, llmtest.Text("1"))
	response, err := providers(t, gone.URL, second.URL).Complete(t.Context(), llmtest.Conversation(), nil)
	require.NoError(t, err)
	require.Equal(t, "b", response.Provider)
}

func TestImageErrorsAreReturnedToTheCaller(t *testing.T) {
	t.Parallel()
	first := llmtest.NewServer(t, llmtest.NoImages())
	second := llmtest.NewServer(t, llmtest.Text("1"))
	req := llmtest.Conversation()
	req.Messages[1].Images = []domain.Image{{MIME: "image/png", Data: []byte("png")}}
	_, err := providers(t, first.URL, second.URL).Complete(t.Context(), req, nil)
	require.ErrorIs(t, err, llm.ErrNoImages)
	require.Zero(t, second.Count())
}

func TestTruncatedStreamIsReset(t *testing.T) {
	t.Parallel()
	first := llmtest.NewServer(t, llmtest.CutStream("Hello from the first", 2))
	second := llmtest.NewServer(t, llmtest.CutStream("", 0))
	third := llmtest.NewServer(t, llmtest.Text("Hello from the third"))
	var text strings.Builder
	resets := 0
	response, err := providers(t, first.URL, second.URL, third.URL).Complete(t.Context(), llmtest.Conversation(), func(d llm.Delta) {
		if d.Reset {
			require.Equal(t, llm.Delta{Reset: true}, d)
			require.Equal(t, "Hello from the first", text.String())
			text.Reset()
			resets++
		}
		text.WriteString(d.Text)
	})
	require.NoError(t, err)
	require.Equal(t, "Hello from the third", response.Content)
	require.Equal(t, response.Content, text.String())
	require.Equal(t, 1, resets, "the second had shown nothing yet")
}

func TestAllCandidatesFail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		steps  [3]llmtest.Step
		status int
		retry  time.Duration
		text   string
	}{
		{
			"the first one worth a retry",
			[3]llmtest.Step{llmtest.Status(401, ""), llmtest.Status(503, "40"), llmtest.Status(429, "20")},
			503, 20 * time.Second,
			"b: status 503: scripted failure; also failed: a/one (a: status 401: scripted failure), c/three (c: status 429: scripted failure)",
		},
		{
			"no wait if one did not ask for it",
			[3]llmtest.Step{llmtest.Status(429, "20"), llmtest.Status(500, ""), llmtest.Status(401, "")},
			429, 0,
			"a: status 429: scripted failure; also failed: b/two (b: status 500: scripted failure), c/three (c: status 401: scripted failure)",
		},
		{
			"none is worth a retry",
			[3]llmtest.Step{llmtest.Status(404, ""), llmtest.Status(401, ""), llmtest.Status(402, "")},
			404, 0,
			"a: status 404: scripted failure; also failed: b/two (b: status 401: scripted failure), c/three (c: status 402: scripted failure)",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var urls []string
			for _, step := range tt.steps {
				urls = append(urls, llmtest.NewServer(t, step).URL)
			}
			_, err := providers(t, urls...).Complete(t.Context(), llmtest.Conversation(), nil)
			require.EqualError(t, err, tt.text)
			require.Equal(t, tt.status, remote.As(err).Status)
			require.Equal(t, tt.retry, remote.As(err).RetryAfter)
		})
	}
}

func TestCancellationIsNotAFailure(t *testing.T) {
	t.Parallel()
	first := llmtest.NewServer(t, llmtest.Hang(), llmtest.Hang(), llmtest.Hang(), llmtest.Text("there"))
	second := llmtest.NewServer(t)
	p := providers(t, first.URL, second.URL)
	cause := errors.New("stopped by the user")
	for n := range 3 {
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error, 1)
		go func() {
			_, err := p.Complete(ctx, llmtest.Conversation(), nil)
			failed <- err
		}()
		require.NoError(t, first.Await(t.Context(), n+1))
		cancel(cause)
		err := <-failed
		require.ErrorIs(t, err, cause)
		require.Nil(t, remote.As(err))
	}
	response, err := p.Complete(t.Context(), llmtest.Conversation(), nil)
	require.NoError(t, err)
	require.Equal(t, "there", response.Content)
	require.Zero(t, second.Count())
}

func TestNewNeedsACandidate(t *testing.T) {
	t.Parallel()
	_, err := fallback.New(nil, nil)
	require.ErrorContains(t, err, "no model")
}
