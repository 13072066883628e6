package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// says is a condition on a message: its text and blocks have these words.
func says(words string) func(slacktest.Message) bool {
	return func(m slacktest.Message) bool { return strings.Contains(m.Text+string(m.Blocks), words) }
}

func TestAQuickReplyHasNoDraft(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	a := s.ask(slacktest.DM)
	s.emit(a, reset, text("ye"), text("s"))
	s.await(s.noticed(a))
	s.answer(a, "yes")
	s.idle()
	s.final(a, "yes")
	require.Len(t, s.Calls("chat.postMessage"), 1)
	require.Empty(t, s.Calls("chat.update"))
}

func TestNoDraftBeforeTheTurnRuns(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.await(s.noticed(a))
	s.answer(a, "yes")
	s.idle()
	s.final(a, "yes")
	require.Len(t, s.Calls("chat.postMessage"), 1)
}

func TestNoDraftWithoutStreaming(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	s.stop()
	c, err := slack.New(slack.Options{BotToken: slacktest.BotToken, APIURL: s.APIURL()})
	require.NoError(t, err)
	drafting(c)
	s.channel, s.stop = c, s.run(c)
	a := s.ask(slacktest.DM)
	s.emit(a, reset, text("ye"))
	s.await(s.noticed(a))
	s.answer(a, "yes")
	s.idle()
	require.Len(t, s.Calls("chat.postMessage"), 1)
}

func TestDraftIsAPostThatIsEdited(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	draft := s.drafted(a, says("is thinking…"))
	isDraftOf(t, draft, a)
	require.Contains(t, string(draft.Blocks), `"action_id":"`+slack.StopAction+`"`)
	require.Contains(t, string(draft.Blocks), `"text":"Stop"`)

	s.emit(a, text("Let me **look**."), tool("exec", "ls <dir>"))
	draft = s.drafted(a, says("runs exec: ls"))
	require.Contains(t, string(draft.Blocks), "Let me **look**.")
	s.emit(a, event.Event{Kind: event.ToolDone, Tool: "exec"}, reset, text("Seen"))
	draft = s.drafted(a, says("Seen"))
	require.NotContains(t, string(draft.Blocks), "look", "a new step forgets the text of the last")
	isDraftOf(t, draft, a)

	sent := s.answer(a, "Seen it.")
	require.Equal(t, slacktest.DM+"/"+draft.TS, sent.PlatformID)
	s.idle()
	s.final(a, "Seen it.")
	require.Len(t, s.Calls("chat.postMessage"), 1)
	require.Empty(t, s.Calls("chat.delete"))
	require.Empty(t, s.Calls("conversations.history"))
}

func TestStopButtonNamesTheThread(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	statusless(s)
	a := s.ask(slacktest.General)
	s.emit(a, tool("exec", "sleep 60"))
	draft := s.drafted(a, says("sleep 60"))
	require.False(t, draft.Streamed, "a stream cannot tell what is done")
	require.Contains(t, string(draft.Blocks), `"value":"`+a.msg.Thread+`"`)
	isDraftOf(t, draft, a)
	s.answer(a, "slept")
	s.idle()
	s.final(a, "slept")
}

func TestLongDraftsShowTheirEnd(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.DM)
	s.emit(a, text(strings.Repeat("ä", 20_000)+"!"))
	draft := s.drafted(a, says("ää!"))
	require.Less(t, len([]rune(draft.Text)), 4000)
	for _, call := range s.Calls("") {
		require.Empty(t, call.Error, call.Method)
	}
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
}

func TestDraftsAreEditedOnceInAWhile(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		drafting(c)
		c.Calm(300*time.Millisecond, 5*time.Second)
	})
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	draft := s.drafted(a, anyMessage)
	for range 500 {
		s.emit(a, text("word "))
	}
	began := time.Now()
	s.await(func() bool { return s.Message(a.channel, draft.TS).Edits > 0 })
	for range 500 {
		s.emit(a, text("more "))
	}
	s.await(func() bool { return s.Message(a.channel, draft.TS).Edits > 1 })
	edits := len(s.Calls("chat.update"))
	require.LessOrEqual(t, edits, 2+int(time.Since(began)/(300*time.Millisecond)))
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
}

func TestEditsAreSkippedWhileSlackAsksToWait(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	s.RateLimit("chat.update", 1, time.Second)
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.emit(a, text("one"))
	s.await(func() bool { return len(s.Calls("chat.update")) == 1 })
	limited := time.Now()
	s.emit(a, text(" two"))
	s.drafted(a, says("one two"))
	require.Greater(t, time.Since(limited), 500*time.Millisecond)
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
}

func TestADraftThatIsRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault slacktest.Fault
	}{
		{name: "by an error", fault: slacktest.Fault{Error: "restricted_action"}},
		{name: "by a limit", fault: slacktest.Fault{Status: 429, RetryAfter: time.Nanosecond}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			s.Fail("chat.postMessage", 1, tt.fault)
			a := s.ask(slacktest.DM)
			s.emit(a, reset)
			s.await(func() bool { return len(s.Calls("chat.postMessage")) == 1 })
			require.Eventually(t, func() bool {
				reply, err := s.backend.ClaimDraft(s.ctx, a.id)
				return err == nil && reply != ""
			}, 10*time.Second, time.Millisecond, "nobody waits for the draft any more")
			require.NoError(t, s.backend.DropDraft(s.ctx, a.id))
			s.await(func() bool {
				s.backend.End(a.id, channeltest.Answer{Reply: "yes"})
				return s.channel.Followed() == 0
			})
			require.Empty(t, s.Posted())
		})
	}
}

func TestADraftWhosePostIsNotAnswered(t *testing.T) {
	t.Parallel()
	for channel, method := range map[string]string{slacktest.DM: "chat.postMessage", slacktest.General: "chat.startStream"} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			s.LoseResponse(method, 1)
			a := s.ask(channel)
			s.emit(a, reset, text("begin"))
			s.drafted(a, says("begin"))
			s.emit(a, text("ning"))
			s.drafted(a, says("beginning"))
			s.answer(a, "end")
			s.idle()
			s.final(a, "end")
		})
	}
}

func TestAReplyThatGoesOutBeforeItsDraft(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{slacktest.DM, slacktest.General} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			posting := make(chan struct{})
			release := make(chan struct{})
			hold := func(slacktest.Call) { close(posting); <-release }
			s.After("chat.startStream", hold)
			if channel == slacktest.DM {
				s.After("chat.postMessage", hold)
			}
			a := s.ask(channel)
			s.emit(a, reset)
			<-posting
			s.Heal()
			s.deliver(s.channel, a, s.end(a, "done"), "done") // does not know of the draft
			close(release)
			s.idle()
			s.final(a, "done")
			require.NotEmpty(t, s.Calls("chat.delete"))
		})
	}
}

func TestAReplyThatFoundItsDraftIsNotRemoved(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	posting := make(chan string, 1)
	release := make(chan struct{})
	s.After("chat.postMessage", func(c slacktest.Call) { posting <- c.TS; <-release })
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	<-posting
	found, err := s.channel.Find(s.ctx, channels.OutboundMessage{ID: "o-" + a.id, Channel: slack.Name, Chat: a.msg.Chat})
	require.NoError(t, err)
	require.Empty(t, s.end(a, "done"))
	s.deliver(s.channel, a, found.PlatformID, "done")
	close(release)
	s.idle()
	s.final(a, "done")
	require.Empty(t, s.Calls("chat.delete"))
}

func TestATurnThatEndsWithoutAReply(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{slacktest.DM, slacktest.General} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			a := s.ask(channel)
			s.emit(a, reset, text("begin"))
			s.drafted(a, says("begin"))
			s.backend.End(a.id, channeltest.Answer{Status: domain.ReplyFailed})
			s.idle()
			require.Empty(t, s.Posted())
			stale, err := s.backend.StaleDrafts(s.ctx, slack.Name)
			require.NoError(t, err)
			require.Empty(t, stale)
		})
	}
}

func TestAMessageThatJoinsATurn(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	statusless(s)
	a := s.ask(slacktest.DM)
	s.emit(a, event.Event{Kind: event.TurnJoined, Text: "another"}, reset, text("for the other"))
	s.await(s.noticed(a))
	s.backend.End(a.id, channeltest.Answer{Reply: "for both"})
	s.idle()
	require.Equal(t, []string{"white_check_mark"}, s.reactions(a))
	require.Empty(t, s.Posted(), "the other message shows the turn")
	reply, err := s.backend.ClaimDraft(s.ctx, a.id)
	require.NoError(t, err)
	require.Empty(t, reply)
}
