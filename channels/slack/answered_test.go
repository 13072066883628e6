package slack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// closed waits until a question has no buttons any more, and returns it.
func (s *sending) closed(ts string) slacktest.Message {
	s.t.Helper()
	require.NotContains(s.t, string(s.Message(slacktest.General, ts).Blocks), "holdfast_approve")
	return s.Message(slacktest.General, ts)
}

func TestAQuestionSaysHowItWasAnswered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ outcome, want string }{
		"in slack":  {"Approved by slack:U0ANA", "Approved by <@U0ANA>"},
		"elsewhere": {"Approved by http:the. <operator>", "Approved by http:the. &lt;operator&gt;"},
		"not":       {"Nobody answered in time", "Nobody answered in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sendingTo(t, slack.Options{})
			msg := asking("o1.ask", generalChat, s.asked())
			id := s.send(msg)
			msg.PlatformID = id
			ts := id
			before := s.Message(slacktest.General, ts)
			for range 2 {
				closed, err := s.channel.CloseQuestion(s.ctx, msg, tt.outcome)
				require.NoError(t, err)
				require.True(t, closed)
			}
			m := s.closed(ts)
			parts := partsOf(t, m)
			require.Len(t, parts, 2)
			require.Equal(t, partsOf(t, before)[0], parts[0], "what was asked stays as it was")
			require.Equal(t, "context", parts[1].Type)
			require.Equal(t, tt.want, parts[1].Elements[0].Text)
			require.Equal(t, before.Text+"\n\n"+tt.want, m.Text)
			require.JSONEq(t, string(before.Metadata.EventPayload), string(m.Metadata.EventPayload))
			found, err := s.channel.Find(s.ctx, msg)
			require.NoError(t, err)
			require.True(t, found.Posted)
		})
	}
}

func TestUnauthorizedAnswersAreExplained(t *testing.T) {
	t.Parallel()
	const refused = "You may not answer this: slack:U0BEN, http:operator may."
	s := sendingTo(t, slack.Options{})
	root := s.asked()
	clicked := domain.Inbound{Channel: slack.Name, PlatformID: "deny-1", Chat: generalChat, Thread: root, Sender: slacktest.Ana}
	require.NoError(t, s.channel.TellSender(s.ctx, clicked, refused))
	told := s.Ephemeral(slacktest.General)
	require.Len(t, told, 1)
	require.Equal(t, "You may not answer this: <@U0BEN>, http:operator may.", told[0].Text)
	require.Equal(t, slacktest.Ana, told[0].Recipient)
	require.Equal(t, root, told[0].ThreadTS)
	clicked.Chat, clicked.Thread = slacktest.Team+"/"+slacktest.DM, ""
	require.NoError(t, s.channel.TellSender(s.ctx, clicked, refused))
	require.Contains(t, s.Channel(slacktest.DM)[0].Text, "You may not answer this")
}

func TestAQuestionThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{})
	msg := asking("o1.ask", generalChat, s.asked())
	id := s.send(msg)
	msg.PlatformID = id
	s.Fail("chat.update", 1, slacktest.Fault{Error: "internal_error"})
	closed, err := s.channel.CloseQuestion(s.ctx, msg, "Approved by slack:U0ANA")
	require.Error(t, err)
	require.False(t, closed)
}

var question = event.Event{Kind: event.Approval, ID: questionID, Tool: "exec", Text: "touch a"}

func TestNoProgressIsShownWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		draftless(c)
		c.Lapse(20 * time.Millisecond)
	})
	a := s.ask(slacktest.General)
	status := func(want string) func() bool {
		return func() bool { return s.Assistant(a.channel, a.msg.Thread).Status == want }
	}
	s.await(status("is thinking…"))
	s.emit(a, reset, question)
	s.await(status(""))
	s.emit(a, tool("exec", "touch a"))
	s.await(status("runs exec: touch a"))
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
}

func TestADraftWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]string{"streamed": slacktest.General, "edited": slacktest.DM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			a := s.ask(channel)
			s.emit(a, reset)
			draft := s.drafted(a, anyMessage)
			s.emit(a, question)
			s.drafted(a, func(m slacktest.Message) bool { return !m.Streaming && m.Text == "waits for an answer" })
			asked := asking("o-"+a.id+".ask", a.msg.Chat, a.msg.Thread)
			_, err := s.channel.Send(s.ctx, asked)
			require.NoError(t, err)
			s.emit(a, tool("exec", "touch a"), reset, text("done"))
			s.drafted(a, says("done"))
			reply := s.reply(a, s.end(a), "done")
			reply.Replace = true // as the store says of a draft that is older than a question
			sent, err := s.channel.Send(s.ctx, reply)
			require.NoError(t, err)
			require.NotEqual(t, draft.TS, sent.PlatformID)
			posted := s.Posted()
			require.Len(t, posted, 2, "the question, and the reply below it")
			require.Contains(t, posted[0].Text, "May I run")
			require.Equal(t, "done", posted[1].Text)
		})
	}
}
