package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// said checks when a turn that wrote to its own chat has no reply beside.
func said(t *testing.T, b *bundle) {
	write := func(id, turn, chat string, sent bool) {
		require.NoError(t, b.Send(t.Context(), domain.Outbound{ID: id, Turn: turn, Channel: channel, Chat: chat, Thread: "t1", Text: "hello"}))
		if sent {
			out, err := b.ClaimOutbox(t.Context(), id)
			require.NoError(t, err)
			require.NoError(t, b.MarkSent(t.Context(), id, out.Fence, "p"))
		}
	}
	for id, tt := range map[string]struct {
		chat   string
		sent   bool
		joined bool // another message joined after it
		silent bool
	}{
		"m1": {chat: "c1", sent: true, silent: true},
		"m2": {chat: "c1", sent: false},
		"m3": {chat: "c2", sent: true},
		"m4": {chat: "c1", sent: true, joined: true},
	} {
		b.accept(t, id)
		b.begin(t, step(id, 1, id))
		b.complete(t, id, 1, "message")
		write("o"+id+".1.0", id, tt.chat, tt.sent)
		if tt.joined {
			b.accept(t, id+"-more")
			b.begin(t, step(id, 2, id+"-more"))
		}
		_, outbox := b.complete(t, id, 2)
		require.Equal(t, tt.silent, outbox == "", id)
	}
	require.ErrorIs(t, b.Send(t.Context(), domain.Outbound{ID: "late", Turn: "m1", Channel: channel, Chat: "c1", Text: "late"}), store.ErrTurnEnded)
}
