package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func undelivered(t *testing.T, b *bundle) {
	began := time.Now()
	b.whole(t, "m1")
	b.accept(t, "m2", "m3", "m4")
	_, _, err := b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "m2", Reply: "Nothing is running."})
	require.NoError(t, err)
	_, err = b.EndTurn(t.Context(), store.End{
		Session: session, Channel: channel, Turn: "m3", Messages: []string{"m3"}, Status: domain.TurnFailed, Reply: "failed",
	})
	require.NoError(t, err)
	b.begin(t, step("m4", 1, "m4"))
	require.NoError(t, b.Send(t.Context(), domain.Outbound{ID: "of a running turn", Turn: "m4", Channel: channel, Chat: "c1"}))
	_, err = b.SplitOutbox(t.Context(), "o1", []domain.Part{{Text: "one"}, {Text: "two"}})
	require.NoError(t, err)

	claim := func(before, due time.Time, since time.Time) (turns []string) {
		until := time.Now().Add(time.Minute)
		all, err := b.ClaimUndelivered(t.Context(), store.Claim{Before: before, Due: due, Until: until, Limit: 10}, since)
		require.NoError(t, err)
		for _, turn := range all {
			turns = append(turns, turn.ID)
		}
		return turns
	}
	soon := time.Now().Add(time.Second)
	require.Empty(t, claim(began, soon, time.Time{}), "they were stored a moment ago")
	require.Empty(t, claim(soon, soon, soon), "they are too old")
	require.Equal(t, []string{"m1", "m2", "m3"}, claim(soon, soon, began.Add(-time.Minute)))
	require.Empty(t, claim(soon, soon, time.Time{}), "they are claimed")
	late := soon.Add(time.Hour)
	require.Equal(t, []string{"m1", "m2", "m3"}, claim(soon, late, time.Time{}), "a claim ends")

	for id, mark := range map[string]func(out domain.Outbound) error{
		"m1": func(out domain.Outbound) error { return b.MarkSent(t.Context(), out.ID, out.Fence, "p1") },
		"m2": func(out domain.Outbound) error { return b.Keep(t.Context(), out.ID, out.Fence, "the window is closed") },
		"m3": func(domain.Outbound) error { return nil },
	} {
		out, err := b.ClaimOutbox(t.Context(), domain.OutboxID(id))
		require.NoError(t, err)
		require.NoError(t, mark(out))
	}
	require.Equal(t, []string{"m3"}, claim(late, late, time.Time{}))
	require.Empty(t, claim(began, late, time.Time{}), "it may be being delivered")
}
