package slack_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/event"
)

func TestStatusInAThread(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	a := s.ask(slacktest.General)
	status := func(want string) func() bool {
		return func() bool { return s.Assistant(a.channel, a.msg.Thread).Status == want }
	}
	s.await(status("is thinking…"))
	s.emit(a, reset, tool("exec", "go test\n./..."))
	s.await(status("runs exec: go test ./..."))
	s.emit(a, event.Event{Kind: event.ToolProgress, Tool: "exec", Text: "12 of 40"})
	s.await(status("runs exec: 12 of 40"))
	s.emit(a, event.Event{Kind: event.ToolDone, Tool: "exec"})
	s.await(status("is thinking…"))
	s.emit(a, event.Event{Kind: event.Retry, Text: "attempt 1 of 3 failed"})
	s.await(status("attempt 1 of 3 failed"))

	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
	require.Empty(t, s.Assistant(a.channel, a.msg.Thread).Status)
	require.Len(t, s.Calls("assistant.threads.setStatus"), 5, "the reply ends the status by itself")
	require.Empty(t, s.Calls("reactions.add"))
}

func TestStatusIsRenewedBeforeItLapses(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) {
		draftless(c)
		c.Lapse(20 * time.Millisecond)
	})
	a := s.ask(slacktest.General)
	s.await(func() bool { return len(s.Calls("assistant.threads.setStatus")) > 3 })
	for _, call := range s.Calls("assistant.threads.setStatus") {
		require.Equal(t, "is thinking…", call.Args["status"])
	}
	s.answer(a, "done")
	s.idle()
	s.final(a, "done")
}

func TestStatusIsCut(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	a := s.ask(slacktest.General)
	s.emit(a, tool("x", strings.Repeat("größer ", 50)))
	s.await(func() bool { return len([]rune(s.Assistant(a.channel, a.msg.Thread).Status)) == 100 })
}

func TestStatusIsClearedIfNothingIsPosted(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	a := s.ask(slacktest.General)
	s.await(func() bool { return s.Assistant(a.channel, a.msg.Thread).Status != "" })
	s.channel.Pause(s.ctx, a.id)
	s.conclude(a, true, false)
	s.idle()
	require.Empty(t, s.Assistant(a.channel, a.msg.Thread).Status)
}

func TestReactions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		channel string
		failed  bool
		want    string
		calls   []string
	}{
		{name: "without a thread", channel: slacktest.DM, want: "white_check_mark"},
		{name: "without a status", channel: slacktest.General, want: "white_check_mark", calls: []string{"assistant.threads.setStatus"}},
		{name: "a failed turn", channel: slacktest.DM, failed: true, want: "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, draftless)
			statusless(s)
			a := s.ask(tt.channel)
			s.await(s.noticed(a))
			s.channel.Pause(s.ctx, a.id)
			s.conclude(a, tt.failed, true)
			s.idle()
			require.Equal(t, []string{tt.want}, s.reactions(a))
			var calls []string
			for _, call := range s.Calls("") {
				calls = append(calls, call.Method)
			}
			want := append([]string{"auth.test"}, append(tt.calls, "reactions.add", "reactions.add", "reactions.remove")...)
			require.ElementsMatch(t, want, calls)
		})
	}
}

func TestNoReactionWithoutTheScope(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless, without("reactions:write"))
	statusless(s)
	a := s.ask(slacktest.General)
	s.emit(a, reset)
	s.answer(a, "yes")
	s.idle()
	s.final(a, "yes")
	require.Empty(t, s.Calls("reactions.add"))
}

func TestReactionsThatAreThereOrGone(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	statusless(s)
	a := s.accept(slacktest.General)
	s.React(slacktest.BotUser, a.channel, a.msg.PlatformID, "eyes")
	s.channel.Present(s.turn(a))
	s.await(func() bool {
		calls := s.Calls("reactions.add")
		return len(calls) == 1 && calls[0].Error == "already_reacted"
	})
	s.Fail("reactions.remove", 1, slacktest.Fault{Error: "no_reaction"})
	s.channel.Pause(s.ctx, a.id)
	s.conclude(a, false, true)
	s.idle()
	require.True(t, slices.Contains(s.reactions(a), "white_check_mark"))
}

func TestImmediateAnswersShowNoProgress(t *testing.T) {
	t.Parallel()
	s := setupStage(t, func(c *slack.Channel) { c.Notice(time.Hour) })
	a := s.ask(slacktest.DM)
	s.emit(a, reset)
	s.answer(a, "yes")
	s.idle()
	require.Len(t, s.Calls(""), 1, "the post")
}

func TestSignsAreSkippedWhileSlackAsksToWait(t *testing.T) {
	t.Parallel()
	s := setupStage(t, draftless)
	statusless(s)
	s.RateLimit("reactions.add", slacktest.Always, time.Hour)
	first := s.ask(slacktest.General)
	s.await(func() bool { return len(s.Calls("reactions.add")) == 1 })
	s.answer(first, "yes")
	s.idle()
	second := s.ask(slacktest.General)
	s.answer(second, "yes too")
	s.idle()
	s.final(first, "yes")
	s.final(second, "yes too")
	require.Len(t, s.Calls("reactions.add"), 1)
}
