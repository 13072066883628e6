package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/starter"
)

// TestOrder has two starters, one of which cannot signal, accept more messages behind one
// slow call than the session's queue has room for. They are answered in the order of
// acceptance.
func TestOrder(t *testing.T) {
	t.Parallel()
	const messages, starters = 700, 2
	release := make(chan struct{})
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if strings.HasPrefix(r.LastUser(), "slow") {
			return llmtest.Text("slow").After(release)
		}
		return llmtest.Text("answered")
	})
	n := startNode(t, model.URL)
	first := n.send(t, "main", "", "slow")
	require.NoError(t, model.Await(t.Context(), 1))

	mute := anotherStarter(t, n, silent{n.client})
	var accepting sync.WaitGroup
	for i, s := range []*starter.Starter{n.starter, mute} {
		accepting.Go(func() {
			for m := range messages / starters {
				acceptText(t, s, fmt.Sprintf("%d.%d", i, m))
			}
		})
	}
	accepting.Wait()
	acceptText(t, n.starter, "last")
	accepted, err := n.store.Pending(t.Context(), "http:main", 0, 1<<62, 2*messages)
	require.NoError(t, err)
	require.Len(t, accepted, messages+1)
	require.True(t, slices.IsSortedFunc(accepted, func(a, b domain.Inbound) int { return cmp.Compare(a.Seq, b.Seq) }))
	close(release)

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	require.Equal(t, "slow", n.await(t, first).Text)
	require.Equal(t, "answered", n.awaitLong(ctx, t, "last").Text)
	var want, got []string
	for _, m := range accepted {
		want = append(want, m.ID)
	}
	rows, err := n.store.Transcript(t.Context(), "http:main", -1, 0)
	require.NoError(t, err)
	for _, row := range rows[1:] {
		if row.Role == domain.RoleUser {
			got = append(got, row.Source)
		}
	}
	require.Equal(t, want, got)
}

// acceptText has a starter accept a message, and signal it if it can.
func acceptText(t *testing.T, s *starter.Starter, text string) {
	t.Helper()
	_, err := s.Accept(t.Context(), domain.Inbound{Channel: "http", PlatformID: text, Chat: "main", Sender: "ana", Text: text})
	assert.NoError(t, err)
}

// silent is a connection whose signals do not arrive.
type silent struct{ client.Client }

func (silent) SignalWithStartWorkflow(
	context.Context, string, string, any, client.StartWorkflowOptions, any, ...any,
) (client.WorkflowRun, error) {
	return nil, errors.New("the network is down")
}

// anotherStarter is a starter of another process on the same store, with its own
// connection to Temporal.
func anotherStarter(t *testing.T, n *testNode, sdk client.Client) *starter.Starter {
	t.Helper()
	d, err := dispatch.NewDispatcher(dispatch.Options{
		Client: dispatch.New(sdk, "default", n.Temporal.Names()), Store: n.store, Events: n.Events, Model: "scripted/model", Limits: protocol.NewLimits(40, 0),
	})
	require.NoError(t, err)
	s, err := starter.New(starter.Options{Dispatcher: d, Store: n.store, Events: n.Events, Steer: true})
	require.NoError(t, err)
	return s
}
