package store_test

import (
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// deliver records that replies were posted.
func (b *bundle) deliver(t *testing.T, replies ...string) {
	t.Helper()
	for _, id := range replies {
		out, err := b.ClaimOutbox(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, b.MarkSent(t.Context(), id, out.Fence, "p"))
	}
}

// remove removes the suite's session in parts of at most limit turns, and returns the parts.
func (b *bundle) remove(t *testing.T, limit int) []store.Removal {
	t.Helper()
	var parts []store.Removal
	for {
		part, err := b.Removable(t.Context(), session, time.Time{}, limit)
		if len(parts) > 0 {
			if err != nil {
				require.ErrorIs(t, err, domain.ErrNotFound)
				return parts
			}
		}
		require.NoError(t, err)
		require.NoError(t, b.Remove(t.Context(), part))
		parts = append(parts, part)
	}
}

// dump is the text of all rows of each table.
func (b *bundle) dump(t *testing.T) map[string]string {
	t.Helper()
	driver, names := "sqlite", `SELECT name FROM sqlite_master WHERE type = 'table'`
	if strings.HasPrefix(b.dsn, "postgres") {
		driver, names = "pgx", `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
	}
	db, err := sql.Open(driver, b.dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	tables := map[string]string{}
	for _, name := range table(t, db, names) {
		tables[name[0]] = fmt.Sprint(table(t, db, `SELECT * FROM "`+name[0]+`"`))
	}
	return tables
}

// table is all that a query finds, as text.
func table(t *testing.T, db *sql.DB, query string) (all [][]string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(t, err)
	for rows.Next() {
		values, cells := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
		for i := range values {
			cells[i] = &values[i]
		}
		require.NoError(t, rows.Scan(cells...))
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = string(value)
		}
		all = append(all, row)
	}
	require.NoError(t, rows.Err())
	return all
}

func prompted(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	_, err := b.Prompt(t.Context(), "m1")
	require.ErrorIs(t, err, domain.ErrNotFound)
	b.complete(t, "m1", 1)
	text, err := b.Prompt(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, "be good", text)
	_, err = b.Prompt(t.Context(), "absent")
	require.ErrorIs(t, err, domain.ErrNotFound)
}

// secret is in all that a user of the session to be removed says and is told.
const secret = "tiger"

// told runs a turn that leaves a row wherever one can.
func (b *bundle) told(t *testing.T, id string) {
	t.Helper()
	in := message(id)
	in.Text, in.SenderName = "my word is "+secret, "Ana "+secret
	_, _, err := b.Accept(t.Context(), in)
	require.NoError(t, err)
	_, err = b.SaveEnriched(t.Context(), id, domain.Enriched{Text: secret})
	require.NoError(t, err)
	b.begin(t, step(id, 1, id))
	claimed, err := b.ClaimDraft(t.Context(), id)
	require.NoError(t, err)
	require.True(t, claimed)
	c := completed(id, 1, "exec", "spawn")
	c.Message.Content, c.Prompt = secret, "keep "+secret+" to yourself"
	_, _, err = b.SaveCompletion(t.Context(), c)
	require.NoError(t, err)
	_, _, err = b.Intend(t.Context(), store.Intent{Turn: id, Call: domain.CallKey(id, 1, 0), Data: []byte(secret)})
	require.NoError(t, err)
	result := resultOf(id, 0, secret)
	result.Full = []byte(secret + secret)
	_, err = b.SaveResult(t.Context(), result)
	require.NoError(t, err)
	_, err = b.SaveResult(t.Context(), resultOf(id, 1, secret))
	require.NoError(t, err)
	c = completed(id, 2)
	c.Prompt = "keep " + secret + " to yourself"
	_, _, err = b.SaveCompletion(t.Context(), c)
	require.NoError(t, err)
	b.deliver(t, domain.OutboxID(id))
}

func remove(t *testing.T, b *bundle) {
	other := message("x1")
	other.Session, other.Text = "test:c2", "stays"
	_, _, err := b.Accept(t.Context(), other)
	require.NoError(t, err)
	start := step("x1", 1, "x1")
	start.Session = other.Session
	b.begin(t, start)
	b.complete(t, "x1", 1)
	before := b.dump(t)

	for i := range 5 {
		b.told(t, fmt.Sprintf("m%d", i))
	}
	b.accept(t, "m5")
	_, _, err = b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "m5", Reply: secret, Reset: true, Silent: true})
	require.NoError(t, err)

	for _, id := range []string{"j1", "j2"} {
		_, err = b.AddJob(t.Context(), domain.Job{ID: id, Message: "job " + id, Kind: domain.JobEvery, Spec: "60", Session: session}, "", 5)
		require.NoError(t, err)
	}
	require.NoError(t, b.RemoveJob(t.Context(), "j1"))

	parts := b.remove(t, 4)
	require.Len(t, parts, 2)
	require.Equal(t, store.Removal{
		Session: session, Turns: []string{"m0", "m1", "m2", "m3"}, Messages: []string{"m0", "m1", "m2", "m3"},
		Results: []string{"m0.1.0", "m1.1.0", "m2.1.0", "m3.1.0"},
	}, parts[0])
	require.Equal(t, []string{"m4", "m5"}, parts[1].Turns)

	for name, rows := range b.dump(t) {
		require.NotContains(t, rows, secret, name)
		switch name {
		case "inbox", "usage", "jobs", "sqlite_sequence":
		case "recall_data", "recall_idx", "recall_docsize", "recall_config": // an index in pieces that are merged at times
		default:
			require.Equal(t, before[name], rows, name)
		}
	}
	require.Contains(t, b.dump(t)["usage"], "m4", "what it cost stays")
	require.Contains(t, b.dump(t)["jobs"], "job j2", "it goes on")
	require.NotContains(t, b.dump(t)["jobs"], "job j1")
	_, err = b.Session(t.Context(), session)
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = b.Transcript(t.Context(), session, -1, 0)
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = b.Prompt(t.Context(), "x1")
	require.NoError(t, err, "others were given it too")
	_, err = b.Removable(t.Context(), session, time.Time{}, 10)
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func removeKnown(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	b.accept(t, "m2")
	answer := store.AnswerInput{Session: session, Channel: channel, Message: "m2", Reply: "Help.", Silent: true}
	_, _, err := b.Answer(t.Context(), answer)
	require.NoError(t, err)
	b.deliver(t, "o1")
	b.remove(t, 10)

	stored, fresh, err := b.Accept(t.Context(), message("m1"))
	require.NoError(t, err, "delivered again, it is not another message")
	require.False(t, fresh)
	require.NotEmpty(t, stored.Turn)
	other := message("m1")
	other.Session = "test:c2"
	_, _, err = b.Accept(t.Context(), other)
	require.ErrorIs(t, err, domain.ErrConflict)

	_, turn, err := b.MessageState(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, domain.TurnDone, turn.Status)
	require.Empty(t, turn.Reply)

	begun := b.begin(t, step("m1", 1, "m1"))
	require.True(t, begun.Answered, "what came late makes nothing")
	require.Empty(t, b.end(t, stop("m1", "m1")).ID)
	_, fresh, err = b.Answer(t.Context(), answer)
	require.NoError(t, err)
	require.False(t, fresh)
	running, err := b.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Empty(t, running)

	b.whole(t, "m3")
	require.Equal(t, []string{"u: text of m3", "a: m3 says 1"}, contents(b.transcript(t)), "the session begins anew")
}

func removeAtWork(t *testing.T, b *bundle) {
	refused := func(why string) {
		t.Helper()
		_, err := b.Removable(t.Context(), session, time.Time{}, 10)
		require.ErrorIs(t, err, store.ErrSessionBusy)
		require.ErrorContains(t, err, why)
		unused, err := b.Unused(t.Context(), time.Now().Add(time.Hour), store.Used{}, 10)
		require.NoError(t, err)
		require.Empty(t, unused)
	}
	b.accept(t, "m1")
	refused("a message is waiting")
	b.begin(t, step("m1", 1, "m1"))
	refused("a turn is running")
	b.complete(t, "m1", 1, "spawn")
	_, err := b.Spawn(t.Context(), store.SpawnInput{ID: "m1.1.0", Turn: "m1", Label: "l", Task: "t", Limit: 5})
	require.NoError(t, err)
	_, err = b.SaveResult(t.Context(), resultOf("m1", 0, "ok"))
	require.NoError(t, err)
	b.complete(t, "m1", 2)
	refused("a subagent is running")
	_, err = b.EndSubagent(t.Context(), "m1.1.0", domain.SubagentStopped, "")
	require.NoError(t, err)
	refused("a reply is not delivered")

	b.deliver(t, "o1")
	part, err := b.Removable(t.Context(), session, time.Time{}, 10)
	require.NoError(t, err)
	b.accept(t, "m2")
	require.ErrorIs(t, b.Remove(t.Context(), part), store.ErrSessionBusy, "it came in between")
	require.Len(t, b.transcript(t), 4)
}

func removeChildren(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "spawn", "spawn")
	for i, status := range []domain.SubagentStatus{domain.SubagentDone, domain.SubagentStopped} {
		call := domain.CallKey("m1", 1, i)
		child, err := b.Spawn(t.Context(), store.SpawnInput{ID: call, Turn: "m1", Label: "l", Task: secret, Limit: 5})
		require.NoError(t, err)
		_, err = b.SaveResult(t.Context(), resultOf("m1", i, "ok"))
		require.NoError(t, err)
		if status == domain.SubagentDone { // the other one never begins
			id := domain.TaskMessage(call)
			b.begin(t, store.BeginInput{Session: child.Session, Channel: domain.SubagentChannel, Turn: id, Step: 1, Messages: []string{id}})
			b.complete(t, id, 1)
		}
		_, err = b.EndSubagent(t.Context(), call, status, secret)
		require.NoError(t, err)
	}
	report := domain.ReportMessage(domain.CallKey("m1", 1, 0))
	b.begin(t, step("m1", 2, report))
	b.complete(t, "m1", 2)
	b.deliver(t, "o1")

	parts := b.remove(t, 10)
	require.Len(t, parts, 2)
	require.Equal(t, domain.SubagentSession("m1.1.0"), parts[0].Session)
	require.Equal(t, session, parts[1].Session)
	require.Equal(t, []string{"m1", report}, parts[1].Messages)
	for name, rows := range b.dump(t) {
		require.NotContains(t, rows, secret, name)
	}
	running, err := b.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Empty(t, running)
}

func unused(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	b.deliver(t, "o1")
	before := time.Now().Add(time.Minute)
	keys, err := b.Unused(t.Context(), time.Now().Add(-time.Minute), store.Used{}, 10)
	require.NoError(t, err)
	require.Empty(t, keys)
	keys, err = b.Unused(t.Context(), before, store.Used{}, 10)
	require.NoError(t, err)
	require.Len(t, keys, 1)
	require.Equal(t, session, keys[0].Session)
	keys, err = b.Unused(t.Context(), before, keys[0], 10)
	require.NoError(t, err)
	require.Empty(t, keys, "none follows")

	_, err = b.Removable(t.Context(), session, time.Now().Add(-time.Minute), 10)
	require.ErrorIs(t, err, store.ErrSessionBusy, "it was used since")
	part, err := b.Removable(t.Context(), session, before, 10)
	require.NoError(t, err)
	require.NoError(t, b.Remove(t.Context(), part))
	require.ErrorIs(t, b.Remove(t.Context(), part), domain.ErrNotFound)
}

// removeRace removes a session while it is used: each turn is there as a whole or
// not at all, and the session with it.
func removeRace(t *testing.T, b *bundle) {
	var turns atomic.Int32
	all(8, func(i int) {
		var err error
		if i%2 == 0 {
			id := fmt.Sprintf("m%d", i)
			quiet := message(id)
			quiet.Push = false
			_, _, err = b.Accept(t.Context(), quiet)
			if err == nil {
				_, err = b.Begin(t.Context(), step(id, 1, id))
			}
			if err == nil {
				_, _, err = b.SaveCompletion(t.Context(), completed(id, 1))
			}
			turns.Add(1)
		} else {
			for range 5 {
				var part store.Removal
				if part, err = b.Removable(t.Context(), session, time.Time{}, 2); err == nil {
					_ = b.Remove(t.Context(), part)
				}
			}
			err = nil
		}
		if err != nil {
			t.Error(err)
		}
	})
	require.EqualValues(t, 4, turns.Load())
	left, err := b.Turns(t.Context(), session, 10)
	require.NoError(t, err)
	_, err = b.Session(t.Context(), session)
	require.Equal(t, len(left) == 0, err != nil)
	for _, turn := range left {
		rows, err := b.ExportMessages(t.Context(), turn.ID)
		require.NoError(t, err)
		require.Len(t, rows, 2)
		require.Equal(t, domain.RoleAssistant, rows[1].Role)
		_, err = b.Prompt(t.Context(), turn.ID)
		require.NoError(t, err)
	}
}
