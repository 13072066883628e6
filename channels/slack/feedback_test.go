package slack_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ratable is the reply of the turn m1.
func ratable(thread, text string) domain.Outbound {
	msg := outgoing("o1", thread, text)
	msg.Turn, msg.Ratable = "m1", true
	return msg
}

func TestAReplyHasThumbs(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{Feedback: true})
	thread := s.asked()
	edited := ratable(thread, "| a |\n|---|\n| b |")
	edited.Draft = s.draft("o1", thread)
	for _, msg := range []domain.Outbound{ratable(thread, "done"), edited} {
		ts := s.send(msg)
		parts := partsOf(t, s.Message(slacktest.General, ts))
		last := parts[len(parts)-1]
		require.Equal(t, "context_actions", last.Type)
		require.Equal(t, "feedback_buttons", last.Elements[0].Type)
		s.Click(slacktest.Ana, slacktest.General, ts, "holdfast_feedback", "good m1")
		s.Click(slacktest.Ana, slacktest.General, ts, "holdfast_feedback", "bad m1")
	}
	s.send(outgoing("o2", thread, "by the way"))
	posted := s.Posted()
	require.NotContains(t, string(posted[len(posted)-1].Blocks), "feedback_buttons", "it is no reply")

	s = sendingTo(t, slack.Options{})
	s.send(ratable(s.asked(), "done"))
	require.NotContains(t, string(s.Posted()[0].Blocks), "feedback_buttons", "they are an option")
}

func TestASlackWithoutThumbs(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{Feedback: true})
	s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "invalid_blocks"})
	s.send(ratable(s.asked(), "**done**"))
	require.Len(t, partsOf(t, s.Posted()[0]), 1, "only the thumbs are missing")
}

func TestAClickOnAThumbIsARating(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{options: slack.Options{Feedback: true}, slack: hasty})
		click := func(value string, user string) slacktest.Delivery {
			return r.Send(slacktest.Interactive, clickOn("holdfast_feedback", map[string]any{
				"user":    map[string]any{"id": user},
				"actions": []any{map[string]any{"type": "feedback_buttons", "action_id": "holdfast_feedback", "value": value, "action_ts": ts(9)}},
			}))
		}
		r.acked(click("good m1", slacktest.Ana))
		want := domain.Rating{Turn: "m1", Channel: "slack", Chat: generalChat, Sender: slacktest.Ana, Good: true, At: slack.SentAt(ts(9))}
		require.Equal(t, []domain.Rating{want}, r.backend.Ratings())
		r.acked(click("bad m1", slacktest.Ana))
		want.Good = false
		require.Equal(t, want, r.backend.Ratings()[1])

		r.acked(click("bad m1", slacktest.Ben))
		for _, value := range []string{"", "good", "approve " + questionID, "stop m1"} {
			r.acked(click(value, slacktest.Ana))
		}
		require.Len(t, r.backend.Ratings(), 2)
		require.Empty(t, r.backend.Accepted())

		r.backend.FailAccept(2)
		require.ErrorIs(t, click("good m1", slacktest.Ana).Wait(r.ctx), slacktest.ErrNotAcknowledged, "it is not stored")
	})
}

func TestThumbsAreReadable(t *testing.T) {
	t.Parallel()
	block, err := json.Marshal(slack.Thumbs("m1"))
	require.NoError(t, err)
	require.JSONEq(t, `{"type": "context_actions", "elements": [{"type": "feedback_buttons", "action_id": "holdfast_feedback",
		"positive_button": {"text": {"type": "plain_text", "text": "Good answer", "emoji": false}, "value": "good m1"},
		"negative_button": {"text": {"type": "plain_text", "text": "Bad answer", "emoji": false}, "value": "bad m1"}}]}`, string(block))
}
