package slack_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestSenderConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunSender(t, func(t *testing.T) channeltest.Platform {
		s := sendingTo(t, slack.Options{})
		s.AddChannel(slacktest.Conversation{ID: "c1", Name: "c1", Kind: slacktest.Public, Members: []string{slacktest.BotUser}})
		return channeltest.Platform{
			Name: slack.Name, Push: true, Sender: s.channel,
			Posted: func() []domain.Outbound {
				var posted []domain.Outbound
				for _, m := range s.Posted() {
					posted = append(posted, domain.Outbound{Channel: slack.Name, Chat: m.Channel, Thread: m.ThreadTS, Text: m.Text})
				}
				return posted
			},
			Fail: func(n int) {
				s.Fail("chat.postMessage", n, slacktest.Fault{Status: http.StatusServiceUnavailable})
			},
			LoseResponse: func(n int) { s.LoseResponse("chat.postMessage", n) },
			Close:        func(chat string) { s.SetArchived(chat, true) },
		}
	})
}

func TestSend(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	thread := s.asked()
	id := s.send(outgoing("o1", thread, "**Done**: a < b, <!channel>"))
	m := s.Posted()[0]
	require.Equal(t, m.TS, id)
	require.Equal(t, thread, m.ThreadTS)
	require.Equal(t, "*Done*: a &lt; b, &lt;!channel&gt;", m.Text)
	require.Equal(t, "holdfast_reply", m.Metadata.EventType)
	require.JSONEq(t, `{"id": "o1"}`, string(m.Metadata.EventPayload))
	require.Equal(t, "false", m.Args["unfurl_links"])
	require.Equal(t, "false", m.Args["unfurl_media"])
	require.Equal(t, "**Done**: a &lt; b, &lt;!channel>", markdownOf(t, m))

	call := s.Calls("chat.postMessage")[0]
	require.Equal(t, slacktest.BotToken, call.Token)
}

// markdownOf is what the message's only block shows.
func markdownOf(t *testing.T, m slacktest.Message) string {
	t.Helper()
	var blocks []struct{ Type, Text string }
	require.NoError(t, json.Unmarshal(m.Blocks, &blocks))
	require.Len(t, blocks, 1)
	require.Equal(t, "markdown", blocks[0].Type)
	return blocks[0].Text
}

func TestSendWithoutBlocksThatSlackRefuses(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "invalid_blocks"})
	s.send(outgoing("o1", s.asked(), "**Done**"))
	require.Len(t, s.Posted(), 1)
	require.Equal(t, "*Done*", s.Posted()[0].Text)
	require.Nil(t, s.Posted()[0].Blocks)
}

func TestMentions(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	s.AddUser(slacktest.User{ID: "U0SAM1", Name: "sam", RealName: "Sam"})
	s.AddUser(slacktest.User{ID: "U0SAM2", Name: "sam2", RealName: "Sam"})
	thread := s.asked()
	_, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: domain.Inbound{
		Chat: generalChat, Sender: slacktest.Ana, Text: "<@U0BEN> <@U0SAM1> <@U0SAM2>", SentAt: time.Now(),
	}})
	require.NoError(t, err)
	tests := []struct{ text, want string }{
		{"@ana look", "<@U0ANA> look"},
		{"ask @Ana, or (@ben okafor)!", "ask <@U0ANA>, or (<@U0BEN>)!"},
		{"@Ben Okafor and @ana.", "<@U0BEN> and <@U0ANA>."},
		{"@sam is one of two", "@sam is one of two"},
		{"@carl @anabel ana@ana.example", "@carl @anabel ana@ana.example"},
		{"`@ana` in code\n\n```\n@ana\n```", "`@ana` in code\n\n```\n@ana\n```"},
	}
	for _, tt := range tests {
		s.send(outgoing("o"+tt.text, thread, tt.text))
		posted := s.Posted()
		require.Equal(t, tt.want, markdownOf(t, posted[len(posted)-1]))
	}
}

func TestDrafts(t *testing.T) {
	t.Parallel()

	t.Run("a draft becomes the message", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "done")
		msg.Draft = s.draft("o1", msg.Thread)
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, channels.Found{PlatformID: msg.Draft}, found)
		require.Equal(t, msg.Draft, s.send(msg))
		require.Len(t, s.Posted(), 1)
		require.Equal(t, "done", s.Posted()[0].Text)
		require.JSONEq(t, `{"id": "o1"}`, string(s.Posted()[0].Metadata.EventPayload))
		found, err = s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: msg.Draft}, found)
	})

	t.Run("one that is streamed is stopped", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "done")
		msg.Draft = s.stream(msg.Thread)
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, channels.Found{PlatformID: msg.Draft}, found)
		require.Equal(t, msg.Draft, s.send(msg))
		require.Len(t, s.Posted(), 1)
		require.False(t, s.Posted()[0].Streaming)
		require.Equal(t, "done", markdownOf(t, s.Posted()[0]))
	})

	t.Run("one whose stream Slack ended is edited", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "done")
		msg.Draft = s.stream(msg.Thread)
		s.EndStream(slacktest.General, strings.TrimPrefix(msg.Draft, slacktest.General+"/"), false)
		require.Equal(t, msg.Draft, s.send(msg))
		require.Len(t, s.Posted(), 1)
	})

	t.Run("a deleted one is posted again", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "done")
		msg.Draft = s.draft("o1", msg.Thread)
		s.Delete(slacktest.General, strings.TrimPrefix(msg.Draft, slacktest.General+"/"))
		require.NotEqual(t, msg.Draft, s.send(msg))
		require.Len(t, s.Posted(), 1)
	})

	t.Run("one that can no longer be edited is left unchanged", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "done")
		msg.Draft = s.draft("o1", msg.Thread)
		s.Fail("chat.update", 1, slacktest.Fault{Error: "edit_window_closed"})
		require.NotEqual(t, msg.Draft, s.send(msg))
		require.Len(t, s.Posted(), 2)
	})

	for _, kind := range []string{"draft", "stream"} {
		t.Run("a "+kind+" makes way for a file", func(t *testing.T) {
			t.Parallel()
			s := sendingTo(t, slack.Options{})
			msg := outgoing("o1", s.asked(), "")
			msg.File, msg.Content = "a.go", []byte("package a")
			if msg.Draft = s.draft("o1", msg.Thread); kind == "stream" {
				msg.Draft = s.stream(msg.Thread)
				s.Delete(slacktest.General, s.Posted()[0].TS)
			}
			s.send(msg)
			require.Len(t, s.Posted(), 1)
			require.Len(t, s.Posted()[0].Files, 1)
		})
	}
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	msg := outgoing("o1", s.asked(), "the **code**")
	msg.File, msg.Content = "main.go", []byte("package main\n")
	found, err := s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.Zero(t, found)
	require.NoError(t, s.placed(&msg))
	require.NotEmpty(t, msg.PlatformID)
	found, err = s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.Zero(t, found, "it is only uploaded")
	id := s.send(msg)
	found, err = s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)

	m := s.Posted()[0]
	require.Equal(t, msg.Thread, m.ThreadTS)
	require.Equal(t, "the *code*", m.Text)
	require.Equal(t, "main.go", m.Files[0].Name)
	require.Equal(t, "main.go", m.Files[0].Title)
	require.Equal(t, "package main\n", string(m.Files[0].Content))

	_, err = s.channel.Send(s.ctx, msg)
	require.ErrorIs(t, err, channels.ErrNoDraft, "the upload is used up")

	other := msg
	other.ID, other.PlatformID, other.Draft = "o2", "", ""
	require.NoError(t, s.placed(&other))
	found, err = s.channel.Find(s.ctx, other)
	require.NoError(t, err)
	require.Zero(t, found, "the same file with another ID is another message")
	s.send(other)
	other.ID, other.File, other.Content, other.Draft = "o3", "empty.txt", nil, ""
	s.send(other)
	require.Len(t, s.Posted(), 3)
}

func TestFind(t *testing.T) {
	t.Parallel()

	t.Run("in a direct message without a thread", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := domain.Outbound{ID: "o1", Chat: dmChat, Text: "hi"}
		for range 5 {
			s.Say(slacktest.Ana, slacktest.DM, "chatter")
		}
		id := s.send(msg)
		for range 5 {
			s.Say(slacktest.Ana, slacktest.DM, "chatter")
		}
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)
	})

	t.Run("behind hundreds of messages", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
		msg := outgoing("o1", s.asked(), "hi")
		for range 450 {
			s.Say(slacktest.Ana, slacktest.General, "chatter", slacktest.InThread(msg.Thread))
		}
		id := s.send(msg)
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)
		require.Len(t, s.Calls("conversations.replies"), 3)
	})

	t.Run("not another sender's message", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "hi")
		s.Say(slacktest.Ana, slacktest.General, "hi", slacktest.InThread(msg.Thread), slacktest.WithMetadata("holdfast_reply", `{"id":"o1"}`))
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Zero(t, found)
	})

	t.Run("a stream that ended while empty", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", s.asked(), "hi")
		ts, err := slack.StartStream(s.ctx, s.channel, slacktest.General, msg.Thread, slacktest.Ana, slacktest.Team)
		require.NoError(t, err)
		s.EndStream(slacktest.General, ts, false)
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, channels.Found{PlatformID: ts}, found)

		s.send(outgoing("o0", msg.Thread, "said since"))
		found, err = s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Zero(t, found, "it belongs to an earlier reply")
	})

	t.Run("nothing in a thread that is not there", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{})
		msg := outgoing("o1", "1700000000.000100", "hi")
		found, err := s.channel.Find(s.ctx, msg)
		require.NoError(t, err)
		require.Zero(t, found)
		_, err = s.channel.Send(s.ctx, msg)
		require.ErrorIs(t, err, channels.ErrGone)
	})

	t.Run("not without the scope for it", func(t *testing.T) {
		t.Parallel()
		s := sendingTo(t, slack.Options{}, slacktest.Scopes("chat:write"))
		_, err := s.channel.Find(s.ctx, outgoing("o1", s.asked(), "hi"))
		s.transient(err)
		require.ErrorContains(t, err, "the app lacks the scope channels:history")
	})
}
