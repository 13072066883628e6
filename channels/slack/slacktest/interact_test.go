package slacktest_test

import (
	"encoding/json"
	"testing"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func buttons() slack.MsgOption {
	return slack.MsgOptionBlocks(section("May I?"), slack.NewActionBlock("choice",
		slack.NewButtonBlockElement("approve", "a1", slack.NewTextBlockObject(slack.PlainTextType, "Yes", false, false)).WithStyle(slack.StylePrimary),
		slack.NewButtonBlockElement("deny", "a1", slack.NewTextBlockObject(slack.PlainTextType, "No", false, false))))
}

// click clicks and returns what the app gets, acknowledged.
func click(t *testing.T, s *slacktest.Server, socket *socketmode.Client, ts, action string) slack.InteractionCallback {
	t.Helper()
	clicked := s.Click(slacktest.Ana, slacktest.General, ts, action, "")
	e := next(t, socket, socketmode.EventTypeInteractive)
	require.NoError(t, socket.Ack(*e.Request))
	require.NoError(t, clicked.Wait(bounded(t)))
	return e.Data.(slack.InteractionCallback)
}

func TestAClick(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.WithoutEcho())
	socket, _ := connect(t, s)
	said := s.Say(slacktest.Ana, slacktest.General, "question")
	_, ts, err := client(s).PostMessage(slacktest.General, buttons(), slack.MsgOptionTS(said.TS))
	require.NoError(t, err)

	got := click(t, s, socket, ts, "deny")
	require.Equal(t, slack.InteractionTypeBlockActions, got.Type)
	require.Equal(t, slacktest.Ana, got.User.ID)
	require.Equal(t, slacktest.General, got.Channel.ID)
	require.Equal(t, ts, got.Container.MessageTs)
	require.Equal(t, said.TS, got.Container.ThreadTs)
	action := got.ActionCallback.BlockActions[0]
	require.Equal(t, []string{"deny", "choice", "a1"}, []string{action.ActionID, action.BlockID, action.Value})
	require.NotEmpty(t, got.TriggerID)

	_, _, _, err = client(s).SendMessage("", slack.MsgOptionReplaceOriginal(got.ResponseURL), text("Denied."))
	require.NoError(t, err)
	m := s.Message(slacktest.General, ts)
	require.Equal(t, "Denied.", m.Text)
	require.Nil(t, m.Blocks)
	require.Equal(t, "approve", click(t, s, socket, ts, "approve").ActionCallback.BlockActions[0].ActionID, "who clicked had not seen the change")
	require.Panics(t, func() { s.Click(slacktest.Ana, slacktest.General, ts, "maybe", "") })

	_, err = client(s).OpenView(got.TriggerID, slack.ModalViewRequest{Type: slack.VTModal, Title: slack.NewTextBlockObject(slack.PlainTextType, "Why", false, false)})
	require.NoError(t, err)
	require.Equal(t, got.TriggerID, s.Views()[0].TriggerID)
}

func TestClickContainsTheButton(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	_, ts, err := client(s).PostMessage(slacktest.General, buttons())
	require.NoError(t, err)
	var payload struct{ Actions []map[string]any }
	require.NoError(t, json.Unmarshal(s.Click(slacktest.Ana, slacktest.General, ts, "approve", "").Events[0].Payload, &payload))
	require.Len(t, payload.Actions, 1)
	require.NotEmpty(t, payload.Actions[0]["action_ts"])
	delete(payload.Actions[0], "action_ts")
	require.Equal(t, map[string]any{
		"type": "button", "action_id": "approve", "block_id": "choice", "value": "a1", "style": "primary",
		"text": map[string]any{"type": "plain_text", "text": "Yes", "emoji": true},
	}, payload.Actions[0])

	purple := slack.NewButtonBlockElement("a", "b", slack.NewTextBlockObject(slack.PlainTextType, "Yes", false, false)).WithStyle("purple")
	_, _, err = client(s).PostMessage(slacktest.General, slack.MsgOptionBlocks(slack.NewActionBlock("", purple)))
	require.ErrorContains(t, err, "invalid_blocks")
}

func TestResponseURLLimit(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	_, ts, err := client(s).PostMessage(slacktest.General, buttons())
	require.NoError(t, err)
	got := click(t, s, socket, ts, "approve")
	for range 4 {
		_, _, _, err = client(s).SendMessage("", slack.MsgOptionResponseURL(got.ResponseURL, slack.ResponseTypeEphemeral), text("psst"))
		require.NoError(t, err)
	}
	_, _, _, err = client(s).SendMessage("", slack.MsgOptionDeleteOriginal(got.ResponseURL))
	require.NoError(t, err)
	require.Empty(t, s.Message(slacktest.General, ts).TS)
	require.Len(t, s.Ephemeral(slacktest.General), 4)
	_, _, _, err = client(s).SendMessage("", slack.MsgOptionResponseURL(got.ResponseURL, slack.ResponseTypeInChannel), text("once more"))
	require.Error(t, err)
	require.Equal(t, "used_url", s.Calls("response_url")[5].Error)
}

func TestACommandIsAnsweredByItsAcknowledgement(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	for kind, shown := range map[string]func() []slacktest.Message{
		slack.ResponseTypeEphemeral: func() []slacktest.Message { return s.Ephemeral(slacktest.General) },
		slack.ResponseTypeInChannel: func() []slacktest.Message { return s.Channel(slacktest.General) },
	} {
		typed := s.Slash(slacktest.Ana, slacktest.General, "/holdfast", "stop")
		e := next(t, socket, socketmode.EventTypeSlashCommand)
		require.True(t, e.Request.AcceptsResponsePayload)
		require.NoError(t, socket.Ack(*e.Request, map[string]string{"text": "stopped", "response_type": kind}))
		require.NoError(t, typed.Wait(bounded(t)))
		require.Equal(t, "stopped", shown()[0].Text)
		require.Contains(t, string(typed.Events[0].Response()), "stopped")
	}
}

func TestEventsOfPeople(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	socket, _ := connect(t, s)
	inner := func() any {
		e := next(t, socket, socketmode.EventTypeEventsAPI)
		require.NoError(t, socket.Ack(*e.Request))
		return e.Data.(slackevents.EventsAPIEvent).InnerEvent.Data
	}
	for channel, kind := range map[string]string{slacktest.General: "channel", slacktest.Secret: "group", slacktest.DM: "im"} {
		s.Say(slacktest.Ana, channel, "hi")
		require.Equal(t, kind, inner().(*slackevents.MessageEvent).ChannelType)
	}
	said := s.Say(slacktest.Ana, slacktest.DM, slacktest.Mention+" hi")
	require.Len(t, said.Events, 1, "no mention in a direct message")
	inner()

	s.Edit(slacktest.DM, said.TS, "edited")
	changed := inner().(*slackevents.MessageEvent)
	require.Equal(t, "message_changed", changed.SubType)
	require.Equal(t, "edited", changed.Message.Text)
	require.Equal(t, said.TS, changed.Message.Timestamp)
	s.React(slacktest.Ana, slacktest.DM, said.TS, "eyes")
	require.Equal(t, "eyes", inner().(*slackevents.ReactionAddedEvent).Reaction)
	s.Delete(slacktest.DM, said.TS)
	require.Equal(t, "message_deleted", inner().(*slackevents.MessageEvent).SubType)
	s.Say("U0OTHER", slacktest.General, "beep", slacktest.AsBot("B0OTHER"))
	require.Equal(t, "B0OTHER", inner().(*slackevents.MessageEvent).BotID)
	_, _, err := client(s).PostMessage(slacktest.General, text("mine"))
	require.NoError(t, err)
	require.Equal(t, slacktest.Bot, inner().(*slackevents.MessageEvent).BotID, "the app hears itself")
	s.SendEvent(map[string]any{"type": "app_home_opened", "user": slacktest.Ana, "channel": slacktest.DM, "tab": "messages"})
	require.Equal(t, "messages", inner().(*slackevents.AppHomeOpenedEvent).Tab)

	elsewhere := s.AddChannel(slacktest.Conversation{Name: "elsewhere", Kind: slacktest.Public})
	require.Empty(t, s.Say(slacktest.Ana, elsewhere, slacktest.Mention).Events, "where the bot is no member it hears nothing")
	s.Join(slacktest.BotUser, elsewhere)
	require.Equal(t, slacktest.BotUser, inner().(*slackevents.MemberJoinedChannelEvent).User)
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t, slacktest.Subscribe("app_mention", "message.im"))
	require.Empty(t, s.Say(slacktest.Ana, slacktest.General, "hi").Events)
	require.NotNil(t, s.Say(slacktest.Ana, slacktest.General, slacktest.Mention).Event("app_mention"))
	require.Nil(t, s.Say(slacktest.Ana, slacktest.General, slacktest.Mention).Event("message"))
	require.Len(t, s.Say(slacktest.Ana, slacktest.DM, "hi").Events, 1)
}

func TestReactions(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	said := s.Say(slacktest.Ana, slacktest.General, "hi")
	ref := slack.NewRefToMessage(slacktest.General, said.TS)
	require.NoError(t, api.AddReaction("eyes", ref))
	require.EqualError(t, api.AddReaction("eyes", ref), "already_reacted")
	s.React(slacktest.Ana, slacktest.General, said.TS, "eyes")
	require.Equal(t, []slacktest.Reaction{{Name: "eyes", Users: []string{slacktest.BotUser, slacktest.Ana}, Count: 2}}, s.Message(slacktest.General, said.TS).Reactions)
	require.NoError(t, api.RemoveReaction("eyes", ref))
	require.EqualError(t, api.RemoveReaction("eyes", ref), "no_reaction")
	require.EqualError(t, api.AddReaction("eyes", slack.NewRefToMessage(slacktest.General, "1712345678.000100")), "message_not_found")
}

func TestAPostClearsTheThreadsStatus(t *testing.T) {
	t.Parallel()
	s := slacktest.Start(t)
	api := client(s)
	said := s.Say(slacktest.Ana, slacktest.General, "question")
	status := slack.AssistantThreadsSetStatusParameters{
		ChannelID: slacktest.General, ThreadTS: said.TS, Status: "is thinking…", LoadingMessages: []string{"one", "two"},
	}
	require.NoError(t, api.SetAssistantThreadsStatus(status))
	require.Equal(t, "is thinking…", s.Assistant(slacktest.General, said.TS).Status)
	require.Equal(t, []string{"one", "two"}, s.Assistant(slacktest.General, said.TS).Loading)
	_, _, err := api.PostMessage(slacktest.General, text("answer"), slack.MsgOptionTS(said.TS))
	require.NoError(t, err)
	require.Empty(t, s.Assistant(slacktest.General, said.TS).Status)
	require.NoError(t, api.SetAssistantThreadsTitle(slack.AssistantThreadsSetTitleParameters{ChannelID: slacktest.General, ThreadTS: said.TS, Title: "A question"}))
	require.Equal(t, "A question", s.Assistant(slacktest.General, said.TS).Title)
	status.ThreadTS = "1712345678.000100"
	require.EqualError(t, api.SetAssistantThreadsStatus(status), "invalid_thread_ts")
}
