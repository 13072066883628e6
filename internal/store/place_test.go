package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/store"
)

func places(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	require.NoError(t, b.EnterPlace(t.Context(), session, "one"))
	require.NoError(t, b.EnterPlace(t.Context(), session, "two"))
	place, servers, err := b.SessionPlaces(t.Context(), session)
	require.NoError(t, err)
	require.Empty(t, servers)
	require.Equal(t, "two", place)
	require.NoError(t, b.LeavePlace(t.Context(), session, "one"))
	placed, err := b.Placed(t.Context())
	require.NoError(t, err)
	require.Equal(t, []store.Placed{{Session: session, Place: "two"}}, placed)
	require.NoError(t, b.LeavePlace(t.Context(), session, "two"))
	placed, err = b.Placed(t.Context())
	require.NoError(t, err)
	require.Empty(t, placed)
	place, _, err = b.SessionPlaces(t.Context(), "none")
	require.NoError(t, err)
	require.Empty(t, place)

	for _, move := range []struct{ from, to, at string }{{"", "one", "one"}, {"", "two", "one"}, {"one", "two", "two"}} {
		servers, err = b.MoveServers(t.Context(), session, move.from, move.to)
		require.NoError(t, err)
		require.Equal(t, move.at, servers)
	}
	for _, left := range []struct{ place, at string }{{"one", "two"}, {"two", ""}} {
		require.NoError(t, b.LeaveServers(t.Context(), left.place))
		_, servers, err = b.SessionPlaces(t.Context(), session)
		require.NoError(t, err)
		require.Equal(t, left.at, servers)
	}
}
