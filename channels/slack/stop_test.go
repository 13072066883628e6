package slack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestSlacksOwnStopButton(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{slack: hasty})
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
		d := r.acked(r.StopAgent(slacktest.Ana, slacktest.General, root))
		r.acked(r.Redeliver(d.Events[0].ID))
		require.Equal(t, "/stop", r.accepted(2).Text)
		require.Equal(t, root, r.accepted(2).Thread)
		require.Equal(t, slacktest.Ana, r.accepted(2).Sender)
		r.acked(r.StopAgent(slacktest.Ben, slacktest.General, root))
		require.Len(t, r.backend.Accepted(), 2, "whoever is not let in stops nothing")
		require.ErrorIs(t, r.SendEvent(map[string]any{"type": "agent_session_stopped", "channel": slacktest.General}).Wait(r.ctx), slacktest.ErrNotAcknowledged)
	})
}

// kept requires that a message shows what was written and that it was stopped.
func (s *stage) kept(a asked, ts, written string) {
	s.t.Helper()
	m := s.Message(a.channel, ts)
	require.False(s.t, m.Streaming)
	require.Equal(s.t, written+"\n\nStopped", m.Text)
	require.NotContains(s.t, string(m.Blocks), "holdfast_stop")
	parts := partsOf(s.t, m)
	require.Equal(s.t, "context", parts[len(parts)-1].Type)
}

func TestAStoppedAnswerStays(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]string{"streamed": slacktest.General, "edited": slacktest.DM} {
		for where, elsewhere := range map[string]bool{"here": false, "in another process": true} {
			for how, byUser := range map[string]bool{"": false, " by Slack's button": true} {
				t.Run(name+" "+where+how, func(t *testing.T) {
					t.Parallel()
					s := setupStage(t, drafting)
					a := s.ask(channel)
					s.emit(a, text("One, two, "))
					draft := s.drafted(a, func(m slacktest.Message) bool { return m.Text == "One, two, " || m.Text == "One, two," })
					s.channel.Pause(s.ctx, a.id)
					if byUser {
						s.StopAgent(slacktest.Ana, channel, a.msg.Thread)
					}
					c := s.channel
					if elsewhere {
						c = s.open(drafting)
					}
					d := domain.Draft{Turn: a.id, Chat: a.msg.Chat, Thread: a.msg.Thread, PlatformID: draft.TS, ClaimedAt: time.Now()}
					for range 2 {
						kept, err := c.Keep(s.ctx, d, "Stopped")
						require.NoError(t, err)
						require.True(t, kept)
						s.kept(a, draft.TS, "One, two,")
					}
					found, err := c.Find(s.ctx, domain.Outbound{ID: d.Reply(), Chat: a.msg.Chat, Thread: a.msg.Thread})
					require.NoError(t, err)
					require.Empty(t, found, "it is not the reply")
				})
			}
		}
	}
}

func TestADraftWithoutAWordIsNotKept(t *testing.T) {
	t.Parallel()
	for where, elsewhere := range map[string]bool{"here": false, "in another process": true} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := setupStage(t, drafting)
			a := s.ask(slacktest.DM)
			s.emit(a, tool("exec", "sleep 9"))
			draft := s.drafted(a, anyMessage)
			s.channel.Pause(s.ctx, a.id)
			c := s.channel
			if elsewhere {
				c = s.open(drafting)
			}
			d := domain.Draft{Turn: a.id, Chat: a.msg.Chat, Thread: a.msg.Thread, PlatformID: draft.TS, ClaimedAt: time.Now()}
			kept, err := c.Keep(s.ctx, d, "Stopped")
			require.NoError(t, err)
			require.False(t, kept)
			require.NoError(t, c.Discard(s.ctx, d))
			require.Empty(t, s.Posted())
			kept, err = c.Keep(s.ctx, d, "Stopped")
			require.NoError(t, err)
			require.False(t, kept, "it is gone")
		})
	}
}
