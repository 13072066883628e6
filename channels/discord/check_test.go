package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
)

func TestTheSetupIsChecked(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	require.Equal(t, []chat.Finding{
		chat.Passed("connected as holdfast (%s)", discordtest.Self), chat.Passed("the bot may read messages"), chat.Passed("in 1 server(s): Tests"),
		chat.Passed("answers 1 person, in direct messages and in all channels it is invited to"),
	}, b.channel.CheckSetup(b.ctx))

	b = newBot(t, settings{}, discordtest.WithoutContent())
	b.Inject(discordtest.Fault{Path: "/users/@me/guilds", Times: 1, Status: 200, Body: "[]"})
	found := b.channel.CheckSetup(b.ctx)
	require.Contains(t, found[1].Text, "the Message Content intent is off")
	require.Contains(t, found[2].Fix, "client_id="+discordtest.Application+"&scope=bot+applications.commands&permissions=274878008384")

	b.options.Token = "secret-but-wrong"
	b.open()
	found = b.channel.CheckSetup(b.ctx)
	require.Equal(t, "unknown token", found[0].Text)

	b.Down()
	b.open()
	found = b.channel.CheckSetup(b.ctx)
	require.Equal(t, chat.LevelFail, found[0].Level)
	require.Contains(t, found[0].Fix, "gateway.discord.gg")
	require.NotContains(t, found[0].Text, "secret-but-wrong")
	b.Up()
	_, err := discord.New(discord.Options{})
	require.ErrorContains(t, err, "channels.discord.token is not set")
}
