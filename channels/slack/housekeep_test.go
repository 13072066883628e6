package slack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// left is a message whose draft was left behind by a process that died.
func left(s *stage, channel string, recorded bool) (asked, slacktest.Message) {
	s.t.Helper()
	a := s.ask(channel)
	s.emit(a, reset, text("half"))
	draft := s.drafted(a, says("half"))
	s.stop()
	if !recorded {
		require.NoError(s.t, s.backend.DropDraft(s.ctx, a.id))
		_, err := s.backend.ClaimDraft(s.ctx, a.id)
		require.NoError(s.t, err)
	}
	return a, draft
}

func TestStaleDraftsAreRemoved(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		channel  string
		recorded bool
	}{
		{name: "a post", channel: slacktest.DM, recorded: true},
		{name: "a stream", channel: slacktest.General, recorded: true},
		{name: "a post that nobody knows of", channel: slacktest.DM, recorded: false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			a, draft := left(s, tt.channel, tt.recorded)
			s.backend.End(a.id, channeltest.Answer{})
			s.channel, s.stop = s.open(drafting)
			s.await(func() bool { return s.Message(tt.channel, draft.TS).TS == "" })
			s.await(func() bool {
				stale, err := s.backend.StaleDrafts(s.ctx, slack.Name)
				return err == nil && len(stale) == 0
			})
		})
	}
}

func TestABlankStreamThatNobodyKnowsOfIsRemoved(t *testing.T) {
	t.Parallel()
	for _, ended := range []bool{true, false} {
		t.Run(map[bool]string{true: "ended by Slack", false: "still open"}[ended], func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			a := s.ask(slacktest.General)
			s.emit(a, reset)
			draft := s.drafted(a, anyMessage)
			require.True(t, draft.Streamed)
			s.stop()
			require.NoError(t, s.backend.DropDraft(s.ctx, a.id))
			_, err := s.backend.ClaimDraft(s.ctx, a.id)
			require.NoError(t, err)
			if ended {
				s.EndStream(slacktest.General, draft.TS, false)
			}
			s.backend.End(a.id, channeltest.Answer{})
			s.channel, s.stop = s.open(drafting)
			s.await(func() bool { return s.Message(slacktest.General, draft.TS).TS == "" })
		})
	}
}

func TestTheBlankStreamOfALaterTurnIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	first := s.accept(slacktest.General)
	_, err := s.backend.ClaimDraft(s.ctx, first.id)
	require.NoError(t, err)

	later := first
	later.msg.PlatformID = s.Say(slacktest.Ana, slacktest.General, "and this", slacktest.InThread(first.msg.Thread)).TS
	accepted, err := s.backend.Accept(s.ctx, later.msg)
	require.NoError(t, err)
	later.id = accepted.Message
	s.channel.Follow(s.backend, later.id, later.msg)
	s.emit(later, reset)
	draft := s.drafted(later, anyMessage)
	s.await(func() bool { return s.channel.OpenDrafts() == 1 })

	s.backend.End(first.id, channeltest.Answer{})
	s.await(func() bool {
		stale, err := s.backend.StaleDrafts(s.ctx, slack.Name)
		return err == nil && len(stale) == 0
	})
	require.Empty(t, s.Calls("chat.delete"))
	s.answer(later, "done")
	s.idle()
	require.Equal(t, "done", s.Message(slacktest.General, draft.TS).Text)
}

func TestStaleDraftsAreRemovedOnceThatWorks(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a, draft := left(s, slacktest.DM, true)
	s.backend.End(a.id, channeltest.Answer{})
	s.Fail("chat.delete", 2, slacktest.Fault{Status: 500})
	s.channel, s.stop = s.open(drafting)
	s.await(func() bool { return s.Message(slacktest.DM, draft.TS).TS == "" })
	require.Len(t, s.Calls("chat.delete"), 3)
}

func TestDraftsThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	a, draft := left(s, slacktest.DM, true)
	s.Delete(slacktest.DM, draft.TS)
	s.backend.End(a.id, channeltest.Answer{})
	s.channel, s.stop = s.open(drafting)
	s.await(func() bool {
		stale, err := s.backend.StaleDrafts(s.ctx, slack.Name)
		return err == nil && len(stale) == 0
	})
	require.Len(t, s.Calls("chat.delete"), 1)
}

func TestOtherDraftsAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := setupStage(t, drafting)
	_, draft := left(s, slacktest.DM, true)
	s.channel, s.stop = s.open(drafting)
	require.Never(t, func() bool { return len(s.Calls("chat.delete")) > 0 }, 100*time.Millisecond, 5*time.Millisecond)
	require.Equal(t, draft.TS, s.Message(slacktest.DM, draft.TS).TS, "its turn runs still")
}
