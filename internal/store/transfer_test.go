package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// long is when an imported conversation was held.
var long = time.Date(2025, 2, 3, 10, 0, 0, 0, time.UTC)

// held is a conversation of two turns, the first of which uses a tool.
func held() store.Import {
	message := func(role domain.Role, step, second int, text string) domain.Message {
		return domain.Message{Step: step, Role: role, Content: text, CreatedAt: long.Add(time.Duration(second) * time.Second)}
	}
	asks, calls := message(domain.RoleUser, 1, 0, "list it"), message(domain.RoleAssistant, 1, 1, "")
	asks.Sender, asks.SenderName = "ana", "Ana"
	calls.ToolCalls = []domain.ToolCall{{ID: "c0", Name: "exec", Arguments: `{"command":"ls"}`}}
	result := message(domain.RoleTool, 1, 2, "a b…")
	result.CallID, result.Name, result.Full = "c0", "exec", []byte("a b c")
	return store.Import{
		Session: session, Route: domain.Route{Channel: channel, Chat: "c1"}, CreatedAt: long.Add(-time.Hour),
		Turns: []store.ImportTurn{
			{ID: "mi1", Past: true, Messages: []domain.Message{asks, calls, result, message(domain.RoleAssistant, 2, 3, "done")}},
			{ID: "mi2", Scope: "workspace", Messages: []domain.Message{message(domain.RoleUser, 1, 60, "thanks"), message(domain.RoleAssistant, 1, 61, "you are welcome")}},
		},
	}
}

func importOnce(t *testing.T, b *bundle) {
	for i := range 3 {
		added, err := b.Import(t.Context(), held())
		require.NoError(t, err)
		require.Equal(t, []int{2, 0, 0}[i], added)
	}
	rows := b.transcript(t)
	require.Equal(t, []string{"u: list it", "a: ", "t: a b…", "a: done", "u: thanks", "a: you are welcome"}, contents(rows))
	requireValid(t, rows)
	require.Equal(t, long, rows[0].CreatedAt)
	require.Equal(t, "Ana", rows[0].SenderName)

	found, err := b.Session(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, long.Add(-time.Hour), found.CreatedAt)
	require.WithinDuration(t, time.Now(), found.UpdatedAt, time.Minute, "it was used just now")
	turn, err := b.Turn(t.Context(), "mi1")
	require.NoError(t, err)
	require.Equal(t, domain.Turn{
		ID: "mi1", Session: session, Status: domain.TurnDone, Sender: "ana", Reply: "done", Steps: 2,
		StartedAt: long, EndedAt: long.Add(3 * time.Second),
	}, turn)
	running, err := b.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Empty(t, running)
}

func importRace(t *testing.T, b *bundle) {
	all(8, func(int) {
		if _, err := b.Import(t.Context(), held()); err != nil {
			t.Error(err)
		}
	})
	require.Len(t, b.transcript(t), 6)
}

func importGoesOn(t *testing.T, b *bundle) {
	_, err := b.Import(t.Context(), held())
	require.NoError(t, err)
	b.accept(t, "m1")
	history := b.begin(t, step("m1", 1, "m1")).History
	require.Equal(t, []string{"u: thanks", "a: you are welcome", "u: text of m1"}, contents(history), "the first turn is past")
	requireValid(t, history)
	b.complete(t, "m1", 1)
	require.Len(t, b.transcript(t), 8)
}

func importAppends(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	_, err := b.Import(t.Context(), held())
	require.ErrorIs(t, err, store.ErrSessionBusy)
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1)
	b.deliver(t, "o1")
	_, err = b.Import(t.Context(), held())
	require.ErrorIs(t, err, store.ErrNotEmpty)
	require.Len(t, b.transcript(t), 2)

	part := held()
	part.Append, part.Turns = true, part.Turns[:1]
	added, err := b.Import(t.Context(), part)
	require.NoError(t, err)
	require.Equal(t, 1, added)
	_, err = b.Import(t.Context(), held())
	require.ErrorIs(t, err, store.ErrNotEmpty)
	part = held()
	part.Append = true
	added, err = b.Import(t.Context(), part)
	require.NoError(t, err)
	require.Equal(t, 1, added)
	require.Equal(t, []string{
		"u: text of m1", "a: m1 says 1", "u: list it", "a: ", "t: a b…", "a: done", "u: thanks", "a: you are welcome",
	}, contents(b.transcript(t)))
	added, err = b.Import(t.Context(), held())
	require.NoError(t, err, "all of it is there")
	require.Zero(t, added)
}

func export(t *testing.T, b *bundle) {
	_, err := b.Export(t.Context(), session)
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = b.Import(t.Context(), held())
	require.NoError(t, err)
	b.accept(t, "m1", "m2", "m3")
	_, _, err = b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "m1", Reply: "New.", Reset: true})
	require.NoError(t, err)
	b.begin(t, step("m2", 1, "m2"))
	b.complete(t, "m2", 1)
	b.begin(t, step("m3", 1, "m3"))

	out, err := b.Export(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, 1, out.Session.Epoch)
	require.Equal(t, []store.ExportTurn{
		{ID: "mi1", Messages: 4, Past: true}, {ID: "mi2", Messages: 2, Past: true}, {ID: "m1", Past: true}, {ID: "m2", Messages: 2},
	}, out.Turns, "but for the one that runs")
	rows, err := b.ExportMessages(t.Context(), "mi1")
	require.NoError(t, err)
	require.Equal(t, []string{"u: list it", "a: ", "t: a b…", "a: done"}, contents(rows))
	require.Equal(t, "a b c", string(rows[2].Full))
	require.Empty(t, rows[1].Full)
	require.False(t, strings.Contains(contents(b.transcript(t))[0], "list it"))
}
