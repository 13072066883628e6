package spawn_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/spawn"
)

// recorder is a [spawn.Store] that keeps its last input.
type recorder struct {
	in  store.SpawnInput
	err error
}

func (r *recorder) Spawn(_ context.Context, in store.SpawnInput) (domain.Subagent, error) {
	r.in = in
	return domain.Subagent{ID: in.ID, Label: in.Label}, r.err
}

func run(t *testing.T, r *recorder, arguments string) (string, error) {
	t.Helper()
	made := spawn.New(r)
	require.NoError(t, made.Err())
	result, err := made.Run(t.Context(), tool.Call{Key: "turn.2.0", Arguments: json.RawMessage(arguments)})
	return result.Text, err
}

func TestSpawn(t *testing.T) {
	t.Parallel()
	var r recorder
	text, err := run(t, &r, `{"task":"read the whole\nhandbook and list its contradictions"}`)
	require.NoError(t, err)
	require.Contains(t, text, `Started subagent "read the whole handbook and li…"`)
	require.Equal(t, store.SpawnInput{
		ID: "turn.2.0", Turn: "turn", Label: "read the whole handbook and li…",
		Task: "read the whole\nhandbook and list its contradictions", Limit: 5,
	}, r.in)
	_, err = run(t, &r, `{"task":"count","label":" numbers "}`)
	require.NoError(t, err)
	require.Equal(t, "numbers", r.in.Label)
}

func TestSpawnRefuses(t *testing.T) {
	t.Parallel()
	_, err := run(t, &recorder{}, `{"task":" "}`)
	require.ErrorContains(t, err, "task is empty")
	_, err = run(t, &recorder{err: store.ErrTooMany}, `{"task":"x"}`)
	require.ErrorContains(t, err, "5 subagents are already running")
	require.NotErrorIs(t, err, tool.ErrRetry)
	_, err = run(t, &recorder{err: errors.New("database is away")}, `{"task":"x"}`)
	require.ErrorIs(t, err, tool.ErrRetry)
}
