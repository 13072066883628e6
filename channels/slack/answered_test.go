package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// answering answers answers, after which their question stands so, and nothing else.
func answering(reply string, stands *domain.AnsweredApproval) func(domain.Inbound) *channeltest.Answer {
	return func(msg domain.Inbound) *channeltest.Answer {
		if command, _ := domain.ParseAnswer(msg.Text); command == domain.CommandNone {
			return nil
		}
		return &channeltest.Answer{Reply: reply, Answered: stands}
	}
}

// stands is how the question of these tests does.
func stands(status domain.ApprovalStatus, by string, counts bool) *domain.AnsweredApproval {
	return &domain.AnsweredApproval{ID: questionID, Status: status, By: by, Counts: counts}
}

// closed waits until a question has no buttons any more, and returns it.
func (r *receiving) closed(channel, ts string) slacktest.Message {
	r.t.Helper()
	require.NoError(r.t, r.Await(r.ctx, func() bool { return !strings.Contains(string(r.Message(channel, ts).Blocks), "holdfast_approve") }))
	return r.Message(channel, ts)
}

// whispered waits for the nth thing that one person alone is told in General.
func (r *receiving) whispered(n int) slacktest.Message {
	r.t.Helper()
	require.NoError(r.t, r.Await(r.ctx, func() bool { return len(r.Ephemeral(slacktest.General)) >= n }))
	require.Len(r.t, r.Ephemeral(slacktest.General), n)
	return r.Ephemeral(slacktest.General)[n-1]
}

func TestAQuestionSaysHowItWasAnswered(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stands     *domain.AnsweredApproval
		want, told string
	}{
		"approved":          {stands(domain.ApprovalApproved, "slack:U0ANA", true), "Approved by <@U0ANA>", ""},
		"denied":            {stands(domain.ApprovalDenied, "slack:U0ANA", true), "Denied by <@U0ANA>", ""},
		"before, by ben":    {stands(domain.ApprovalDenied, "slack:U0BEN", false), "Denied by <@U0BEN>", "the reply"},
		"before, elsewhere": {stands(domain.ApprovalApproved, "http:the. operator", false), "Approved by http:the. operator", "the reply"},
		"too late":          {stands(domain.ApprovalExpired, "", false), "Nobody answered in time", "the reply"},
		"not asked":         {stands(domain.ApprovalDropped, "", false), "Not asked any more", "the reply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := receive(t, slack.ModeSocket, receivingSetup{answer: answering("the reply", tt.stands)})
			root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
			ts := r.asked(slacktest.General, root)
			before := r.Message(slacktest.General, ts)
			r.acked(r.Click(slacktest.Ana, slacktest.General, ts, "holdfast_approve", ""))
			m := r.closed(slacktest.General, ts)
			parts := partsOf(t, m)
			require.Len(t, parts, 2)
			require.Equal(t, partsOf(t, before)[0], parts[0], "what was asked stays as it was")
			require.Equal(t, "context", parts[1].Type)
			require.Equal(t, tt.want, parts[1].Elements[0].Text)
			require.Equal(t, before.Text+"\n\n"+tt.want, m.Text)
			require.JSONEq(t, string(before.Metadata.EventPayload), string(m.Metadata.EventPayload))
			found, err := r.channel.Find(r.ctx, asking("o1.ask", generalChat, root))
			require.NoError(t, err)
			require.True(t, found.Posted)
			if tt.told == "" {
				require.Empty(t, r.Ephemeral(slacktest.General), "what all see nobody has to be told")
				return
			}
			told := r.whispered(1)
			require.Contains(t, told.Text, tt.told)
			require.Equal(t, slacktest.Ana, told.Recipient)
			require.Equal(t, root, told.ThreadTS)
		})
	}
}

func TestWhoMayNotAnswerIsTold(t *testing.T) {
	t.Parallel()
	const refused = "You may not answer this: slack:U0BEN, http:operator may."
	r := receive(t, slack.ModeHTTP, receivingSetup{answer: answering(refused, stands(domain.ApprovalWaiting, "", false))})
	root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
	ts := r.asked(slacktest.General, root)
	r.acked(r.Click(slacktest.Ana, slacktest.General, ts, "holdfast_deny", ""))
	require.Equal(t, "You may not answer this: <@U0BEN>, http:operator may.", r.whispered(1).Text)
	direct := r.asked(slacktest.DM, "")
	r.acked(r.Click(slacktest.Ana, slacktest.DM, direct, "holdfast_deny", ""))
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Channel(slacktest.DM)) == 2 }))
	require.Contains(t, r.Channel(slacktest.DM)[1].Text, "You may not answer this")
	for channel, ts := range map[string]string{slacktest.General: ts, slacktest.DM: direct} {
		require.Contains(t, string(r.Message(channel, ts).Blocks), "holdfast_approve", "who may still can")
	}
	require.Empty(t, r.Calls("chat.update"))
}

// What cannot be shown at the question is told to who clicked; the next click shows it.
func TestAQuestionThatCannotBeChanged(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{answer: answering("Approved.", stands(domain.ApprovalApproved, "slack:U0ANA", true))})
	root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
	ts := r.asked(slacktest.General, root)
	r.Fail("chat.update", 1, slacktest.Fault{Error: "internal_error"})
	r.acked(r.Click(slacktest.Ana, slacktest.General, ts, "holdfast_approve", ""))
	require.Equal(t, "Approved.", r.whispered(1).Text)
	r.Fail("conversations.replies", 1, slacktest.Fault{Error: "internal_error"})
	r.acked(r.Click(slacktest.Ana, slacktest.General, ts, "holdfast_approve", ""))
	r.whispered(2)
	r.acked(r.Click(slacktest.Ana, slacktest.General, ts, "holdfast_approve", ""))
	require.Contains(t, r.closed(slacktest.General, ts).Text, "Approved by <@U0ANA>")
	require.Len(t, r.backend.Accepted(), 4)

	// Who had not seen the change yet sees it now.
	edits := r.Message(slacktest.General, ts).Edits
	r.acked(r.Click(slacktest.Ana, slacktest.General, ts, "holdfast_deny", ""))
	r.accepted(5)
	require.NoError(t, r.Await(r.ctx, func() bool { return r.channel.Followed() == 1 }), "the first message alone waits")
	require.Equal(t, edits, r.Message(slacktest.General, ts).Edits)
}

// An answer in words that names the question is shown there, too; its reply is a
// message.
func TestAQuestionThatWasAnsweredInWords(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{answer: answering("Denied.", stands(domain.ApprovalDenied, "slack:U0ANA", true))})
	root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
	ts := r.asked(slacktest.General, root)
	r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" deny "+questionID, slacktest.InThread(root)))
	require.Contains(t, r.closed(slacktest.General, ts).Text, "Denied by <@U0ANA>")
	require.True(t, r.accepted(2).Push)
	require.Empty(t, r.Ephemeral(slacktest.General))
}

var question = event.Event{Kind: event.Approval, ID: questionID, Tool: "exec", Text: "touch a"}

func TestNothingPretendsToWorkWhileAPersonIsAsked(t *testing.T) {
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
			sent := s.answer(a, "done")
			s.idle()
			require.NotEqual(t, channel+"/"+draft.TS, sent.PlatformID)
			posted := s.Posted()
			require.Len(t, posted, 2, "the question, and the reply below it")
			require.Contains(t, posted[0].Text, "May I run")
			require.Equal(t, "done", posted[1].Text)
		})
	}
}

// After a restart it is known that a draft is older than a question, too.
func TestADraftOlderThanAQuestionAfterARestart(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, reset, text("I would"))
	draft := s.drafted(a, says("I would"))
	s.emit(a, question)
	_, err := s.channel.Send(s.ctx, asking("o-"+a.id+".ask", a.msg.Chat, a.msg.Thread))
	require.NoError(t, err)
	s.stop()
	s.channel, s.stop = s.open(drafting)
	s.await(func() bool { return s.channel.Followed() == 1 })
	s.await(func() bool { return s.channel.Asked(a.msg.Chat, a.msg.Thread) })
	s.emit(a, tool("exec", "touch a"))
	s.answer(a, "done")
	s.idle()
	require.Empty(t, s.Message(a.channel, draft.TS).TS)
	posted := s.Posted()
	require.Len(t, posted, 2)
	require.Equal(t, "done", posted[1].Text)
}
