package slack_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// questionID is the ID of the question of these tests.
var questionID = domain.ApprovalID("m1.1.0")

// asking is a message that asks a question, in a thread of General or in DM.
func asking(id, chat, thread string) domain.Outbound {
	return domain.Outbound{
		ID: id, Channel: slack.Name, Chat: chat, Thread: thread, Approval: questionID,
		Text: "May I run `exec`?\n\n```\nmail slack:U0BEN\n```\n\nWho may answer: slack:U0ANA, telegram:12",
	}
}

// part is a block of a message.
type part struct {
	Type     string
	Text     any
	Elements []struct {
		Type, Style, Value string
		ActionID           string `json:"action_id"`
		Text               any
	}
}

func partsOf(t *testing.T, m slacktest.Message) []part {
	t.Helper()
	var parts []part
	require.NoError(t, json.Unmarshal(m.Blocks, &parts))
	return parts
}

func TestAQuestionIsSentWithButtons(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	msg := asking("o1.ask", generalChat, s.asked())
	id := s.send(msg)
	m := s.Posted()[0]
	parts := partsOf(t, m)
	require.Len(t, parts, 2)
	require.Equal(t, "May I run `exec`?\n\n```\nmail slack:U0BEN\n```\n\nWho may answer: <@U0ANA>, telegram:12", parts[0].Text)
	require.Equal(t, "actions", parts[1].Type)
	for i, want := range [][]string{{"holdfast_approve", "primary"}, {"holdfast_deny", "danger"}} {
		e := parts[1].Elements[i]
		require.Equal(t, []string{"button", want[0], want[1], questionID}, []string{e.Type, e.ActionID, e.Style, e.Value})
	}
	require.Contains(t, m.Text, "Who may answer: <@U0ANA>, telegram:12")
	require.JSONEq(t, `{"id": "o1.ask", "approval": "`+questionID+`"}`, string(m.Metadata.EventPayload))
	found, err := s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)
}

func TestAQuestionWithoutBlocksSaysHowToAnswer(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "invalid_blocks"})
	s.send(asking("o1.ask", generalChat, s.asked()))
	require.Len(t, s.Posted(), 1)
	require.Contains(t, s.Posted()[0].Text, "Answer `/holdfast approve "+questionID+"` or `/holdfast deny "+questionID+"`.")
}

func TestAQuestionIsPostedOnceWhateverIsLost(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	s.LoseResponse("chat.postMessage", 2)
	thread := s.asked()
	s.deliver(asking("o1.ask", generalChat, thread))
	s.deliver(asking("o2.ask", generalChat, thread))
	require.Len(t, s.Posted(), 2)
}

// A draft that is older than a question does not become the reply: that belongs
// below the question.
func TestAReplyComesAfterTheQuestion(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	thread := s.asked()
	reply := outgoing("o1", thread, "done")
	reply.Replace = true // as the store says of a draft that is older than a question
	for _, reply.Draft = range []string{s.draft("o1", thread), s.stream(thread)} {
		question := s.send(asking("o1.ask", generalChat, thread))
		s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "internal_error"})
		s.deliver(reply)
		posted := s.Posted()
		last := posted[len(posted)-1]
		require.Equal(t, "done", last.Text)
		require.Greater(t, last.TS, question)
		require.Empty(t, s.Message(slacktest.General, reply.Draft).TS, "the draft is still there")
		reply.ID = "o2"
	}
	reply.ID, reply.Draft, reply.Replace = "o3", s.draft("o3", thread), false
	require.Equal(t, reply.Draft, s.send(reply), "with no question since, the draft becomes the reply")
}

// asked has the channel ask a question where a person wrote something, and returns
// its ts.
func (r *receiving) asked(channel, thread string) (ts string) {
	r.t.Helper()
	sent, err := r.channel.Send(r.ctx, asking("o1.ask", slacktest.Team+"/"+channel, thread))
	require.NoError(r.t, err)
	return sent.PlatformID
}

func answerOf(text, id, chat, thread string) domain.Inbound {
	return domain.Inbound{
		Channel: slack.Name, Scope: chat, PlatformID: id, Chat: chat, Thread: thread, Sender: slacktest.Ana, SenderName: "ana", Text: text,
	}
}

func TestTheAnswerButtons(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{answer: channeltest.Hold})
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
		ts := r.asked(slacktest.General, root)
		for action, command := range map[string]string{"holdfast_approve": "approve", "holdfast_deny": "deny"} {
			n := len(r.backend.Accepted())
			d := r.acked(r.Click(slacktest.Ana, slacktest.General, ts, action, questionID))
			for range 2 {
				r.acked(r.Redeliver(d.Events[0].ID))
			}
			id := command + "-" + actionTS(t, d) + "-" + slacktest.Ana
			require.Equal(t, answerOf("/"+command+" "+questionID, id, generalChat, root), r.accepted(n+1))
			require.Len(t, r.backend.Accepted(), n+1, "a click is one answer")
		}

		direct := r.asked(slacktest.DM, "")
		r.acked(r.Click(slacktest.Ana, slacktest.DM, direct, "holdfast_approve", ""))
		require.Equal(t, "/approve "+questionID, r.accepted(4).Text)
		require.Equal(t, dmChat, r.accepted(4).Chat)
		require.Empty(t, r.accepted(4).Thread)

		// Asked outside of a thread, as by a job: the answer belongs below it.
		top := r.asked(slacktest.General, "")
		r.acked(r.Click(slacktest.Ana, slacktest.General, top, "holdfast_approve", ""))
		require.Equal(t, top, r.accepted(5).Thread)
	})
}

func actionTS(t *testing.T, d slacktest.Delivery) string {
	t.Helper()
	var payload struct {
		Actions []struct {
			TS string `json:"action_ts"`
		}
	}
	require.NoError(t, json.Unmarshal(d.Events[0].Payload, &payload))
	return payload.Actions[0].TS
}

func TestAnswersWithoutEffect(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{slack: hasty})
		with := func(value any, change map[string]any) map[string]any {
			payload := clickOn("holdfast_approve", change)
			if change["actions"] == nil {
				payload["actions"] = []any{map[string]any{"action_id": "holdfast_approve", "value": value, "action_ts": ts(9)}}
			}
			return payload
		}
		for _, payload := range []map[string]any{
			with("", nil),
			with("../../etc", nil),
			with(questionID+" /stop", nil),
			with(questionID, map[string]any{"type": "message_action", "callback_id": "holdfast_approve", "action_ts": ts(9)}),
			with(questionID, map[string]any{"type": "view_submission"}),
			with(questionID, map[string]any{"message": map[string]any{}}),
			with(questionID, map[string]any{"user": map[string]any{"id": slacktest.Ben}}),
			with(questionID, map[string]any{"channel": map[string]any{"id": slacktest.Secret}}),
		} {
			r.acked(r.Send(slacktest.Interactive, payload))
		}
		require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Calls("chat.postEphemeral")) == 2 }), "two are told why")
		for _, payload := range []map[string]any{
			with(map[string]any{}, nil),
			with(questionID, map[string]any{"user": nil}),
			with(questionID, map[string]any{"channel": nil}),
		} {
			require.ErrorIs(t, r.Send(slacktest.Interactive, payload).Wait(r.ctx), slacktest.ErrNotAcknowledged)
		}
		require.Empty(t, r.backend.Accepted())
	})
}

// Edge case E23: an approval that nobody clicked.
func TestAForgedAnswer(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeHTTP, receivingSetup{})
	payload, err := json.Marshal(clickOn("holdfast_approve", map[string]any{
		"actions": []any{map[string]any{"action_id": "holdfast_approve", "value": questionID, "action_ts": ts(9)}},
	}))
	require.NoError(t, err)
	body := []byte(url.Values{"payload": {string(payload)}}.Encode())
	for _, header := range []http.Header{
		slacktest.Sign("guessed", time.Now(), body),
		slacktest.Sign(slacktest.SigningSecret, time.Now().Add(-6*time.Minute), body),
	} {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		status, _ := r.post(body, header)
		require.Equal(t, http.StatusUnauthorized, status)
	}
	require.Empty(t, r.backend.Accepted())
}

func TestAnswersInWords(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{answer: channeltest.Hold})
	for i, tt := range []struct{ channel, text, want string }{
		{slacktest.General, slacktest.Mention + " approve", "/approve"},
		{slacktest.General, slacktest.Mention + " Deny", "/deny"},
		{slacktest.General, slacktest.Mention + ": approve " + questionID, "approve " + questionID}, // the backend knows what waits
		{slacktest.General, slacktest.Mention + " deny `" + questionID + "`", "deny `" + questionID + "`"},
		{slacktest.General, slacktest.Mention + " /approve " + questionID, "/approve " + questionID},
		{slacktest.General, slacktest.Mention + " approve the plan", "approve the plan"},
		{slacktest.General, slacktest.Mention + " approve it", "approve it"},
		{slacktest.General, slacktest.Mention + " stop " + questionID, "stop " + questionID},
		{slacktest.DM, "approve", "approve"},
		{slacktest.DM, "/deny " + questionID, "/deny " + questionID},
	} {
		r.acked(r.Say(slacktest.Ana, tt.channel, tt.text))
		require.Equal(t, tt.want, r.accepted(i+1).Text)
	}
}
