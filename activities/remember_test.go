package activities_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/memory"
)

func TestFullWindowStartsConsolidation(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Text("one"), llmtest.Text("two"), calls(1, "noop", `{}`), llmtest.Text("three"))
	b.remembering(t)
	var asked []string
	b.options.Model.Window = 4
	b.options.Memory.Consolidate = func(_ context.Context, scope string) error {
		asked = append(asked, scope)
		return nil
	}
	var err error
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	for i, id := range []string{"m8", "m9"} { // two messages each
		b.accept(t, id, "hi", false)
		_, err := b.complete(t, id, 1, id)
		require.NoError(t, err)
		require.Len(t, asked, i, "with the fourth message, and not before")
	}
	require.Equal(t, []string{"workspace"}, asked)

	b.asked(t)
	require.Len(t, asked, 1, "not in the middle of a turn")
	_, err = b.complete(t, "m1", 2)
	require.NoError(t, err)
	require.Len(t, asked, 2)
}

// TestFullWindowOfTwoMemoriesStartsNoConsolidation has two people fill a window to whose
// memories neither has contributed enough.
func TestFullWindowOfTwoMemoriesStartsNoConsolidation(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Text("one"), llmtest.Text("two"), llmtest.Text("three"))
	b.remembering(t)
	b.options.Model.Window = 4
	b.options.Memory.Scope = func(_, _, sender string) memory.Scope {
		return memory.Scope{Kind: memory.Sender, Channel: "test", ID: sender}
	}
	var asked []string
	b.options.Memory.Consolidate = func(_ context.Context, scope string) error {
		asked = append(asked, scope)
		return nil
	}
	var err error
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	say := func(id, sender string) {
		_, _, err := b.store.Accept(t.Context(), domain.Inbound{
			ID: id, Session: session.Key, Channel: session.Channel, Chat: "c1", Sender: sender, Text: "hi",
		})
		require.NoError(t, err)
		_, err = b.complete(t, id, 1, id)
		require.NoError(t, err)
	}
	say("m1", "ana")
	say("m2", "ben")
	require.Empty(t, asked)
	say("m3", "ana")
	require.Len(t, asked, 1)
	require.Contains(t, asked[0], "ana")
}
