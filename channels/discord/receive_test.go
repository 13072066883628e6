package discord_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
)

func TestWhatIsAnswered(t *testing.T) {
	t.Parallel()
	role := "<@&" + discordtest.BotRole + ">"
	for name, test := range map[string]struct {
		respond string
		say     func(b *bot)
		want    string // empty: nothing
	}{
		"a mention":               {chat.RespondMention, inGeneral(discordtest.Mention + ", hello"), "hello"},
		"a mention of its role":   {chat.RespondMention, inGeneral(role + " hello"), "hello"},
		"a mention in the middle": {chat.RespondMention, inGeneral("hello " + discordtest.Mention + "!"), "hello @holdfast!"},
		"another text":            {chat.RespondMention, inGeneral("hello"), ""},
		"everyone":                {chat.RespondMention, inGeneral("@everyone hello"), ""},
		"another text, to all":    {chat.RespondAll, inGeneral("hello"), "hello"},
		"names": {
			chat.RespondAll, inGeneral("ask <@" + discordtest.Bob + "> in <#" + discordtest.Ops + "> <:wave:123> <a:hop:45>"),
			"ask @Bob in #ops :wave: :hop:",
		},
		"a direct message": {chat.RespondMention, func(b *bot) { b.Say(discordtest.Ana, b.Direct(discordtest.Ana), "hello") }, "hello"},
		"an answer to us": {chat.RespondMention, func(b *bot) {
			b.Say(discordtest.Ana, discordtest.General, "yes", discordtest.InReplyTo(b.Say(discordtest.Self, discordtest.General, "Really?").ID))
		}, "yes"},
		"an answer to somebody else": {chat.RespondMention, func(b *bot) {
			bobs := b.Say(discordtest.Bob, discordtest.General, "The build fails.")
			b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" why?", discordtest.InReplyTo(bobs.ID))
		}, "> In reply to Bob:\n> The build fails.\n\nwhy?"},
		"a stranger":         {chat.RespondAll, func(b *bot) { b.Say(discordtest.Bob, discordtest.General, "hello") }, ""},
		"another bot":        {chat.RespondAll, func(b *bot) { b.Say(discordtest.Robot, discordtest.General, discordtest.Mention+" hello") }, ""},
		"itself":             {chat.RespondAll, func(b *bot) { b.Say(discordtest.Self, discordtest.General, "hello") }, ""},
		"what Discord notes": {chat.RespondAll, func(b *bot) { b.Say(discordtest.Ana, discordtest.General, "a title", ofType(4)) }, ""},
		"a thread of ours": {chat.RespondThread, func(b *bot) {
			b.Say(discordtest.Ana, b.OpenThread(discordtest.Self, discordtest.General, "", "help"), "hello")
		}, "hello"},
		"a thread of others": {chat.RespondThread, func(b *bot) {
			b.Say(discordtest.Ana, b.OpenThread(discordtest.Ana, discordtest.General, "", "help"), "hello")
		}, ""},
		"a forwarded message": {chat.RespondAll, func(b *bot) {
			b.Say(discordtest.Ana, discordtest.General, "look", discordtest.With(func(m *discordtest.Message) {
				m.Snapshots = []any{map[string]any{"message": map[string]any{"content": "one\ntwo", "type": 0}}}
			}))
		}, "look\n\n> Forwarded message:\n> one\n> two"},
		"a sticker": {chat.RespondAll, func(b *bot) {
			b.Say(discordtest.Ana, discordtest.General, "", discordtest.With(func(m *discordtest.Message) {
				m.Stickers = []any{map[string]any{"id": "1", "name": "Wave", "format_type": 1}}
			}))
		}, "[sticker: Wave]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := receive(t, settings{Respond: test.respond})
			test.say(b)
			b.settled()
			if test.want == "" {
				require.Empty(t, b.texts())
			} else {
				require.Equal(t, test.want, b.texts()[0])
			}
		})
	}
}

func inGeneral(text string) func(*bot) {
	return func(b *bot) { b.Say(discordtest.Ana, discordtest.General, text) }
}

func ofType(kind int) discordtest.SayOption {
	return discordtest.With(func(m *discordtest.Message) { m.Type = kind })
}

func TestAMessageAsItIsAccepted(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	said := b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" read this", discordtest.WithFile("a.txt", "text/plain", "hi"))
	got := b.accepted(1)
	require.Equal(t, discord.Name, got.Channel)
	require.Equal(t, said.ID, got.PlatformID)
	require.Equal(t, generalChat, got.Chat)
	require.Empty(t, got.Thread)
	require.Equal(t, discordtest.Ana, got.Sender)
	require.Equal(t, "Ana", got.SenderName)
	require.True(t, got.Push)
	require.False(t, got.SentAt.IsZero())
	require.Len(t, got.Files, 1)
	require.Equal(t, "a.txt", got.Files[0].Name)

	direct := b.Direct(discordtest.Ana)
	b.Say(discordtest.Ana, direct, "psst")
	got = b.accepted(2)
	require.Equal(t, "@me/"+direct, got.Chat)
	require.True(t, discord.IsDirect(got.Chat))
	require.False(t, discord.IsDirect(generalChat))
}

func TestAThreadOfTwo(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{AllowUsers: []string{discordtest.Ana, discordtest.Bob}, Respond: chat.RespondThread, AllowChannels: []string{discordtest.General}})
	thread := b.OpenThread(discordtest.Ana, discordtest.General, "", "plans")
	for i, who := range []string{discordtest.Ana, discordtest.Bob, discordtest.Ana} {
		text := fmt.Sprint("message ", i)
		if i == 0 {
			text = discordtest.Mention + " " + text
		}
		b.Say(who, thread, text)
	}
	for i, who := range []string{discordtest.Ana, discordtest.Bob, discordtest.Ana} {
		got := b.accepted(i + 1)
		require.Equal(t, fmt.Sprint("message ", i), got.Text)
		require.Equal(t, who, got.Sender)
		require.Equal(t, generalChat, got.Chat, "the channel that is allowed")
		require.Equal(t, thread, got.Thread)
	}
}

func TestOrderAndRedelivery(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	var want []string
	for i := range 20 {
		m := b.Say(discordtest.Ana, discordtest.General, fmt.Sprint(discordtest.Mention, " ", i))
		for range 3 {
			b.Redeliver(m)
		}
		want = append(want, strconv.Itoa(i))
	}
	b.accepted(20)
	b.settled()
	require.Equal(t, want, b.texts())
}

func TestAStrangerIsToldHowToBeLetIn(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	b.Say(discordtest.Bob, discordtest.General, discordtest.Mention+" hello")
	direct := b.Direct(discordtest.Bob)
	require.Eventually(t, func() bool { return len(b.Ours(direct)) == 1 }, deadline, tick, "not in front of the others")
	require.Contains(t, b.Ours(direct)[0].Content, "Send me a direct message")
	require.Empty(t, b.Ours(discordtest.General))
	b.Say(discordtest.Bob, direct, "hello")
	require.Eventually(t, func() bool { return len(b.Ours(direct)) == 2 }, deadline, tick)
	require.Contains(t, b.Ours(direct)[1].Content, "holdfast pairing approve PAIR-"+discordtest.Bob)
	b.backend.Approve(discord.Name, discordtest.Bob)
	b.Say(discordtest.Bob, direct, "hello again")
	require.Equal(t, "hello again", b.accepted(1).Text)
}
