package slacktest_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// startStream posts Ana's question and starts a stream as the answer.
func startStream(t *testing.T, s *slacktest.Server, options ...slack.MsgOption) string {
	t.Helper()
	said := s.Say(slacktest.Ana, slacktest.General, "question")
	_, ts, err := client(s).StartStream(slacktest.General, append([]slack.MsgOption{
		slack.MsgOptionTS(said.TS), slack.MsgOptionRecipientUserID(slacktest.Ana), slack.MsgOptionRecipientTeamID(slacktest.Team),
	}, options...)...)
	require.NoError(t, err)
	return ts
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	ts := startStream(t, s)
	require.True(t, s.Message(slacktest.General, ts).Streaming)

	for _, part := range []string{"**one** ", "two"} {
		_, _, err := api.AppendStream(slacktest.General, ts, slack.MsgOptionMarkdownText(part))
		require.NoError(t, err)
	}
	_, _, _, err := api.UpdateMessage(slacktest.General, ts, text("x"))
	require.EqualError(t, err, "streaming_state_conflict")
	_, _, err = api.DeleteMessage(slacktest.General, ts)
	require.EqualError(t, err, "cant_delete_message")
	_, _, err = api.AppendStream(slacktest.General, ts, slack.MsgOptionMarkdownText(strings.Repeat("x", 12001)))
	require.EqualError(t, err, "msg_too_long")
	_, _, err = api.AppendStream(slacktest.General, ts, slack.MsgOptionChunks(slack.NewMarkdownTextChunk("x")))
	require.EqualError(t, err, "streaming_mode_mismatch")

	_, _, err = api.StopStream(slacktest.General, ts, slack.MsgOptionMarkdownText(" three"), slack.MsgOptionBlocks(section("feedback")),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "o1"}}))
	require.NoError(t, err)
	m := s.Message(slacktest.General, ts)
	require.Equal(t, "**one** two three", m.Text)
	require.False(t, m.Streaming)
	require.True(t, m.Streamed)
	require.Equal(t, "reply", m.Metadata.EventType)
	require.Contains(t, string(m.Blocks), "feedback")

	_, _, err = api.AppendStream(slacktest.General, ts, slack.MsgOptionMarkdownText("x"))
	require.EqualError(t, err, "message_not_in_streaming_state")
	_, _, err = api.StopStream(slacktest.General, ts)
	require.EqualError(t, err, "message_not_in_streaming_state")
	_, _, _, err = api.UpdateMessage(slacktest.General, ts, text("x"))
	require.NoError(t, err)
}

func TestAStreamOfChunks(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	ts := startStream(t, s, slack.MsgOptionChunks(slack.NewMarkdownTextChunk("one"), slack.NewTaskUpdateChunk("t1", "Reading")))
	_, _, err := client(s).AppendStream(slacktest.General, ts, slack.MsgOptionMarkdownText("two"))
	require.EqualError(t, err, "streaming_mode_mismatch")
	_, _, err = client(s).AppendStream(slacktest.General, ts, slack.MsgOptionChunks(slack.NewMarkdownTextChunk(" two")))
	require.NoError(t, err)
	_, _, err = client(s).StopStream(slacktest.General, ts)
	require.NoError(t, err)
	m := s.Message(slacktest.General, ts)
	require.Equal(t, "one two", m.Text)
	require.Len(t, m.Chunks, 3)
}

func TestStreamErrors(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	said, direct := s.Say(slacktest.Ana, slacktest.General, "question"), s.Say(slacktest.Ana, slacktest.DM, "question")
	_, _, err := api.StartStream(slacktest.General)
	require.EqualError(t, err, "invalid_arguments")
	_, _, err = api.StartStream(slacktest.General, slack.MsgOptionTS(said.TS))
	require.EqualError(t, err, "missing_recipient_user_id")
	_, _, err = api.StartStream(slacktest.General, slack.MsgOptionTS(said.TS), slack.MsgOptionRecipientUserID(slacktest.Ana))
	require.EqualError(t, err, "missing_recipient_team_id")
	_, _, err = api.StartStream(slacktest.DM, slack.MsgOptionTS(direct.TS))
	require.NoError(t, err)
	_, _, err = api.AppendStream(slacktest.General, said.TS, slack.MsgOptionMarkdownText("x"))
	require.EqualError(t, err, "message_not_owned_by_app")
	_, ts, err := api.PostMessage(slacktest.General, text("no stream"))
	require.NoError(t, err)
	_, _, err = api.AppendStream(slacktest.General, ts, slack.MsgOptionMarkdownText("x"))
	require.EqualError(t, err, "message_not_in_streaming_state")
}

func TestStreamEndedBySlackOrAPerson(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	expired, stopped := startStream(t, s), startStream(t, s)
	s.EndStream(slacktest.General, expired, false)
	s.EndStream(slacktest.General, stopped, true)
	_, _, err := client(s).AppendStream(slacktest.General, expired, slack.MsgOptionMarkdownText("x"))
	require.EqualError(t, err, "message_not_in_streaming_state")
	_, _, err = client(s).AppendStream(slacktest.General, stopped, slack.MsgOptionMarkdownText("x"))
	require.EqualError(t, err, "stopped_by_user")
}
