package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
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
