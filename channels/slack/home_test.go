package slack_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// homeText waits until a person's Home tab was published n times and returns its texts.
func (r *receiving) homeText(user string, n int) string {
	r.t.Helper()
	published := func() bool {
		_, published := r.Home(user)
		return published >= n
	}
	require.NoError(r.t, r.Await(r.ctx, published))
	raw, _ := r.Home(user)
	var blocks []struct {
		Text     struct{ Text string }
		Elements []struct{ Text struct{ Text string } }
	}
	require.NoError(r.t, json.Unmarshal(raw, &blocks))
	var lines []string
	for _, b := range blocks {
		lines = append(lines, b.Text.Text)
		for _, e := range b.Elements {
			lines = append(lines, "["+e.Text.Text+"]")
		}
	}
	return strings.Join(lines, "\n")
}

func TestHome(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		r.acked(r.OpenHome(slacktest.Ana))
		empty := r.homeText(slacktest.Ana, 1)
		require.Contains(t, empty, "Nothing.")
		require.Contains(t, empty, "None. Ask me")
		require.Contains(t, empty, "Today: 0 tokens in 0 model calls, $0")

		until := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
		r.backend.SetHome(slack.Name, slacktest.Ana, domain.Home{
			Approvals: []domain.Approval{{
				ID: questionID, Tool: "exec", Arguments: "echo '```' <!channel> & rm", Channel: slack.Name, Sender: slacktest.Ben, ExpiresAt: until,
			}},
			Jobs: []domain.HomeJob{
				{Label: "water <@U1> @here *now*", When: "every 1h", Next: "Mon 2026-03-02 15:04:05 UTC"}, {Label: "rest", When: "cron 0 9 * * * (UTC), paused"},
			},
			Today: domain.Totals{Calls: 2, Spent: domain.Spent{Usage: domain.Usage{PromptTokens: 10, CompletionTokens: 5}, Cost: 12_345}},
		})
		r.acked(r.OpenHome(slacktest.Ana))
		text := r.homeText(slacktest.Ana, 2)
		require.Contains(t, text, "`exec` for <@U0BEN>, until <!date^1772625600^{date_short_pretty} {time}|2026-03-04 12:00 UTC>\n```\n")
		require.Contains(t, text, "&lt;!channel&gt; &amp; rm\n```\n\n[Approve]\n[Deny]\n")
		require.NotContains(t, text, "'```'", "it would end the code")
		require.Contains(t, text, "• *water &lt;@U1&gt; @\u200bhere *now**: every 1h; next Mon 2026-03-02 15:04:05 UTC\n• *rest*: cron 0 9 * * * (UTC), paused")
		require.NotContains(t, text, "None.")
		require.Contains(t, text, "Today: 15 tokens in 2 model calls, $0.0123\nThis month: 0 tokens")

		d := r.acked(r.ClickHome(slacktest.Ana, "holdfast_deny", questionID))
		for range 2 {
			r.acked(r.Send(slacktest.Interactive, d.Events[0].Payload))
		}
		got := r.accepted(1)
		require.Equal(t, "/deny "+questionID, got.Text)
		require.Equal(t, []any{dmChat, "", slacktest.Ana, false}, []any{got.Chat, got.Thread, got.Sender, got.Push})
		require.Contains(t, r.homeText(slacktest.Ana, 3), "Nothing.")
		require.Len(t, r.backend.Accepted(), 1)
		require.Empty(t, r.Posted(), "nobody else sees it")
	})
}

func TestHomeOfAStranger(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{})
	r.backend.SetHome(slack.Name, slacktest.Ben, domain.Home{Jobs: []domain.HomeJob{{Label: "secret"}}})
	r.acked(r.OpenHome(slacktest.Ben))
	text := r.homeText(slacktest.Ben, 1)
	require.Contains(t, text, "holdfast pairing approve PAIR-"+slacktest.Ben)
	require.NotContains(t, text, "secret")
}

func TestAFullHome(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{})
	var home domain.Home
	for i := range 200 {
		home.Approvals = append(home.Approvals, domain.Approval{
			ID: domain.ApprovalID(strconv.Itoa(i)), Tool: "exec", Arguments: strings.Repeat("&", 2000), Channel: "http", Sender: "the operator",
		})
		home.Jobs = append(home.Jobs, domain.HomeJob{Label: strings.Repeat("<", 40), When: "every 1h"})
	}
	r.backend.SetHome(slack.Name, slacktest.Ana, home)
	r.acked(r.OpenHome(slacktest.Ana))
	text := r.homeText(slacktest.Ana, 1)
	require.Contains(t, text, "`exec` for the operator")
	require.Contains(t, text, "… and 180 more")
}

func TestHomesThatAreNot(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{slack: hasty})
	r.acked(r.SendEvent(map[string]any{"type": "app_home_opened", "user": slacktest.Ana, "channel": slacktest.DM, "tab": "messages"}))
	for _, broken := range []map[string]any{{"user": slacktest.Ana}, {"channel": slacktest.DM}, {"user": slacktest.Ana, "channel": slacktest.General}, {"user": 1}} {
		broken["type"], broken["tab"] = "app_home_opened", "home"
		require.ErrorIs(t, r.SendEvent(broken).Wait(r.ctx), slacktest.ErrNotAcknowledged)
	}
	forged := clickOn("holdfast_approve", map[string]any{"channel": nil, "view": map[string]any{"type": "home", "private_metadata": slacktest.General}})
	require.ErrorIs(t, r.Send(slacktest.Interactive, forged).Wait(r.ctx), slacktest.ErrNotAcknowledged)
	r.RateLimit("views.publish", 1, time.Second)
	r.acked(r.OpenHome(slacktest.Ana))
	require.Eventually(t, func() bool { return r.log.has("page not shown") }, receivingDeadline, receivingTick)
	require.Empty(t, r.backend.Accepted())
}
