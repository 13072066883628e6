package slack_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func TestDraftInAThreadIsAStream(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, reset, text("One, "))
	draft := s.drafted(a, says("One, "))
	require.True(t, draft.Streaming)
	require.Equal(t, slacktest.Ana, draft.Recipient)
	require.Equal(t, slacktest.Team, draft.Args["recipient_team_id"])
	s.emit(a, text("two"))
	s.drafted(a, says("One, two"))
	s.answer(a, "One, two, three.")
	s.idle()
	s.final(a, "One, two, three.")
	require.Empty(t, s.Calls("conversations.replies"))
	require.Len(t, s.Calls("chat.startStream"), 1)
	require.Len(t, s.Calls("chat.stopStream"), 1)
	require.Empty(t, s.Assistant(a.channel, a.msg.Thread).Status)
}

func TestStreamsGrowOnceInAWhile(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		drafting(c)
		c.Calm(300*time.Millisecond, 5*time.Second)
	})
	a := s.ask(slacktest.General)
	began := time.Now()
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	for range 1000 {
		s.emit(a, text("a"))
	}
	s.drafted(a, says(strings.Repeat("a", 1000)))
	require.LessOrEqual(t, len(s.Calls("chat.appendStream")), 2+int(time.Since(began)/(300*time.Millisecond)))
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
}

func TestAStreamThatHasToTakeTextBack(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, reset, text("Wrong"))
	stream := s.drafted(a, says("Wrong"))
	s.emit(a, reset, text("Right"))
	post := s.drafted(a, says("Right"))
	require.Equal(t, stream.TS, post.TS)
	require.False(t, post.Streaming)
	require.NotContains(t, post.Text+string(post.Blocks), "Wrong")
	require.Contains(t, string(post.Blocks), slack.StopAction)
	isDraftOf(t, post, a)
	s.answer(a, "Right.")
	s.idle()
	s.final(a, "Right.")
}

func TestAStreamBeforeItsTextIsTakenBackAsItIs(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, reset)
	s.drafted(a, anyMessage)
	s.emit(a, reset, text("Right"))
	require.True(t, s.drafted(a, says("Right")).Streaming)
	s.answer(a, "Right.")
	s.idle()
	s.final(a, "Right.")
}

func TestAStreamTellsOfToolsInTheStatusOrStops(t *testing.T) {
	t.Parallel()
	ask := func(t *testing.T, prepare func(*stage)) (*stage, asked) {
		s := setupStage(t, drafting)
		prepare(s)
		a := s.ask(slacktest.General)
		s.emit(a, reset, text("Let me see"))
		s.drafted(a, says("Let me see"))
		s.emit(a, tool("exec", "ls"))
		return s, a
	}
	t.Run("status", func(t *testing.T) {
		t.Parallel()
		s, a := ask(t, func(*stage) {})
		s.await(func() bool { return s.Assistant(a.channel, a.msg.Thread).Status == "runs exec: ls" })
		require.True(t, s.drafted(a, anyMessage).Streaming)
		s.answer(a, "Seen.")
		s.idle()
		s.final(a, "Seen.")
		require.Empty(t, s.Assistant(a.channel, a.msg.Thread).Status, "the draft that becomes the reply does not end the status")
	})
	t.Run("no status", func(t *testing.T) {
		t.Parallel()
		s, a := ask(t, statusless)
		s.drafted(a, says("runs exec: ls"))
		s.answer(a, "Seen.")
		s.idle()
		s.final(a, "Seen.")
	})
}

func TestAnAppThatCannotStream(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"unknown_method", "missing_scope", "not_allowed_token_type"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			s.Fail("chat.startStream", slacktest.Always, slacktest.Fault{Error: code})
			for range 2 {
				a := s.ask(slacktest.General)
				s.emit(a, reset, text("begin"))
				isDraftOf(t, s.drafted(a, says("begin")), a)
				s.answer(a, "end")
				s.idle()
				s.final(a, "end")
			}
			require.Len(t, s.Calls("chat.startStream"), 1, "it is not tried again")
		})
	}
}

func TestAStreamThatSlackEnds(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, reset, text("One"))
	draft := s.drafted(a, says("One"))
	s.EndStream(a.channel, draft.TS, false)
	s.emit(a, text(", two"))
	post := s.drafted(a, says("One, two"))
	require.Equal(t, draft.TS, post.TS)
	isDraftOf(t, post, a)
	s.answer(a, "end")
	s.idle()
	s.final(a, "end")
}

func TestAStreamThatAPersonStops(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, reset, text("One"))
	draft := s.drafted(a, says("One"))
	s.EndStream(a.channel, draft.TS, true)
	s.emit(a, text(", two"))
	s.await(func() bool {
		calls := s.Calls("chat.appendStream")
		return calls[len(calls)-1].Error == "stopped_by_user"
	})
	s.emit(a, text(", three"))
	s.answer(a, "end")
	s.idle()
	s.final(a, "end")
	require.Len(t, s.Calls("chat.appendStream"), 2)
}

func TestAPieceWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	s.LoseResponse("chat.appendStream", 1)
	a := s.ask(slacktest.General)
	s.emit(a, reset, text("One"))
	post := s.drafted(a, func(m slacktest.Message) bool { return says("One")(m) && !m.Streaming && m.Blocks != nil })
	require.Equal(t, 1, strings.Count(string(post.Blocks), "One"))
	s.answer(a, "end")
	s.idle()
	s.final(a, "end")
}

func TestStreamsCallNobody(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	for _, piece := range []string{"Hi <!cha", "nnel> and @he", "re, a <", "b and @everyone", " <@U0BEN>."} {
		sent := len(s.Calls("chat.appendStream"))
		s.emit(a, text(piece))
		s.await(func() bool { return len(s.Calls("chat.appendStream")) > sent })
	}
	draft := s.drafted(a, says("<@U0BEN>."))
	require.Equal(t, "Hi <\u200b!channel> and @\u200bhere, a <b and @\u200beveryone <@U0BEN>.", draft.Text)
	s.answer(a, "end")
	s.idle()
	s.final(a, "end")
}

func TestALongStreamStopsGrowing(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, text(strings.Repeat("ü", 5_000)))
	s.drafted(a, says("üü"))
	s.emit(a, text("more"), event.Event{Kind: event.ToolDone})
	s.answer(a, "end")
	s.idle()
	s.final(a, "end")
	calls := s.Calls("chat.appendStream")
	require.Len(t, calls, 1)
	require.Len(t, []rune(calls[0].Args["markdown_text"]), 3500)
}

// A stream is ended before its reply takes its place: Slack refuses to change one that is open.
func TestAStreamedReplyIsNeverRefused(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, text("All is "))
	s.drafted(a, func(m slacktest.Message) bool { return m.Streaming && m.Text != "" })
	s.answer(a, "All is well.")
	s.idle()
	s.final(a, "All is well.")
	for _, call := range s.Calls("") {
		require.Empty(t, call.Error, "%s was refused", call.Method)
	}
	require.Len(t, s.Calls("chat.stopStream"), 1)
}

func TestADiscardedStreamIsNeverRefused(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a := s.ask(slacktest.General)
	s.emit(a, text("All is "))
	draft := s.drafted(a, func(m slacktest.Message) bool { return m.Streaming && m.Text != "" })
	s.channel.Pause(s.ctx, a.id)
	require.NoError(t, s.channel.Discard(s.ctx, domain.Draft{Chat: a.msg.Chat, Thread: a.msg.Thread, PlatformID: draft.TS}))
	require.Empty(t, s.Posted())
	for _, call := range s.Calls("") {
		require.Empty(t, call.Error, "%s was refused", call.Method)
	}
}
