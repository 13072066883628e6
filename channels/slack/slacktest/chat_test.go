package slacktest_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func section(text string) slack.Block {
	return slack.NewSectionBlock(slack.NewTextBlockObject(slack.MarkdownType, text, false, false), nil, nil)
}

func text(text string) slack.MsgOption { return slack.MsgOptionText(text, false) }

func TestPostErrors(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	other := s.AddChannel(slacktest.Conversation{Name: "other", Kind: slacktest.Public})
	hidden := s.AddChannel(slacktest.Conversation{Name: "hidden", Kind: slacktest.Private})
	archived := s.AddChannel(slacktest.Conversation{Name: "old", Kind: slacktest.Public, Members: []string{slacktest.BotUser}})
	s.SetArchived(archived, true)
	button := slack.NewButtonBlockElement("a", "v", slack.NewTextBlockObject(slack.PlainTextType, "A", false, false))

	for _, c := range []struct {
		name, channel, want string
		options             []slack.MsgOption
	}{
		{"nobody's channel", "C0NONE", "channel_not_found", []slack.MsgOption{text("hi")}},
		{"a private channel without the bot", hidden, "channel_not_found", []slack.MsgOption{text("hi")}},
		{"a public channel without the bot", other, "not_in_channel", []slack.MsgOption{text("hi")}},
		{"an archived channel", archived, "is_archived", []slack.MsgOption{text("hi")}},
		{"nothing", slacktest.General, "no_text", nil},
		{"the longest text", slacktest.General, "", []slack.MsgOption{text(strings.Repeat("ü", 40000))}},
		{"a longer text", slacktest.General, "msg_too_long", []slack.MsgOption{text(strings.Repeat("ü", 40001))}},
		{"no thread", slacktest.General, "thread_not_found", []slack.MsgOption{text("hi"), slack.MsgOptionTS("1712345678.000100")}},
		{"the longest section", slacktest.General, "", []slack.MsgOption{slack.MsgOptionBlocks(section(strings.Repeat("ü", 3000)))}},
		{"a longer section", slacktest.General, "invalid_blocks", []slack.MsgOption{slack.MsgOptionBlocks(section(strings.Repeat("ü", 3001)))}},
		{"the longest Markdown", slacktest.General, "", []slack.MsgOption{slack.MsgOptionBlocks(
			slack.NewMarkdownBlock("", strings.Repeat("x", 6000)), slack.NewMarkdownBlock("", strings.Repeat("x", 6000)))}},
		{"longer Markdown in all", slacktest.General, "invalid_blocks", []slack.MsgOption{slack.MsgOptionBlocks(
			slack.NewMarkdownBlock("", strings.Repeat("x", 6000)), slack.NewMarkdownBlock("", strings.Repeat("x", 6001)))}},
		{"two buttons with one ID", slacktest.General, "invalid_blocks", []slack.MsgOption{slack.MsgOptionBlocks(slack.NewActionBlock("", button, button))}},
		{"an unknown block", slacktest.General, "invalid_blocks", []slack.MsgOption{slack.MsgOptionBlocks(slack.SectionBlock{Type: "sect"})}},
		{"metadata without a type", slacktest.General, "invalid_metadata_schema", []slack.MsgOption{
			text("hi"),
			slack.MsgOptionMetadata(slack.SlackMetadata{EventPayload: map[string]any{"a": 1}}),
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := client(s).PostMessage(c.channel, c.options...)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
		})
	}
}

func TestAMessageToAUserGoesToTheirDM(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	channel, _, err := client(s).PostMessage(slacktest.Ana, text("hi"))
	require.NoError(t, err)
	require.Equal(t, slacktest.DM, channel)
	channel, _, err = client(s).PostMessage(slacktest.Ben, text("hi"))
	require.NoError(t, err)
	require.Len(t, s.Channel(channel), 1)
	_, _, _, err = client(s).UpdateMessage(slacktest.Ana, "1712345678.000100", text("hi"))
	require.EqualError(t, err, "channel_not_found", "only posting takes a user")
}

func TestABotThatWasRemoved(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	s.Leave(slacktest.BotUser, slacktest.General)
	s.Leave(slacktest.BotUser, slacktest.Secret)
	require.EqualError(t, post(s, slacktest.General), "not_in_channel")
	require.EqualError(t, post(s, slacktest.Secret), "channel_not_found")
	s.SetScopes("chat:write", "chat:write.public")
	require.NoError(t, post(s, slacktest.General))
	require.Empty(t, s.Events(""))
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	_, ts, err := api.PostMessage(slacktest.General, text("one"), slack.MsgOptionBlocks(section("one")),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "o1"}}))
	require.NoError(t, err)
	posted := s.Message(slacktest.General, ts)

	_, _, _, err = api.UpdateMessage(slacktest.General, ts, slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "o2"}}), slack.MsgOptionBlocks(section("two")))
	require.NoError(t, err)
	m := s.Message(slacktest.General, ts)
	require.Equal(t, "one", m.Text)
	require.Contains(t, string(m.Blocks), "two")
	require.JSONEq(t, `{"id":"o2"}`, string(m.Metadata.EventPayload))

	_, _, _, err = api.UpdateMessage(slacktest.General, ts, text("three"))
	require.NoError(t, err)
	m = s.Message(slacktest.General, ts)
	require.Nil(t, m.Blocks, "a text without blocks takes the blocks away")
	require.Equal(t, "reply", m.Metadata.EventType, "metadata that is not given stays")
	require.Equal(t, 2, m.Edits)
	require.NotEqual(t, posted.Text, m.Text)

	_, _, _, err = api.UpdateMessage(slacktest.General, ts, text(strings.Repeat("x", 4001)))
	require.EqualError(t, err, "msg_too_long")
	_, _, _, err = api.UpdateMessage(slacktest.General, ts, text(strings.Repeat("x", 4001)), slack.MsgOptionBlocks(section("short")))
	require.NoError(t, err)
	_, _, _, err = api.UpdateMessage(slacktest.General, ts)
	require.EqualError(t, err, "no_text")
	_, _, _, err = api.UpdateMessage(slacktest.General, "1712345678.000100", text("x"))
	require.EqualError(t, err, "message_not_found")
	said := s.Say(slacktest.Ana, slacktest.General, "mine")
	_, _, _, err = api.UpdateMessage(slacktest.General, said.TS, text("x"))
	require.EqualError(t, err, "cant_update_message")
}

func TestDelete(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	_, root, err := api.PostMessage(slacktest.General, text("root"))
	require.NoError(t, err)
	_, lone, err := api.PostMessage(slacktest.General, text("lone"))
	require.NoError(t, err)
	_, reply, err := api.PostMessage(slacktest.General, text("reply"), slack.MsgOptionTS(root))
	require.NoError(t, err)
	_, nested, err := api.PostMessage(slacktest.General, text("nested"), slack.MsgOptionTS(reply))
	require.NoError(t, err)
	require.Equal(t, root, s.Message(slacktest.General, nested).ThreadTS, "a reply to a reply is one in its thread")

	for _, ts := range []string{root, lone} {
		_, _, err = api.DeleteMessage(slacktest.General, ts)
		require.NoError(t, err)
		_, _, err = api.DeleteMessage(slacktest.General, ts)
		require.EqualError(t, err, "message_not_found")
	}
	require.Equal(t, "tombstone", s.Message(slacktest.General, root).Subtype, "what has replies leaves a tombstone")
	_, ts, err := api.PostMessage(slacktest.General, text("more"), slack.MsgOptionTS(root))
	require.NoError(t, err)
	require.Equal(t, root, s.Message(slacktest.General, ts).ThreadTS)
	_, ts, err = api.PostMessage(slacktest.General, text("more"), slack.MsgOptionTS(lone))
	require.NoError(t, err)
	require.Empty(t, s.Message(slacktest.General, ts).ThreadTS, "a reply to what is gone goes to the channel")

	said := s.Say(slacktest.Ana, slacktest.General, "mine")
	_, _, err = api.DeleteMessage(slacktest.General, said.TS)
	require.EqualError(t, err, "cant_delete_message")
}

func TestAThreadAsSlackShowsIt(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	said := s.Say(slacktest.Ana, slacktest.General, "root")
	s.Say(slacktest.Ben, slacktest.General, "me too", slacktest.InThread(said.TS))
	_, ts, err := api.PostMessage(slacktest.General, text("reply"), slack.MsgOptionTS(said.TS), slack.MsgOptionBroadcast())
	require.NoError(t, err)
	messages, _, _, err := api.GetConversationReplies(&slack.GetConversationRepliesParameters{ChannelID: slacktest.General, Timestamp: said.TS})
	require.NoError(t, err)
	require.Len(t, messages, 3)
	require.Equal(t, 2, messages[0].ReplyCount)
	require.Equal(t, []string{slacktest.Ben, slacktest.BotUser}, messages[0].ReplyUsers)
	require.Equal(t, ts, messages[0].LatestReply)
	require.Equal(t, slacktest.Ana, messages[2].ParentUserId)
	require.Equal(t, slacktest.Bot, messages[2].BotID)

	history, err := api.GetConversationHistory(&slack.GetConversationHistoryParameters{ChannelID: slacktest.General})
	require.NoError(t, err)
	require.Len(t, history.Messages, 2, "replies are not in the channel, but for what is shown there too")
	require.Equal(t, "thread_broadcast", history.Messages[0].SubType)

	link, err := api.GetPermalink(&slack.PermalinkParameters{Channel: slacktest.General, Ts: ts})
	require.NoError(t, err)
	require.Contains(t, link, "/archives/"+slacktest.General+"/p"+strings.ReplaceAll(ts, ".", "")+"?thread_ts="+said.TS)
}

func TestEphemeralMessagesAreNotInHistory(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	_, err := client(s).PostEphemeral(slacktest.General, slacktest.Ana, text("psst"))
	require.NoError(t, err)
	require.Empty(t, s.Channel(slacktest.General))
	require.Equal(t, slacktest.Ana, s.Ephemeral(slacktest.General)[0].Recipient)
	_, err = client(s).PostEphemeral(slacktest.General, "U0NOBODY", text("psst"))
	require.EqualError(t, err, "user_not_in_channel")
}
