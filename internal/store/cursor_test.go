package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/store"
)

func cursors(t *testing.T, b *bundle) {
	read := func(channel, name string) string {
		cursor, err := b.Cursor(t.Context(), channel, name)
		require.NoError(t, err)
		return cursor
	}
	require.Empty(t, read("mail", "inbox"))
	require.NoError(t, b.SetCursor(t.Context(), "mail", "inbox", "7/41"))
	require.NoError(t, b.SetCursor(t.Context(), "mail", "inbox", "7/42"))
	require.NoError(t, b.SetCursor(t.Context(), "mail", "spam", "é \"quoted\""))
	require.NoError(t, b.SetCursor(t.Context(), "chat", "inbox", "x"))
	require.Equal(t, "7/42", read("mail", "inbox"))
	require.Equal(t, "é \"quoted\"", read("mail", "spam"))
	require.Equal(t, "x", read("chat", "inbox"))
}

func admitting(t *testing.T, b *bundle) {
	for range 2 {
		require.NoError(t, b.Admit(t.Context(), "wechat", "ana", "Ana"))
	}
	require.NoError(t, b.Admit(t.Context(), "wechat", "ben", "Ben"))
	_, err := b.Pair(t.Context(), store.Pairing{Channel: "wechat", Sender: "cem", Name: "Cem", Code: "CODE"})
	require.NoError(t, err)
	require.NoError(t, b.Admit(t.Context(), "wechat", "cem", "Cem"))
	for _, sender := range []string{"ana", "ben", "cem"} {
		paired, err := b.Paired(t.Context(), "wechat", sender)
		require.NoError(t, err)
		require.True(t, paired, sender)
	}
	require.NoError(t, b.DropPairing(t.Context(), "wechat", "ana"))
	paired, err := b.Paired(t.Context(), "wechat", "ana")
	require.NoError(t, err)
	require.False(t, paired)
}
