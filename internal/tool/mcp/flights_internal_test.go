package mcp

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// TestAnswerIsKeptForTheNextAttempt has the first attempt take the answer after the next one
// learned that the call is under way, and before it joins.
func TestAnswerIsKeptForTheNextAttempt(t *testing.T) {
	t.Parallel()
	var f flights
	begun, finish := make(chan struct{}, 2), make(chan struct{})
	join := func() tool.Result {
		result, err := f.join(t.Context(), tool.Call{Key: "k"}, func(context.Context, tool.Call) (tool.Result, error) {
			begun <- struct{}{}
			<-finish
			return tool.Result{Text: "done"}, nil
		})
		require.NoError(t, err)
		return result
	}
	require.False(t, f.expect("k"))
	first := make(chan tool.Result)
	go func() { first <- join() }()
	<-begun
	require.True(t, f.expect("k"))
	close(finish)
	require.Equal(t, "done", (<-first).Text)
	require.Equal(t, "done", join().Text)
	require.Empty(t, begun, "the call was made once")
}

func TestPanicEndsOnlyTheCall(t *testing.T) {
	t.Parallel()
	h := &home{log: slog.New(slog.DiscardHandler)}
	called := h.at(tool.Tool{Run: func(context.Context, tool.Call) (tool.Result, error) { panic("oops") }}, always)
	_, err := called.Run(t.Context(), tool.Call{Key: "k"})
	require.ErrorContains(t, err, "outcome is unknown: oops")
}
