package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
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

func TestNoDraftWithoutStreaming(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	c, err := slack.New(slack.Options{BotToken: slacktest.BotToken, APIURL: s.APIURL()})
	require.NoError(t, err)
	drafting(c)
	s.channel = c
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
	require.Equal(t, draft.TS, sent.PlatformID)
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
				_, err := s.drafts.Draft(s.ctx, a.id)
				return err != nil
			}, 10*time.Second, time.Millisecond, "the claim is dropped")
			s.channel.Pause(s.ctx, a.id)
			require.Empty(t, s.Posted())
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
			s.deliver(s.open(drafting), a, s.drafts.Take(a.id), "done") // another process does not know of the draft
			close(release)
			s.await(func() bool { return len(s.Calls("chat.delete")) > 0 })
			s.channel.Pause(s.ctx, a.id)
			s.final(a, "done")
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
	worker := s.open(drafting)
	found, err := worker.Find(s.ctx, s.reply(a, "", ""))
	require.NoError(t, err)
	require.Empty(t, s.drafts.Take(a.id))
	s.deliver(worker, a, found.PlatformID, "done")
	looks := len(s.Calls("conversations.history"))
	close(release)
	s.await(func() bool { return len(s.Calls("conversations.history")) > looks })
	s.channel.Pause(s.ctx, a.id)
	s.final(a, "done")
	require.Empty(t, s.Calls("chat.delete"))
}

func TestAMessageThatJoinsATurn(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	statusless(s)
	first, second := s.accept(slacktest.DM), s.accept(slacktest.DM)
	s.channel.Present(s.turn(first))
	s.await(s.noticed(first))
	require.Empty(t, s.reactions(second))
	s.channel.Pause(s.ctx, first.id)
	s.channel.Present(s.turn(first, second))
	s.await(s.noticed(second))
	s.deliver(s.channel, first, s.end(first), "for both")
	s.channel.Conclude(s.turn(first, second), false, true)
	s.idle()
	require.Equal(t, []string{"white_check_mark"}, s.reactions(first))
	require.Equal(t, []string{"white_check_mark"}, s.reactions(second))
}
