package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestAccess(t *testing.T) {
	t.Parallel()
	const listed, everyone, nobody = "listed", "everyone", "nobody"
	list := func(kind, id string) []string {
		switch kind {
		case listed:
			return []string{"X0NOT", id}
		case everyone:
			return []string{"*"}
		}
		return []string{"X0NOT"}
	}
	tests := []struct {
		name            string
		users, channels string
		paired          bool
		inChannel, inDM bool
	}{
		{"deny by default", nobody, nobody, false, false, false},
		{"the channel only", nobody, listed, false, false, false},
		{"the user only", listed, nobody, false, false, true},
		{"both", listed, listed, false, true, true},
		{"everybody everywhere", everyone, everyone, false, true, true},
		{"everybody in a channel", everyone, listed, false, true, true},
		{"paired", nobody, nobody, true, false, true},
		{"paired, in a channel", nobody, listed, true, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{
				AllowUsers: list(tt.users, slacktest.Ana), AllowChannels: list(tt.channels, slacktest.General),
			}})
			if tt.paired {
				r.backend.Approve(slack.Name, slacktest.Ana)
			}
			want := 0
			r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi"))
			if tt.inChannel {
				want++
			}
			require.Len(t, r.backend.Accepted(), want, "channel")
			r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi"))
			if tt.inDM {
				want++
			}
			require.Len(t, r.backend.Accepted(), want, "direct message")
			if want < 2 {
				require.True(t, r.log.has("user_id="+slacktest.Ana))
			}
		})
	}
}

func TestAChannelHasItsOwnPolicy(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{
		AllowChannels: []string{"*"}, Respond: chat.RespondAll, RespondIn: map[string]string{"c0general": chat.RespondMention},
	}})
	r.acked(r.Say(slacktest.Ana, slacktest.General, "hi"))
	r.acked(r.Say(slacktest.Ana, slacktest.Secret, "hello"))
	require.Equal(t, "hello", r.accepted(1).Text)
	r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hey"))
	require.Equal(t, "hey", r.accepted(2).Text)
}

func TestAnUnknownSenderIsPaired(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{options: slack.Options{AllowUsers: []string{slacktest.Ben}}})
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi"))
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "hello?"))
		require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Posted()) == 1 }))
		require.Contains(t, r.Posted()[0].Text, "holdfast pairing approve PAIR-"+slacktest.Ana)
		require.Equal(t, slacktest.DM, r.Posted()[0].Channel)
		require.Empty(t, r.backend.Accepted())

		r.backend.Approve(slack.Name, slacktest.Ana)
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "now?"))
		require.Equal(t, "now?", r.accepted(1).Text)
		require.NoError(t, r.stop())
		require.Len(t, r.Posted(), 1, "told once an hour")
	})
}

func TestADeniedMentionIsExplainedToItsAuthor(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{Respond: chat.RespondAll}})
	root := r.acked(r.Say(slacktest.Ben, slacktest.General, slacktest.Mention+" hi")).TS
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Ephemeral(slacktest.General)) == 1 }))
	told := r.Ephemeral(slacktest.General)[0]
	require.Equal(t, slacktest.Ben, told.Recipient)
	require.Contains(t, told.Text, "`"+slacktest.Ben+"` to `channels.slack.allow_users`")

	r.acked(r.Say(slacktest.Ana, slacktest.Secret, slacktest.Mention+" hi", slacktest.InThread(r.acked(r.Say(slacktest.Ana, slacktest.Secret, "root")).TS)))
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Ephemeral(slacktest.Secret)) == 1 }))
	require.Contains(t, r.Ephemeral(slacktest.Secret)[0].Text, "`"+slacktest.Secret+"` to `channels.slack.allow_channels`")
	require.NotEmpty(t, r.Ephemeral(slacktest.Secret)[0].ThreadTS)

	r.acked(r.Say(slacktest.Ben, slacktest.General, slacktest.Mention+" again", slacktest.InThread(root)))
	r.acked(r.Say(slacktest.Ben, slacktest.General, "and without a mention"))
	require.NoError(t, r.stop())
	require.Len(t, r.Ephemeral(slacktest.General), 1)
	require.Empty(t, r.Posted())
	require.Empty(t, r.backend.Accepted())
}

// Nobody waits for an explanation, and a bot gets none.
func TestExplanationsThatCannotBeGiven(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{AllowBots: []string{"B0GOOD"}}})
	r.Fail("chat.postEphemeral", 1, slacktest.Fault{Error: "user_not_in_channel"})
	r.acked(r.Say(slacktest.Ben, slacktest.General, slacktest.Mention+" hi"))
	require.NoError(t, r.Await(r.ctx, func() bool {
		return r.log.has("rejected sender not notified") || len(r.Calls("chat.postEphemeral")) == 1
	}))
	require.Eventually(t, func() bool { return r.log.has("rejected sender not notified") }, receivingDeadline, receivingTick)
	r.acked(r.Say(slacktest.Ben, slacktest.General, slacktest.Mention+" hi"))
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Ephemeral(slacktest.General)) == 1 }), "the next time it works")

	r.acked(r.SendEvent(map[string]any{
		"type": "message", "subtype": "bot_message", "bot_id": "B0GOOD", "channel": slacktest.Secret, "channel_type": "group", "ts": ts(1), "text": slacktest.Mention,
	}))
	require.NoError(t, r.stop())
	require.Len(t, r.Calls("chat.postEphemeral"), 2)
	require.Empty(t, r.backend.Accepted())
}
