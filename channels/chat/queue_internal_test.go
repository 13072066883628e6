package chat

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A connection hands over messages while the receiver already waits for the last ones.
func TestJobsMayBeAddedWhileOthersAreWaitedFor(t *testing.T) {
	t.Parallel()
	for range 100 {
		q := newQueues()
		require.NoError(t, q.drain(), "none yet")
		var adding sync.WaitGroup
		ended := make(chan error, 2)
		for _, conversation := range []string{"c1", "c2"} {
			adding.Go(func() { q.add(t.Context(), conversation, func() {}, func(err error) { ended <- err }) })
		}
		require.NoError(t, q.drain())
		adding.Wait()
		<-q.over()
		require.Len(t, ended, 2, "a job is over once that was told")
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
	}
}
