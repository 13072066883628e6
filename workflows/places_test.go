package workflows_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// TestCallsAreSentToTheirPlace has a tool call belong to one place and then to another. It
// is repeated there, and anywhere if the last place is silent.
func TestCallsAreSentToTheirPlace(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		b := setup(t)
		b.script(use([]string{"poke"}), say("done"))
		var tried [][]string
		b.env.OnActivity(protocol.CallToolActivity, mock.Anything, mock.Anything).Return(
			func(_ context.Context, in protocol.CallToolInput) (protocol.CallToolResult, error) {
				tried = append(tried, slices.Clone(in.Tried))
				switch {
				case len(tried) <= 2:
					return protocol.CallToolResult{Place: []string{"one", "two"}[len(tried)-1]}, nil
				case len(tried) == 3 && silent:
					return protocol.CallToolResult{}, temporal.NewTimeoutError(enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
				}
				return protocol.CallToolResult{Preview: "made"}, nil
			})
		require.NoError(t, b.run(msg("m1")))
		want := [][]string{nil, {"one"}, {"one", "two"}}
		if silent {
			want = append(want, []string{"one", "two"})
		}
		require.Equal(t, want, tried)
		require.Equal(t, []string{"done"}, b.posted())
	}
}
