package command

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// withOther configures another provider, whose models are at url.
func withOther(url string) func(*config.Config, *node.Roles) {
	return func(c *config.Config, _ *node.Roles) {
		c.Providers["other"] = config.Provider{Kind: "custom", BaseURL: url, APIKey: "key", Timeout: time.Minute}
	}
}

func TestModelCommand(t *testing.T) {
	t.Parallel()

	t.Run("switches the model of this conversation", func(t *testing.T) {
		t.Parallel()
		usual, other := echo(t), llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step { return llmtest.Text("other " + r.Model) })
		n := startNode(t, usual.URL, withOther(other.URL), func(c *config.Config, _ *node.Roles) { c.Fallbacks = []string{"other/spare"} })
		require.Equal(t, "Using `scripted/model`, the configured model. Fallbacks: `other/spare`.", n.ask(t, "main", "/model").Text)
		require.Equal(t, "From the next request on, this conversation uses `other/a/b`. `/model default` switches back.",
			n.ask(t, "main", "/model `other/a/b`").Text)
		n.closedCost(t, "http:main")
		require.Equal(t, "other a/b", n.ask(t, "main", "hi").Text)
		run, err := n.Temporal.Run(t.Context(), "http:main", "")
		require.NoError(t, err)
		history, err := n.Temporal.History(t.Context(), run)
		require.NoError(t, err)
		require.Equal(t, "other/a/b · step 1", history.Steps[2].Title, "who looks at the run sees which model answers")
		require.Contains(t, n.ask(t, "main", "/model").Text, "This conversation uses `other/a/b`, others use `scripted/model`")
		require.Equal(t, "echo 1", n.ask(t, "elsewhere", "hi").Text)

		require.Contains(t, n.ask(t, "main", "/model Default").Text, "From the next request on, `scripted/model`, the configured model, is used.")
		require.Equal(t, "echo 2", n.ask(t, "main", "hi").Text)
		require.Empty(t, other.Invalid())
		require.Empty(t, usual.Invalid())
	})

	t.Run("refuses what is not configured", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL)
		for _, tt := range []struct{ text, why string }{
			{"/model nobody/x", "provider nobody is not configured"},
			{"/model anthropic/claude-opus-5", "ANTHROPIC_API_KEY"},
			{"/model x", "is not of the form provider/model"},
			{"/model scripted/", `"scripted/" is not of the form provider/model`},
			{"/model please take another", "give one model"},
		} {
			reply := n.ask(t, "main", tt.text).Text
			require.Contains(t, reply, "Nothing changed")
			require.Contains(t, reply, tt.why)
		}
		require.Equal(t, "echo 1", n.ask(t, "main", "hi").Text)
	})

	t.Run("does not affect the running turn, and is inherited by subagents", func(t *testing.T) {
		t.Parallel()
		hold := make(chan struct{})
		usual := llmtest.NewServer(t, llmtest.Calls(llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}).After(hold), llmtest.Text("usual"))
		other := delegating(t, 1, 1, llmtest.Call{})
		n := startNode(t, usual.URL, withOther(other.URL))
		running := n.send(t, "main", "", "look")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, usual.Await(ctx, 1))
		n.ask(t, "main", "/model other/m")
		require.Contains(t, n.ask(t, "main", "/status").Text, "0 tokens, cost $0 so far")
		close(hold)
		require.Equal(t, "usual", n.await(t, running).Text)

		require.Equal(t, "handed over", n.ask(t, "main", "delegate").Text)
		require.NoError(t, other.Await(ctx, 4), "the turn's two calls, the subagent's, the report's")
		n.closedCost(t, "http:main")
		require.Equal(t, 2, usual.Count())
		require.Empty(t, other.Invalid())
	})

	t.Run("explains what to do when the model is no longer configured", func(t *testing.T) {
		t.Parallel()
		usual := echo(t)
		n := startNode(t, usual.URL)
		gone := "other/m"
		_, _, err := n.store.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "http:main", Channel: "http", Chat: "main"})
		require.NoError(t, err)
		_, _, err = n.store.Answer(t.Context(), store.AnswerInput{Session: "http:main", Channel: "http", Message: "m1", Model: &gone})
		require.NoError(t, err)
		answer := n.ask(t, "main", "hi")
		require.Equal(t, domain.ReplyFailed, answer.Status)
		require.Contains(t, answer.Text, "other/m")
		require.Contains(t, answer.Text, "/model default")
		n.ask(t, "main", "/model default")
		require.Equal(t, "echo 1", n.ask(t, "main", "hi").Text)
	})
}
