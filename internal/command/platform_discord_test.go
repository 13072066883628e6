package command

import (
	"context"
	"testing"

	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveDiscord is Discord. The program knows the direct chat from the first message on, which
// it receives while it is connected.
func liveDiscord(t *testing.T) livePlatform {
	server := discordtest.Start(t)
	direct := server.Direct(discordtest.Ana)
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_DISCORD_ENABLED=true", "DISCORD_BOT_TOKEN=" + discordtest.Token, "HOLDFAST_CHANNELS_DISCORD_API_URL=" + server.APIURL(),
			"HOLDFAST_CHANNELS_DISCORD_ALLOW_USERS=" + discordtest.Ana,
		},
		ready: func(ctx context.Context) error {
			identified, _ := server.Sessions()
			return server.AwaitSessions(ctx, max(identified, 1), 0)
		},
		say: func(text string) { server.Say(discordtest.Ana, direct, text) },
		seen: func() (texts []string) {
			for _, m := range server.Ours(direct) {
				texts = append(texts, m.Content)
			}
			return texts
		},
		backlog: 5,
		inOrder: true,
	}
}
