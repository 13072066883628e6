package chat_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// shown is a turn that the in-memory channel shows.
type shown struct {
	*channeltest.Memory
	t      *testing.T
	ctx    context.Context
	turn   channels.PresentedTurn
	drafts *channeltest.Drafts
}

func show(t *testing.T) *shown {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	s := &shown{Memory: channeltest.NewMemory("memory"), t: t, ctx: ctx, drafts: channeltest.NewDrafts()}
	s.ShowDrafts(chat.Pace{Notice: tick, Draft: tick, Edit: tick, Retry: tick, Call: deadline})
	s.turn = channels.PresentedTurn{
		ID: "m1", Reply: "o1", Drafts: s.drafts,
		Messages: []domain.Inbound{{PlatformID: "1", Chat: "ops", Sender: "ana", Push: true}},
	}
	return s
}

// awaitText waits until the one message in the chat has a text.
func (s *shown) awaitText(text string) {
	s.t.Helper()
	require.Eventually(s.t, func() bool {
		posted := s.Posted()
		return len(posted) == 1 && posted[0].Text == text
	}, deadline, tick)
}

// reply sends the reply of the turn, as the outbox does.
func (s *shown) reply(text string) channels.Sent {
	s.t.Helper()
	sent, err := s.Send(s.ctx, domain.Outbound{ID: "o1", Channel: "memory", Chat: "ops", Text: text, Draft: s.drafts.Take("m1")})
	require.NoError(s.t, err)
	return sent
}

func text(words string) event.Event { return event.Event{Kind: event.Text, Text: words} }

func TestADraftBecomesTheReply(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.Present(s.turn)
	s.Show("m1", text("one"))
	s.awaitText("one")
	s.Show("m1", event.Event{Kind: event.Reset})
	s.Show("m1", text("two"))
	s.awaitText("two")
	s.Pause(s.ctx, "m1")
	require.Equal(t, "p1", s.reply("three").PlatformID)
	s.Show("m1", text("late"))
	s.awaitText("three")
	found, err := s.Find(s.ctx, domain.Outbound{ID: "o1", Chat: "ops"})
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: "p1"}, found)
}

func TestADraftWhosePostIsNotAnsweredIsFound(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.LoseResponse(1)
	s.Present(s.turn)
	s.Show("m1", text("one"))
	s.awaitText("one")
	require.Eventually(t, func() bool {
		draft, err := s.drafts.Draft(s.ctx, "m1")
		return err == nil && draft.PlatformID == "p1"
	}, deadline, tick)
	s.Pause(s.ctx, "m1")
	s.reply("two")
	s.awaitText("two")
}

func TestADraftIsDiscarded(t *testing.T) {
	t.Parallel()
	s := show(t)
	s.Present(s.turn)
	s.Show("m1", text("one"))
	s.awaitText("one")
	s.Pause(s.ctx, "m1")
	require.NoError(t, s.Discard(s.ctx, domain.Draft{Turn: "m1", Chat: "ops", ClaimedAt: time.Now()}))
	require.Empty(t, s.Posted())
}

// measured is a platform with a limit of a message's length.
type measured struct {
	*plain
	limits chat.Limits
}

func (m measured) Limits() chat.Limits { return m.limits }

func TestPartsAreMeasuredByThePlatform(t *testing.T) {
	t.Parallel()
	emoji := strings.Repeat("😀 ", 400) // 800 runes, 1,200 UTF-16 units, 2,000 bytes
	for name, tt := range map[string]struct {
		measure func(string) int
		parts   int
	}{
		"runes": {nil, 1}, "UTF-16 units": {chat.UTF16, 2}, "bytes": {chat.Bytes, 2},
	} {
		out := chat.NewOutbound(measured{newPlain(), chat.Limits{Text: 1000, Measure: tt.measure}}, chat.OutboundOptions{})
		parts := out.Split(emoji)
		require.GreaterOrEqual(t, len(parts), tt.parts, name)
		var all strings.Builder
		for _, part := range parts {
			if tt.measure != nil {
				require.LessOrEqual(t, tt.measure(part.Text), 1000, name)
			}
			all.WriteString(part.Text + " ")
		}
		require.Equal(t, strings.Fields(emoji), strings.Fields(all.String()), name)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	reply := chat.Message{ID: "o1", Text: "one"}
	require.Len(t, reply.Key(), 32)
	require.Equal(t, reply.Key(), chat.Message{ID: "o1", Text: "two"}.Key())
	require.NotEqual(t, reply.Key(), chat.Message{ID: "o2", Text: "one"}.Key())
	require.NotEqual(t, reply.Key(), chat.Message{ID: "o1", Draft: true}.Key(), "else the reply would be taken for its draft")
	require.Zero(t, chat.NewOutbound(newPlain(), chat.OutboundOptions{}).KeyLasts())
}

func TestAQuestionWithoutButtonsSaysHowToAnswer(t *testing.T) {
	t.Parallel()
	p := newPlain()
	_, err := chat.NewOutbound(p, chat.OutboundOptions{}).Send(t.Context(), domain.Outbound{ID: "o1", Chat: "ops", Text: "May I?", Approval: "abcdefgh"})
	require.NoError(t, err)
	require.Contains(t, p.all()[0].text, "Answer `/approve abcdefgh`")
}
