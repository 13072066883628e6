package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/recall"
)

// archive is what was said before.
type archive struct {
	history  map[string][]string // by scope
	messages []store.Recalled
	err      error
}

func (*archive) Route(context.Context, string) (domain.Route, error) {
	return domain.Route{Channel: "slack", Chat: "C1", Sender: "U1"}, nil
}

func (a *archive) Recall(_ context.Context, scope, exceptTurn string, _ []string, _ int) ([]store.Recalled, error) {
	if scope != "sender-slack-U1" || exceptTurn != "turn" {
		return nil, errors.New("unexpected scope or turn")
	}
	return a.messages, a.err
}

func (a *archive) Search(scope memory.Scope, _ []string, _ int) ([]string, error) {
	return a.history[scope.String()], nil
}

func run(t *testing.T, a *archive, query string) (string, error) {
	t.Helper()
	made := recall.New(recall.Options{Store: a, History: a, Scope: func(channel, _, sender string) memory.Scope {
		return memory.Scope{Kind: memory.Sender, Channel: channel, ID: sender}
	}})
	require.NoError(t, made.Err())
	require.True(t, made.ReadOnly)
	arguments, err := json.Marshal(map[string]string{"query": query})
	require.NoError(t, err)
	result, err := made.Run(t.Context(), tool.Call{Key: "turn.1.0", Arguments: arguments})
	return result.Text, err
}

func TestSearch(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 15, 30, 0, 0, time.Local)
	text, err := run(t, &archive{
		history: map[string][]string{"sender-slack-U1": {"[2026-03-04] Ana chose\nthe name."}, "workspace": {"Offices moved."}},
		messages: []store.Recalled{
			{Role: domain.RoleUser, SenderName: "Ana", CreatedAt: at, Snippet: "call it\nHoldfast"},
			{Role: domain.RoleAssistant, CreatedAt: at, Snippet: "fine"},
			{Role: domain.RoleUser, CreatedAt: at, Snippet: "thanks"},
		},
	}, "name")
	require.NoError(t, err)
	require.Equal(t, `From the history:
- [2026-03-04] Ana chose the name.
- Offices moved.
Said before:
- 2026-03-04 15:30, Ana: call it Holdfast
- 2026-03-04 15:30, you: fine
- 2026-03-04 15:30, the user: thanks`, text)
}

func TestSearchFindsNothing(t *testing.T) {
	t.Parallel()
	text, err := run(t, &archive{}, "name")
	require.NoError(t, err)
	require.Contains(t, text, "Nothing found")
	_, err = run(t, &archive{}, "  ")
	require.ErrorContains(t, err, "query is empty")
	_, err = run(t, &archive{err: errors.New("database is away")}, "name")
	require.ErrorIs(t, err, tool.ErrRetry)
}
