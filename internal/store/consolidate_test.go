package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// consolidate checks what is taken into the memory when: nothing of a session that
// has less than a window, else all but the newest half of it, in whole turns. What
// was taken in is not shown to the model any more.
func consolidate(t *testing.T, b *bundle) {
	const window, scope = 10, "scope"
	said := 0
	say := func(turns int) {
		for range turns {
			said++
			id := fmt.Sprintf("m%02d", said)
			b.accept(t, id)
			input := step(id, 1, id)
			input.Scope = func(domain.Inbound) string { return scope }
			b.begin(t, input)
			b.complete(t, id, 1)
		}
	}
	// work is a turn of n messages.
	work := func(id string, n int) {
		b.accept(t, id)
		input := step(id, 1, id)
		input.Scope = func(domain.Inbound) string { return scope }
		b.begin(t, input)
		b.complete(t, id, 1, make([]string, n-3)...)
		for i := range n - 3 {
			_, err := b.SaveResult(t.Context(), resultOf(id, i, "ok"))
			require.NoError(t, err)
		}
		b.complete(t, id, 2)
	}
	next := func(limit int) (store.Batch, bool) {
		batch, found, err := b.NextBatch(t.Context(), scope, window, limit)
		require.NoError(t, err)
		return batch, found
	}

	say(4) // two messages each
	_, found := next(100)
	require.False(t, found, "less than a window")
	say(1)
	batch, found := next(100)
	require.True(t, found, "a window")
	require.Equal(t, []string{"m01", "m02"}, batch.Turns, "no less than half a window stays")
	say(1)
	batch, found = next(100)
	require.True(t, found)
	require.Equal(t, []string{"m01", "m02", "m03"}, batch.Turns)
	require.Equal(t, []string{"u: text of m01", "a: m01 says 1"}, contents(batch.Messages)[:2])
	again, _ := next(100)
	require.Equal(t, batch, again, "until it is recorded")
	small, _ := next(4)
	require.Equal(t, []string{"m01", "m02"}, small.Turns)
	require.NotEqual(t, batch.ID, small.ID)

	require.NoError(t, b.MarkConsolidated(t.Context(), batch.Turns))
	_, found = next(100)
	require.False(t, found, "they are taken in")
	_, found, err := b.NextBatch(t.Context(), "another", window, 100)
	require.NoError(t, err)
	require.False(t, found)

	b.accept(t, "m98")
	history := contents(b.begin(t, step("m98", 1, "m98")).History)
	require.Equal(t, []string{"u: text of m04", "a: m04 says 1"}, history[:2])
	require.Len(t, history, 3*2+1, "what was taken in is not shown again")
	b.complete(t, "m98", 1) // it has no scope
	work("m07", 8)
	batch, found = next(100)
	require.True(t, found)
	require.Equal(t, []string{"m04", "m05", "m06"}, batch.Turns, "a long turn that is the newest stays")
	require.NoError(t, b.MarkConsolidated(t.Context(), batch.Turns))
	work("m08", 12)
	batch, found = next(100)
	require.True(t, found)
	require.Equal(t, []string{"m07", "m08"}, batch.Turns, "one that no window shows does not")
	require.NoError(t, b.MarkConsolidated(t.Context(), batch.Turns[:1]))

	b.accept(t, "m99")
	_, _, err = b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "m99", Reply: "New.", Reset: true})
	require.NoError(t, err)
	batch, found = next(100)
	require.True(t, found)
	require.Equal(t, []string{"m08"}, batch.Turns, "a fresh start leaves nothing behind")
}
