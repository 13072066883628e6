package discord_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// presented shows a turn that answers a message.
func (b *bot) presented(msg domain.Inbound) channels.PresentedTurn {
	t := channels.PresentedTurn{ID: "mturn", Reply: domain.OutboxID("mturn"), Messages: []domain.Inbound{msg}, Drafts: channeltest.NewDrafts()}
	b.channel.Present(t)
	return t
}

func TestATurnIsShownAndBecomesTheReply(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{Stream: true, Reactions: true})
	said := b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" work")
	msg := b.accepted(1)
	turn := b.presented(msg)
	require.Eventually(t, func() bool { return len(b.Messages(discordtest.General)[0].Reactions["👀"]) == 1 }, deadline, tick)
	require.Eventually(t, func() bool { return len(b.Calls("POST", "/typing")) > 0 }, deadline, tick)
	b.channel.Show(turn.ID, event.Event{Kind: event.Text, Text: "The answer "})
	require.Eventually(t, func() bool {
		ours := b.Ours(discordtest.General)
		return len(ours) == 1 && discord.Unmarked(ours[0].Content) == "The answer"
	}, deadline, tick, "%v", b.log)
	require.Contains(t, string(b.Ours(discordtest.General)[0].Components[0]), "holdfast:stop:")
	b.channel.Pause(b.ctx, turn.ID)
	draft, err := turn.Drafts.Draft(b.ctx, turn.ID)
	require.NoError(t, err)
	reply := outgoing(turn.Reply, "The answer is 42.")
	reply.Draft, reply.ReplyTo = draft.PlatformID, said.ID
	b.send(reply)
	b.channel.Conclude(turn, false, true)
	b.channel.Wait(b.ctx)
	ours := b.Ours(discordtest.General)
	require.Len(t, ours, 1)
	require.Equal(t, "The answer is 42.", discord.Unmarked(ours[0].Content))
	require.Empty(t, ours[0].Components)
	asked := b.Messages(discordtest.General)[0]
	require.Empty(t, asked.Reactions["👀"])
	require.Len(t, asked.Reactions["✅"], 1)
}

func TestReactionsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{Reactions: true})
	b.Refuse(discordtest.General, "react", 50013)
	b.Say(discordtest.Ana, discordtest.General, discordtest.Mention+" work")
	msg := b.accepted(1)
	reacted := func() int { return len(b.Calls("PUT", "/@me")) }
	for range 3 {
		turn := b.presented(msg)
		require.Eventually(t, func() bool { return reacted() == 1 }, deadline, tick)
		b.channel.Conclude(turn, true, true)
		b.channel.Wait(b.ctx)
	}
	require.Equal(t, 1, reacted(), "it is asked once")
}

func TestTypingOnlyWhileATurnRuns(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	b.Say(discordtest.Ana, b.Direct(discordtest.Ana), "work")
	turn := b.presented(b.accepted(1))
	require.Eventually(t, func() bool { return len(b.Calls("POST", "/typing")) == 1 }, deadline, tick)
	b.channel.Conclude(turn, false, true)
	b.channel.Wait(b.ctx)
	require.Len(t, b.Calls("POST", "/typing"), 1)
	require.Empty(t, b.Calls("PUT", "/@me"))
}
