package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// UsageKey is a key to group model calls by.
type UsageKey string

// The keys of usage. A subagent's calls are those of the conversation that it works
// for, and of the sender whose turn spawned it. What is not known any more, since
// its session was removed, or that belongs to none has the key "".
const (
	UsageByDay     UsageKey = "day" // 2026-11-21
	UsageBySession UsageKey = "session"
	UsageByModel   UsageKey = "model" // provider/model, as the provider names what answered
	UsageBySender  UsageKey = "sender"
)

// UsageQuery selects and groups model calls.
type UsageQuery struct {
	By      UsageKey
	Since   time.Time      // zero: all
	Session string         // empty: of all sessions
	Sender  string         // empty: of all senders
	Zone    *time.Location // whose days are meant; nil: UTC
}

// UsageRow is the sum of the calls with one key.
type UsageRow struct {
	Key string `json:"key,omitempty"`
	domain.Totals
}

// dayPart is a quarter of an hour in microseconds: every time zone's midnight is at a
// multiple of it.
const dayPart = 15 * 60 * 1_000_000

// usageKeys returns the grouping expressions.
func usageKeys() map[UsageKey]string {
	return map[UsageKey]string{
		UsageByDay:     "calls.created_at / " + strconv.Itoa(dayPart),
		UsageBySession: "COALESCE(roots.root, turns.session, consolidations.session, '')",
		UsageByModel:   "calls.provider || '/' || calls.model",
		UsageBySender:  "COALESCE(turns.sender, '')",
	}
}

// usageQuery sums the calls since $1, grouped by %[1]s and restricted by %[2]s. A
// call's turn may be a consolidation.
const usageQuery = `WITH RECURSIVE
	roots (session, root) AS (
		SELECT session, parent FROM subagents WHERE parent NOT LIKE 'subagent:%%'
		UNION ALL
		SELECT subagents.session, roots.root FROM roots JOIN subagents ON subagents.parent = roots.session)
	SELECT %[1]s, COUNT(*), SUM(calls.prompt_tokens), SUM(calls.cached_tokens), SUM(calls.completion_tokens),
		COALESCE(SUM(calls.cost), 0), COUNT(*) - COUNT(calls.cost)
	FROM usage calls
	LEFT JOIN turns ON turns.id = calls.turn
	LEFT JOIN roots ON roots.session = turns.session
	LEFT JOIN consolidations ON consolidations.id = calls.turn
	WHERE calls.created_at >= $1 %[2]s GROUP BY 1`

// ofSession restricts calls to those of session $2 and its subagents.
const ofSession = `AND calls.turn IN (
	SELECT id FROM turns WHERE session = $2
	UNION ALL SELECT turns.id FROM roots JOIN turns ON turns.session = roots.session WHERE roots.root = $2
	UNION ALL SELECT id FROM consolidations WHERE session = $2)`

// Usage sums up model calls. Days are in order; other keys start with the highest cost.
func (s *Store) Usage(ctx context.Context, q UsageQuery) (rows []UsageRow, err error) {
	key, known := usageKeys()[q.By]
	if !known {
		return nil, fmt.Errorf("read usage: unknown grouping %q", q.By)
	}
	restrict, args := "", []any{q.Since}
	if q.Session != "" {
		restrict, args = ofSession, append(args, q.Session)
	}
	if q.Sender != "" {
		args = append(args, q.Sender)
		restrict += fmt.Sprintf(" AND turns.sender = $%d", len(args))
	}
	err = s.read("read usage", func(r *runner) error {
		rows, err = many(ctx, r, scanUsage, fmt.Sprintf(usageQuery, key, restrict), args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	if q.By == UsageByDay {
		return byDay(rows, q.Zone)
	}
	slices.SortFunc(rows, func(a, b UsageRow) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Tokens(), a.Tokens()), strings.Compare(a.Key, b.Key))
	})
	return rows, nil
}

func scanUsage(rows *sql.Rows) (u UsageRow, err error) {
	return u, rows.Scan(&u.Key, &u.Calls, &u.PromptTokens, &u.CachedTokens, &u.CompletionTokens, &u.Cost, &u.Unpriced)
}

// byDay sums up the parts of each day.
func byDay(parts []UsageRow, zone *time.Location) ([]UsageRow, error) {
	if zone == nil {
		zone = time.UTC
	}
	days := map[string]domain.Totals{}
	for _, part := range parts {
		n, err := strconv.ParseInt(part.Key, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("read usage: %w", err)
		}
		day := time.UnixMicro(n * dayPart).In(zone).Format(time.DateOnly)
		sum := days[day]
		sum.Add(part.Totals)
		days[day] = sum
	}
	rows := make([]UsageRow, 0, len(days))
	for _, day := range slices.Sorted(maps.Keys(days)) {
		rows = append(rows, UsageRow{Key: day, Totals: days[day]})
	}
	return rows, nil
}
