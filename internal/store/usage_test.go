package store_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// spend has a message of a session answered by a model, at a price; below 0 it is
// not known.
func (b *bundle) spend(t *testing.T, in domain.Inbound, model string, cost int64) {
	t.Helper()
	_, _, err := b.Accept(t.Context(), in)
	require.NoError(t, err)
	b.begin(t, store.BeginInput{Session: in.Session, Channel: in.Channel, Turn: in.ID, Step: 1, Messages: []string{in.ID}})
	b.pay(t, in.ID, model, cost)
}

func (b *bundle) pay(t *testing.T, turn, model string, cost int64) {
	t.Helper()
	c := completed(turn, 1)
	c.Model, c.Cached, c.Cost, c.Priced = model, 4, max(cost, 0), cost >= 0
	_, _, err := b.SaveCompletion(t.Context(), c)
	require.NoError(t, err)
}

// exec changes what no method does.
func (b *bundle) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(b.dsn, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, b.dsn)
	require.NoError(t, err)
	defer db.Close()
	_, err = db.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

func (b *bundle) usageBy(t *testing.T, q store.UsageQuery) []store.UsageRow {
	t.Helper()
	rows, err := b.Usage(t.Context(), q)
	require.NoError(t, err)
	return rows
}

// calls are so many of them, each of 10 and 2 tokens.
func calls(n int, cost int64, unpriced int) domain.Totals {
	return domain.Totals{Calls: n, CachedTokens: 4 * n, Spent: domain.Spent{
		Usage: domain.Usage{PromptTokens: 10 * n, CompletionTokens: 2 * n}, Cost: cost, Unpriced: unpriced,
	}}
}

func usageSums(t *testing.T, b *bundle) {
	require.Empty(t, b.usageBy(t, store.UsageQuery{By: store.UsageByDay}))
	b.spend(t, message("m1"), "gpt", 500)
	other := message("m2")
	other.Session, other.Sender = "test:c2", "bob"
	b.spend(t, other, "gpt-mini", -1)
	b.accept(t, "m3")
	b.begin(t, step("m3", 1, "m3"))
	child := b.spawn(t, "m3")
	grandchild := b.spawn(t, child.ID)
	b.pay(t, "m3", "gpt", 300)
	b.pay(t, child.ID, "tiny", 20)
	b.pay(t, grandchild.ID, "tiny", -1)
	consolidation := completed("", 0)
	consolidation.Model, consolidation.Cached, consolidation.Cost, consolidation.Priced = "gpt", 4, 40, true
	require.NoError(t, b.SaveConsolidation(t.Context(), store.Consolidation{ID: "c1", Session: session}, consolidation))

	require.Equal(t, []store.UsageRow{
		{Key: session, Totals: calls(5, 860, 1)}, {Key: "test:c2", Totals: calls(1, 0, 1)},
	}, b.usageBy(t, store.UsageQuery{By: store.UsageBySession}), "what subagents and consolidations spent is the conversation's")
	require.Equal(t, []store.UsageRow{
		{Key: "openai/gpt", Totals: calls(3, 840, 0)}, {Key: "openai/tiny", Totals: calls(2, 20, 1)}, {Key: "openai/gpt-mini", Totals: calls(1, 0, 1)},
	}, b.usageBy(t, store.UsageQuery{By: store.UsageByModel}))
	require.Equal(t, []store.UsageRow{
		{Key: "ana", Totals: calls(4, 820, 1)}, {Key: "", Totals: calls(1, 40, 0)}, {Key: "bob", Totals: calls(1, 0, 1)},
	}, b.usageBy(t, store.UsageQuery{By: store.UsageBySender}))
	require.Equal(t, []store.UsageRow{{Key: "ana", Totals: calls(4, 820, 1)}, {Key: "", Totals: calls(1, 40, 0)}},
		b.usageBy(t, store.UsageQuery{By: store.UsageBySender, Session: session}))
	require.Empty(t, b.usageBy(t, store.UsageQuery{By: store.UsageBySender, Session: "test:absent"}))
	require.Equal(t, []store.UsageRow{{Key: session, Totals: calls(4, 820, 1)}}, b.usageBy(t, store.UsageQuery{By: store.UsageBySession, Sender: "ana"}))
	require.Equal(t, []store.UsageRow{{Key: "test:c2", Totals: calls(1, 0, 1)}}, b.usageBy(t, store.UsageQuery{By: store.UsageBySession, Sender: "bob", Session: "test:c2"}))
	require.Empty(t, b.usageBy(t, store.UsageQuery{By: store.UsageBySession, Sender: "ana", Session: "test:c2"}))
	_, err := b.Usage(t.Context(), store.UsageQuery{By: "colour"})
	require.ErrorContains(t, err, "colour")

	found, err := b.Session(t.Context(), "test:c2")
	require.NoError(t, err)
	require.Zero(t, found.Cost)
	require.Equal(t, 1, found.Unpriced)
	found, err = b.Session(t.Context(), session)
	require.NoError(t, err)
	require.EqualValues(t, 800, found.Cost)
	require.Zero(t, found.Unpriced)
}

// spawn has a turn hand a task to a subagent, whose turn begins.
func (b *bundle) spawn(t *testing.T, turn string) domain.Turn {
	t.Helper()
	a, err := b.Spawn(t.Context(), store.SpawnInput{ID: domain.CallKey(turn, 1, 0), Turn: turn, Label: "it", Task: "do it", Limit: 9})
	require.NoError(t, err)
	task := domain.TaskMessage(a.ID)
	return b.begin(t, store.BeginInput{Session: a.Session, Channel: domain.SubagentChannel, Turn: task, Step: 1, Messages: []string{task}}).Turn
}

// chooseModel answers a command that does so.
func (b *bundle) chooseModel(t *testing.T, id, model string) {
	t.Helper()
	b.accept(t, id)
	in := store.AnswerInput{Session: session, Channel: channel, Message: id, Reply: "Done.", Model: &model}
	_, fresh, err := b.Answer(t.Context(), in)
	require.NoError(t, err)
	require.True(t, fresh)
}

func models(t *testing.T, b *bundle) {
	chosen := func() string {
		model, err := b.SessionModel(t.Context(), session)
		require.NoError(t, err)
		return model
	}
	require.Empty(t, chosen())
	b.accept(t, "m1", "m2", "m3", "m4")
	require.Empty(t, b.begin(t, step("m1", 1, "m1")).Turn.Model)
	b.chooseModel(t, "c1", "a/b")
	require.Equal(t, "a/b", chosen())
	require.Empty(t, b.begin(t, step("m1", 2)).Turn.Model, "a turn keeps its model")
	require.Empty(t, b.spawn(t, "m1").Model, "and its subagents have it")
	require.Equal(t, "a/b", b.begin(t, step("m2", 1, "m2")).Turn.Model)

	b.chooseModel(t, "c2", "c/d")
	child := b.spawn(t, "m2")
	require.Equal(t, "a/b", child.Model)
	require.Equal(t, "a/b", b.spawn(t, child.ID).Model)
	again := "a/b"
	_, fresh, err := b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "c1", Model: &again})
	require.NoError(t, err)
	require.False(t, fresh)
	require.Equal(t, "c/d", chosen(), "a command answered before changes nothing")
	require.Equal(t, "c/d", b.begin(t, step("m3", 1, "m3")).Turn.Model)

	b.chooseModel(t, "c3", "")
	require.Empty(t, b.begin(t, step("m4", 1, "m4")).Turn.Model)
	found, err := b.Session(t.Context(), session)
	require.NoError(t, err)
	require.Empty(t, found.Model)
	turn, err := b.Turn(t.Context(), "m3")
	require.NoError(t, err)
	require.Equal(t, "c/d", turn.Model)
}

func usageDays(t *testing.T, b *bundle) {
	zone := time.FixedZone("here", -(3*60+30)*60)
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, zone)
	for id, at := range map[string]time.Time{
		"m1": midnight.Add(-time.Microsecond), "m2": midnight, "m3": midnight.Add(24*time.Hour - time.Microsecond), "m4": midnight.Add(24 * time.Hour),
	} {
		b.spend(t, message(id), "gpt", 100)
		b.exec(t, `UPDATE usage SET created_at = $2 WHERE turn = $1`, id, at.UnixMicro())
	}
	require.Equal(t, []store.UsageRow{
		{Key: "2026-03-01", Totals: calls(1, 100, 0)}, {Key: "2026-03-02", Totals: calls(2, 200, 0)}, {Key: "2026-03-03", Totals: calls(1, 100, 0)},
	}, b.usageBy(t, store.UsageQuery{By: store.UsageByDay, Zone: zone}))
	require.Equal(t, []store.UsageRow{
		{Key: "2026-03-02", Totals: calls(2, 200, 0)}, {Key: "2026-03-03", Totals: calls(1, 100, 0)},
	}, b.usageBy(t, store.UsageQuery{By: store.UsageByDay, Zone: zone, Since: midnight}))
	require.Equal(t, []store.UsageRow{
		{Key: "2026-03-02", Totals: calls(2, 200, 0)}, {Key: "2026-03-03", Totals: calls(2, 200, 0)},
	}, b.usageBy(t, store.UsageQuery{By: store.UsageByDay}), "in UTC")
}
