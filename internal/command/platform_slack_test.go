package command

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveSlack is Slack over Socket Mode.
func liveSlack(t *testing.T) livePlatform {
	server := slacktest.Start(t, slacktest.RetryDelays(slices.Repeat([]time.Duration{200 * time.Millisecond}, 100)...))
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_SLACK_ENABLED=true", "HOLDFAST_CHANNELS_SLACK_API_URL=" + server.APIURL(),
			"SLACK_BOT_TOKEN=" + slacktest.BotToken, "SLACK_APP_TOKEN=" + slacktest.AppToken,
			"HOLDFAST_CHANNELS_SLACK_ALLOW_USERS=*",
		},
		ready: func(ctx context.Context) error { return server.AwaitConnections(ctx, 1) },
		say:   func(text string) { server.Say(slacktest.Ana, slacktest.DM, text) },
		seen: func() (texts []string) {
			for _, m := range server.Channel(slacktest.DM) {
				if m.BotID != "" {
					texts = append(texts, m.Text)
				}
			}
			return texts
		},
		backlog: 5,
	}
}
