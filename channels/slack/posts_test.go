package slack_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	generalChat = slacktest.Team + "/" + slacktest.General
	dmChat      = slacktest.Team + "/" + slacktest.DM
)

// ts is the timestamp of the nth message.
func ts(n int) string { return fmt.Sprintf("%d.000100", 1_700_000_000+n) }

func TestAMentionIsOneMessage(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		d := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" look at <https://example.com|this> &amp; tell <@U0BEN>",
			slacktest.WithFiles(slacktest.File{ID: "F1", Name: "a.txt", Mimetype: "text/plain", Content: []byte("abc")})))
		require.Len(t, d.Events, 2, "message and app_mention")
		got := r.accepted(1)
		require.Len(t, r.backend.Accepted(), 1)
		require.Len(t, got.Files, 1)
		require.Contains(t, got.Files[0].URL, "/files-pri/")
		got.Files[0].URL = ""
		require.WithinDuration(t, time.Now(), got.SentAt, time.Minute)
		got.SentAt = time.Time{}
		require.Equal(t, domain.Inbound{
			Channel: "slack", Scope: generalChat, PlatformID: d.TS, Chat: generalChat, Thread: d.TS, Sender: slacktest.Ana,
			Text:  "look at [this](https://example.com) & tell <@U0BEN>",
			Files: []domain.File{{ID: "F1", Name: "a.txt", MIME: "text/plain", Size: 3}}, Push: true,
		}, got)
	})
}

func TestWhichMessagesAreAnswered(t *testing.T) {
	t.Parallel()
	in := func(ts string) slacktest.SayOption { return slacktest.InThread(ts) }

	t.Run("mention", func(t *testing.T) {
		t.Parallel()
		r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{Respond: chat.RespondMention}})
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" one")).TS
		r.acked(r.Say(slacktest.Ana, slacktest.General, "two", in(root)))
		r.acked(r.Say(slacktest.Ana, slacktest.General, "three"))
		r.acked(r.Say(slacktest.Ana, slacktest.General, "four, <@U0BOT|holdfast>?", in(root)))
		require.Equal(t, "four, <@U0BOT>?", r.accepted(2).Text)
		require.Equal(t, root, r.accepted(2).Thread)
		require.Len(t, r.backend.Accepted(), 2)
	})

	t.Run("thread", func(t *testing.T) {
		t.Parallel()
		r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{Respond: chat.RespondThread}})
		other := r.acked(r.Say(slacktest.Ana, slacktest.General, "zero")).TS
		r.acked(r.Say(slacktest.Ana, slacktest.General, "not ours", in(other)))
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" one")).TS
		r.acked(r.Say(slacktest.Ana, slacktest.General, "two", in(root)))
		r.acked(r.Say(slacktest.Ana, slacktest.General, "three"))
		r.acked(r.SendEvent(map[string]any{
			"type": "message", "channel": slacktest.General, "channel_type": "channel", "user": slacktest.Ana, "ts": "1700000000.000100",
			"thread_ts": "1600000000.000100", "parent_user_id": slacktest.BotUser, "text": "an answer to what the bot began",
		}))
		require.Equal(t, "two", r.accepted(2).Text)
		require.Equal(t, "1600000000.000100", r.accepted(3).Thread)
		require.Len(t, r.backend.Accepted(), 3)
	})

	t.Run("all", func(t *testing.T) {
		t.Parallel()
		r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{Respond: chat.RespondAll}})
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, "one")).TS
		r.acked(r.Say(slacktest.Ana, slacktest.General, "two", in(root), slacktest.AlsoToChannel()))
		require.Equal(t, root, r.accepted(1).Thread)
		require.Equal(t, root, r.accepted(2).Thread)
	})

	t.Run("direct messages always, and threads in them", func(t *testing.T) {
		t.Parallel()
		r := receive(t, slack.ModeSocket, receivingSetup{})
		root := r.acked(r.Say(slacktest.Ana, slacktest.DM, "one")).TS
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "two", in(root)))
		require.Equal(t, dmChat, r.accepted(1).Chat)
		require.Empty(t, r.accepted(1).Thread)
		require.Equal(t, root, r.accepted(2).Thread)
	})

	t.Run("a group direct message is a channel", func(t *testing.T) {
		t.Parallel()
		r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{AllowChannels: []string{"*"}}})
		group := r.AddChannel(slacktest.Conversation{Kind: slacktest.MPIM, Members: []string{slacktest.BotUser, slacktest.Ana, slacktest.Ben}})
		r.acked(r.Say(slacktest.Ana, group, "between us"))
		d := r.acked(r.Say(slacktest.Ana, group, slacktest.Mention+" help us out"))
		require.Equal(t, d.TS, r.accepted(1).Thread)
		require.Len(t, r.backend.Accepted(), 1)
	})
}

func TestWritesAreReported(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{AllowBots: []string{"B0ALERTS"}}})
	tests := []struct {
		name   string
		change map[string]any
		want   string
	}{
		{"a bare mention calls to look at what was said before", map[string]any{"text": slacktest.Mention}, "<@U0BOT>"},
		{"me", map[string]any{"subtype": "me_message", "text": slacktest.Mention + " waves"}, "waves"},
		{
			"a forwarded message is quoted",
			map[string]any{"text": slacktest.Mention + " see", "attachments": []any{
				map[string]any{"is_share": true, "author_name": "Ben", "text": "It is\ndown &amp; out", "fallback": "no"},
				map[string]any{"text": "an unfurled link"},
			}},
			"see\n\n> Forwarded message from Ben:\n> It is\n> down & out",
		},
		{
			"an alert of a bot that is allowed is in its attachments",
			map[string]any{"subtype": "bot_message", "bot_id": "B0ALERTS", "user": "", "channel": slacktest.General, "channel_type": "channel", "type": "app_mention", "text": "", "attachments": []any{
				map[string]any{"title": "Disk full", "text": "on <https://db1>", "fields": []any{map[string]any{"title": "Used", "value": "99 %"}}, "fallback": "no"},
				map[string]any{"fallback": "More."},
			}},
			"Disk full\non https://db1\nUsed: 99 %\n\nMore.",
		},
		{"stop", map[string]any{"text": slacktest.Mention + " Stop"}, "/stop"},
		{"/new", map[string]any{"text": slacktest.Mention + " /new"}, "/new"},
		{"status", map[string]any{"text": slacktest.Mention + ": status"}, "/status"},
		{"help", map[string]any{"text": slacktest.Mention + "\u00a0help "}, "/help"},
		{"more than a command", map[string]any{"text": slacktest.Mention + " stop it"}, "stop it"},
		{"no command in a direct message without a slash", map[string]any{"text": "stop", "channel": slacktest.DM, "channel_type": "im"}, "stop"},
		{"a command in a direct message", map[string]any{"text": "/stop", "channel": slacktest.DM, "channel_type": "im"}, "/stop"},
	}
	for i, tt := range tests {
		event := map[string]any{
			"type": "message", "channel": slacktest.General, "channel_type": "channel", "user": slacktest.Ana,
			"ts": ts(i),
		}
		maps.Copy(event, tt.change)
		r.acked(r.SendEvent(event))
		require.Equal(t, tt.want, r.accepted(i+1).Text, tt.name)
	}
}

func TestIgnoredMessages(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{options: slack.Options{
			AllowUsers: []string{"*"}, AllowChannels: []string{"*"}, AllowBots: []string{"B0GOOD", "A0GOOD", "U0GOOD", "*"}, Respond: chat.RespondAll,
		}})
		ignored := []struct {
			name   string
			change map[string]any
		}{
			{"our own, by user", map[string]any{"user": slacktest.BotUser}},
			{"our own, by bot", map[string]any{"bot_id": slacktest.Bot}},
			{"another bot's", map[string]any{"bot_id": "B0OTHER"}},
			{"another bot's without a user", map[string]any{"bot_id": "B0OTHER", "user": nil, "subtype": "bot_message"}},
			{"a bot's without an ID", map[string]any{"subtype": "bot_message", "username": "hook"}},
			{"Slackbot's", map[string]any{"user": "USLACKBOT"}},
			{"changed", map[string]any{"subtype": "message_changed"}},
			{"deleted", map[string]any{"subtype": "message_deleted"}},
			{"replied", map[string]any{"subtype": "message_replied"}},
			{"joined", map[string]any{"subtype": "channel_join"}},
			{"topic", map[string]any{"subtype": "channel_topic"}},
			{"assistant thread", map[string]any{"subtype": "assistant_app_thread"}},
			{"hidden", map[string]any{"hidden": true}},
			{"edited", map[string]any{"type": "app_mention", "edited": map[string]any{"user": slacktest.Ana, "ts": "1.2"}}},
			{"empty", map[string]any{"text": ""}},
			{"blank", map[string]any{"text": " \n"}},
			{"a deleted file", map[string]any{"text": "", "files": []any{map[string]any{"id": "F1", "mode": "tombstone"}}}},
			{"a reaction", map[string]any{"type": "reaction_added", "item": map[string]any{"type": "message"}}},
			{"an event with an object for a channel", map[string]any{"type": "channel_created", "channel": map[string]any{"id": "C1"}}},
			{"an event that nobody knows", map[string]any{"type": "tea_served"}},
		}
		for i, tt := range ignored {
			event := map[string]any{"type": "message", "channel": slacktest.General, "channel_type": "channel", "user": slacktest.Ana, "ts": ts(i), "text": slacktest.Mention + " hi"}
			maps.Copy(event, tt.change)
			r.acked(r.SendEvent(event))
			require.Empty(t, r.backend.Accepted(), tt.name)
		}
		for i, bot := range []map[string]any{{"bot_id": "B0GOOD"}, {"bot_id": "B1", "app_id": "A0GOOD"}, {"bot_id": "B2", "user": "U0GOOD"}} {
			event := map[string]any{"type": "message", "channel": slacktest.General, "channel_type": "channel", "ts": ts(100 + i), "text": "beep"}
			maps.Copy(event, bot)
			r.acked(r.SendEvent(event))
			require.Len(t, r.backend.Accepted(), i+1)
		}

		said := r.acked(r.Say(slacktest.Ana, slacktest.General, "one "+slacktest.Mention))
		r.acked(r.Edit(slacktest.General, said.TS, "two "+slacktest.Mention))
		r.acked(r.Delete(slacktest.General, said.TS))
		r.acked(r.Join(slacktest.Ben, slacktest.Secret))
		require.Len(t, r.backend.Accepted(), 4)
	})
}

func TestOtherWorkspacesAreIgnored(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{})
	event := map[string]any{"type": "message", "channel": slacktest.DM, "channel_type": "im", "user": slacktest.Ana, "ts": ts(1), "text": "hi"}
	r.acked(r.Send(slacktest.EventsAPI, map[string]any{"type": "event_callback", "team_id": "T0OTHER", "event": event}))
	require.Empty(t, r.backend.Accepted())
	require.True(t, r.log.has("another workspace"))

	r.acked(r.Send(slacktest.EventsAPI, map[string]any{
		"type": "event_callback", "team_id": "T0OTHER", "authorizations": []any{map[string]any{"team_id": slacktest.Team}}, "event": event,
	}))
	require.Equal(t, dmChat, r.accepted(1).Chat, "a channel that workspaces share is ours too")
}

// An ID that comes again with another text is not delivered for ever.
func TestAConflictIsAcknowledged(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{answer: channeltest.Hold})
	event := map[string]any{"type": "message", "channel": slacktest.DM, "channel_type": "im", "user": slacktest.Ana, "ts": ts(1), "text": "one"}
	r.acked(r.SendEvent(event))
	event["text"] = "two"
	r.acked(r.SendEvent(event))
	require.Equal(t, "one", r.accepted(1).Text)
	require.Len(t, r.backend.Accepted(), 1)
	require.True(t, r.log.has("different text"))
}
