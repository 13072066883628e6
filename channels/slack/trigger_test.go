package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestTheShortcutHandsOverAMessage(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		root := r.acked(r.Say(slacktest.Ben, slacktest.General, "The build\nis <https://ci.example|broken>", slacktest.WithFiles(slacktest.File{Name: "ci.log", Content: []byte("x")}))).TS
		d := r.acked(r.Shortcut(slacktest.Ana, slacktest.General, root, "holdfast_ask"))
		r.acked(r.Send(slacktest.Interactive, d.Events[0].Payload))
		got := r.accepted(1)
		require.Equal(t, "Deal with this message of <@U0BEN>:\n> The build\n> is [broken](https://ci.example)", got.Text)
		require.Equal(t, slacktest.Ana, got.Sender)
		require.Equal(t, root, got.Thread)
		require.True(t, got.Push)
		require.Equal(t, "ci.log", got.Files[0].Name)

		reply := r.acked(r.Say(slacktest.Ben, slacktest.General, "again", slacktest.InThread(root))).TS
		r.acked(r.Shortcut(slacktest.Ana, slacktest.General, reply, "holdfast_ask"))
		require.Equal(t, root, r.accepted(2).Thread)
		dm := r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi")).TS
		r.acked(r.Shortcut(slacktest.Ana, slacktest.DM, dm, "holdfast_ask"))
		require.Empty(t, r.accepted(4).Thread)

		r.acked(r.Shortcut(slacktest.Ben, slacktest.General, root, "holdfast_ask"))
		require.Len(t, r.backend.Accepted(), 4, "whoever is not let in asks nothing")
	})
}

func TestAReactionHandsOverAMessage(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{options: slack.Options{Reactions: []string{"robot_face", "eyes"}}, slack: hasty})
		root := r.acked(r.Say(slacktest.Ben, slacktest.General, "The build is broken")).TS
		r.acked(r.React(slacktest.Ana, slacktest.General, root, "tada"))
		r.acked(r.React(slacktest.Ben, slacktest.General, root, "robot_face"))
		d := r.acked(r.React(slacktest.Ana, slacktest.General, root, "robot_face"))
		r.acked(r.Redeliver(d.Events[0].ID))
		r.acked(r.React(slacktest.BotUser, slacktest.General, root, "eyes"))
		got := r.accepted(1)
		require.Len(t, r.backend.Accepted(), 1)
		require.Equal(t, slacktest.Ana, got.Sender)
		require.Equal(t, root, got.Thread)
		require.Contains(t, got.Text, ":robot_face:")
		enriched, err := r.channel.Enrich(r.ctx, channels.Enrichment{Message: got})
		require.NoError(t, err)
		require.Equal(t, "The build is broken", enriched.Before[0].Text)
		require.ErrorIs(t, r.SendEvent(map[string]any{
			"type": "reaction_added", "reaction": "eyes", "user": slacktest.Ana, "item": map[string]any{"type": "message"},
		}).Wait(r.ctx), slacktest.ErrNotAcknowledged)
	})
}

func TestTheManifestForReactions(t *testing.T) {
	t.Parallel()
	_, without := readManifest(t, slack.Manifest{})
	require.NotContains(t, without.OAuth.Scopes.Bot, "reactions:read")
	_, with := readManifest(t, slack.Manifest{Reactions: true})
	require.Contains(t, with.OAuth.Scopes.Bot, "reactions:read")
	require.Contains(t, with.Settings.Events.Bot, "reaction_added")
}
