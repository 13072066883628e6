package command

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/sdk/v1"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func TestUsageOfAHomeWithoutAStore(t *testing.T) {
	t.Parallel()
	environ := []string{"HOLDFAST_HOME=" + t.TempDir()}
	out, err := runCommand(t, environ, "usage")
	require.NoError(t, err)
	require.Contains(t, out, "no model calls")
	out, err = runCommand(t, environ, "usage", "--json", "--since", "all")
	require.NoError(t, err)
	require.JSONEq(t, `{"by":"day","rows":[],"total":{"calls":0,"prompt_tokens":0,"cached_tokens":0,"completion_tokens":0,
		"cost_microdollars":0,"unpriced_calls":0}}`, out)
	_, err = runCommand(t, environ, "usage", "--by", "colour")
	require.ErrorContains(t, err, "day, session, model, sender")
	_, err = runCommand(t, environ, "usage", "--since", "yesterday")
	require.ErrorContains(t, err, "30d")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	dir := llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}
	priced := llmtest.NewServer(t, llmtest.Calls(dir).Usage(1000, 100).Cached(600), llmtest.Text("done").Usage(2000, 200),
		llmtest.Calls(dir).Usage(100, 10), llmtest.Hang())
	unpriced := llmtest.NewServer(t, llmtest.Text("free?").Usage(30, 3))
	n := startNode(t, priced.URL, withOther(unpriced.URL), func(c *config.Config, _ *node.Roles) {
		c.Prices["scripted/*"] = config.Price{Input: 2, Cached: 1, Output: 10}
	})
	n.ask(t, "main", "look")
	n.ask(t, "second", "/model other/m")
	n.ask(t, "second", "hi")
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	run := func(t *testing.T, args ...string) string {
		out, err := runCommand(t, environ, args...)
		require.NoError(t, err)
		return out
	}
	today := time.Now().Format(time.DateOnly)

	t.Run("of a run", func(t *testing.T) {
		n.closedCost(t, "http:main")
		require.NoError(t, node.WriteRun(n.cfg.DataDir(), n.note("")))
		require.Contains(t, run(t, "runs", "show", "http:main"), "spent     3300 tokens, cost $0.0084\n")
	})

	t.Run("of a conversation", func(t *testing.T) {
		const line = "3000 tokens in (600 of them cached), 300 out, in 2 model calls, cost $0.0084"
		require.Equal(t, "Usage of this conversation:\n\n- today: "+line+"\n- in total: "+line, n.ask(t, "main", "/usage").Text)
		require.Contains(t, n.ask(t, "second", "/usage").Text, "cost unknown\n\n1 of the 1 model calls have no known price.")
	})

	t.Run("by day", func(t *testing.T) {
		out := run(t, "usage")
		require.Regexp(t, `DAY +CALLS +PROMPT +CACHED +COMPLETION +COST\n`+today+` +3 +3030 +600 +303 +at least \$0\.0084\ntotal +3 `, out)
		require.Contains(t, out, "1 of 3 calls (33 %) have no known price")
		require.NotContains(t, run(t, "usage", "--session", "http:main"), "no known price")
	})

	t.Run("by session, model and sender", func(t *testing.T) {
		require.Regexp(t, `SESSION .*\nhttp:main +2 .* \$0\.0084\nhttp:second +1 .* unknown\ntotal`, run(t, "usage", "--by", "session"))
		require.Regexp(t, `MODEL .*\nscripted/\S+ +2 .* \$0\.0084\nother/\S+ +1 .* unknown\ntotal`, run(t, "usage", "--by", "model", "--since", "1d"))
		require.Regexp(t, `SENDER .*\nhttp +3 `, run(t, "usage", "--by", "sender", "--since", "1h"))
	})

	t.Run("as JSON", func(t *testing.T) {
		var report usageReport
		require.NoError(t, json.Unmarshal([]byte(run(t, "usage", "--by", "session", "--json")), &report))
		require.Equal(t, store.UsageRow{
			Key: "http:main", Totals: domain.Totals{
				Calls: 2, CachedTokens: 600, Spent: domain.Spent{Usage: domain.Usage{PromptTokens: 3000, CompletionTokens: 300}, Cost: 8400},
			},
		}, report.Rows[0])
		require.Equal(t, []int64{8400, 1}, []int64{report.Total.Cost, int64(report.Total.Unpriced)})
	})

	t.Run("of sessions", func(t *testing.T) {
		require.Regexp(t, `http:second .* unknown .*\nhttp:main +2 +4 +3300 +\$0\.0084 `, run(t, "sessions", "list"))
		out := run(t, "sessions", "show", "http:main")
		require.Contains(t, out, "3300 tokens, cost $0.0084, last used")
		require.Contains(t, out, "done, 2 steps, 3300 tokens, cost $0.0084, ")
		require.Contains(t, run(t, "sessions", "show", "http:second"), "model     other/m")
	})

	t.Run("of running work", func(t *testing.T) {
		hanging := n.send(t, "running", "", "look")
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, priced.Await(ctx, 4))
		require.Contains(t, n.ask(t, "running", "/status").Text, "110 tokens, cost $0.0003 so far.")
		require.Contains(t, n.ask(t, "running", "/usage").Text, "- the running request: 110 tokens, cost $0.0003\n- today: 100 tokens in")
		require.Contains(t, run(t, "runs", "show", "http:running"), "step 2, 110 tokens, cost $0.0003; ")
		described, err := n.client.QueryWorkflow(ctx, protocol.Names{}.Session("http:running"), "", "__temporal_workflow_metadata")
		require.NoError(t, err)
		var metadata sdk.WorkflowMetadata
		require.NoError(t, described.Get(&metadata))
		require.Contains(t, metadata.CurrentDetails, "**tokens** 110 · **cost** $0.0003\n\nscripted/model · step 2")
		n.ask(t, "running", "/stop")
		require.Equal(t, domain.ReplyFailed, n.await(t, hanging).Status)
	})
}

func TestParseSince(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", 2*60*60)
	now := time.Date(2026, 11, 21, 15, 30, 0, 0, zone)
	for text, want := range map[string]time.Time{
		"1d":         time.Date(2026, 11, 21, 0, 0, 0, 0, zone),
		"30d":        time.Date(2026, 10, 23, 0, 0, 0, 0, zone),
		"36h":        time.Date(2026, 11, 20, 3, 30, 0, 0, zone),
		"2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, zone),
		"all":        {},
	} {
		got, err := parseSince(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
	for _, text := range []string{"", "0d", "-1d", "-3h", "d", "tomorrow", "2026-13-01"} {
		_, err := parseSince(text, now)
		require.Error(t, err, text)
	}
}
