package slacktest_test

import (
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestAMentionIsAnsweredInItsThread(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hello")

	var names []string
	for range 2 {
		e := next(t, socket, socketmode.EventTypeEventsAPI)
		event := e.Data.(slackevents.EventsAPIEvent)
		names = append(names, event.InnerEvent.Type)
		if mention, is := event.InnerEvent.Data.(*slackevents.AppMentionEvent); is {
			require.Equal(t, said.TS, mention.TimeStamp)
			require.Equal(t, slacktest.Ana, mention.User)
		}
		require.NoError(t, socket.Ack(*e.Request))
	}
	require.Equal(t, []string{"message", "app_mention"}, names)
	require.NoError(t, said.Wait(bounded(t)))
	require.NotEqual(t, said.Events[0].ID, said.Events[1].ID)
	require.Len(t, said.Event("app_mention").Attempts(), 1)

	api := client(s)
	_, ts, err := api.PostMessage(slacktest.General, slack.MsgOptionText("hi", false), slack.MsgOptionTS(said.TS),
		slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "reply", EventPayload: map[string]any{"id": "o1"}}))
	require.NoError(t, err)
	for _, include := range []bool{true, false} {
		messages, _, _, err := api.GetConversationReplies(&slack.GetConversationRepliesParameters{
			ChannelID: slacktest.General, Timestamp: said.TS, IncludeAllMetadata: include,
		})
		require.NoError(t, err)
		require.Len(t, messages, 2)
		require.Equal(t, ts, messages[1].Timestamp)
		require.Equal(t, include, messages[1].Metadata.EventPayload["id"] == "o1")
	}
	require.Len(t, s.Thread(slacktest.General, said.TS), 2)
}
