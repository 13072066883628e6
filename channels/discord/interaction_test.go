package discord_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const approval = "abcdefgh"

// question posts a question with buttons and returns the ID of its message.
func (b *bot) question() string {
	msg := outgoing("q1", "May I?")
	msg.Approval = approval
	return b.send(msg)
}

func TestAClickAnswersAQuestion(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	asked := b.question()
	posted := b.Ours(discordtest.General)[0]
	require.Contains(t, string(posted.Components[0]), `"custom_id":"holdfast:approve:`+approval)
	click := b.Click(discordtest.Ana, discordtest.General, asked, "holdfast:approve:"+approval)
	kind, _, err := click.Answer(b.ctx)
	require.NoError(t, err)
	require.Equal(t, 6, kind)
	require.Len(t, b.backend.Accepted(), 1, "first accepted, then answered")
	got := b.accepted(1)
	require.Equal(t, "/approve "+approval, got.Text)
	require.Equal(t, discordtest.Ana, got.Sender)
	require.False(t, got.Push)
	for range 3 {
		click.Redeliver()
	}
	b.settled()
	require.Len(t, b.texts(), 1)

	closed, err := b.channel.CloseQuestion(b.ctx, domain.Outbound{ID: "q1", Chat: generalChat, Text: "May I?", PlatformID: asked, Approval: approval}, "Approved by Ana")
	require.NoError(t, err)
	require.True(t, closed)
	posted = b.Ours(discordtest.General)[0]
	require.Empty(t, posted.Components)
	require.Equal(t, "May I?\n-# Approved by Ana", discord.Unmarked(posted.Content))
}

func TestAStrangersClickIsNotAccepted(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	click := b.Click(discordtest.Bob, discordtest.General, b.question(), "holdfast:approve:"+approval)
	_, _, err := click.Answer(b.ctx)
	require.NoError(t, err)
	b.settled()
	require.Empty(t, b.texts())
}

func TestClicksThatMeanNothing(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	asked := b.question()
	for _, id := range []string{"other:thing", "holdfast:approve", "holdfast:approve:../../etc", "holdfast:fly:abcdefgh", "", ":", "holdfast:"} {
		b.Click(discordtest.Ana, discordtest.General, asked, id)
	}
	b.settled()
	require.Empty(t, b.texts())
}

func TestAClickThatTakesLongIsAnsweredInTime(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.channel.Defer(5 * time.Millisecond)
	b.run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	release := b.backend.BlockAccept()
	click := b.Click(discordtest.Ana, discordtest.General, b.question(), "holdfast:deny:"+approval)
	kind, _, err := click.Answer(b.ctx)
	require.NoError(t, err)
	require.Equal(t, 6, kind)
	release()
	require.Equal(t, "/deny "+approval, b.accepted(1).Text)

	b.backend.FailAccept(1)
	release = b.backend.BlockAccept()
	click = b.Click(discordtest.Ana, discordtest.General, b.question(), "holdfast:deny:"+approval)
	_, _, err = click.Answer(b.ctx)
	require.NoError(t, err)
	release()
	require.Eventually(t, func() bool { return len(click.Texts()) == 1 }, deadline, tick)
	require.Contains(t, click.Texts()[0], "try again")
}

func TestSlashCommands(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.backend = channeltest.NewBackend(channeltest.Hold)
	b.run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	answer := func(user, channel, name, argument string) string {
		_, text, err := b.Command(user, channel, name, argument).Answer(b.ctx)
		require.NoError(t, err)
		return text
	}
	require.Contains(t, answer(discordtest.Ana, discordtest.General, "help", ""), "`/approve [ID]`")
	require.Contains(t, answer(discordtest.Ana, discordtest.General, "status", ""), "not working on anything")
	require.Contains(t, answer(discordtest.Bob, discordtest.General, "status", ""), "I don't know you yet")
	require.Contains(t, answer(discordtest.Bob, b.Direct(discordtest.Bob), "status", ""), "holdfast pairing approve")

	b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" work")
	b.accepted(1)
	require.Equal(t, "The answer follows.", answer(discordtest.Ana, discordtest.General, "stop", ""))
	got := b.accepted(2)
	require.Equal(t, "/stop", got.Text)
	require.Equal(t, generalChat, got.Chat)
	require.True(t, strings.HasPrefix(got.PlatformID, "command-"))
	require.Equal(t, "The answer follows.", answer(discordtest.Ana, discordtest.General, "model", "demo"))
	require.Equal(t, "/model demo", b.accepted(3).Text)

	thread := b.OpenThread(discordtest.Ana, discordtest.General, "", "t")
	b.Say(discordtest.Ana, thread, discordtest.Mention+" work")
	b.accepted(4)
	answer(discordtest.Ana, thread, "new", "")
	require.Equal(t, thread, b.accepted(5).Thread)
}

func TestASlashCommandThatTakesLong(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.channel.Defer(5 * time.Millisecond)
	b.run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" work")
	b.accepted(1)
	release := b.backend.BlockAccept()
	command := b.Command(discordtest.Ana, discordtest.General, "stop", "")
	require.Eventually(t, func() bool { return len(b.Calls("POST", "/callback")) == 1 }, deadline, tick)
	require.Contains(t, b.Calls("POST", "/callback")[0].Body, `"type":5`)
	release()
	kind, text, err := command.Answer(b.ctx)
	require.NoError(t, err)
	require.Equal(t, 5, kind)
	require.Equal(t, "The answer follows.", text)
}

func TestTheStopButton(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	_, _, err := b.Click(discordtest.Ana, discordtest.General, b.question(), "holdfast:stop:").Answer(b.ctx)
	require.NoError(t, err)
	require.Equal(t, "/stop", b.accepted(1).Text)
}
