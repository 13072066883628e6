package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// runner runs statements, in a transaction or individually.
type runner struct {
	on   querier
	stmt func(ctx context.Context, query string) *sql.Stmt // nil result: run as text
	sql  *fragments
}

type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// commitMode says whether a commit waits for the disk.
type commitMode bool

const (
	syncCommit  commitMode = false // on the disk when it returns
	asyncCommit commitMode = true  // on the disk with the next synchronous commit
)

// write runs fn in a transaction. An error or a panic of fn rolls it back.
func (s *Store) write(ctx context.Context, doing string, mode commitMode, fn func(*runner) error) error {
	if err := s.transact(ctx, mode, fn); err != nil {
		return s.wrap(doing, err)
	}
	return nil
}

func (s *Store) transact(ctx context.Context, mode commitMode, fn func(*runner) error) error {
	tx, release, err := s.db.begin(ctx, mode)
	if err != nil {
		return err
	}
	var missing []string
	defer func() {
		_ = tx.Rollback() // no-op after a commit
		release()
		for _, query := range missing {
			s.writes.prepare(ctx, query)
		}
	}()
	stmt := func(ctx context.Context, query string) *sql.Stmt {
		if prepared := s.writes.get(query); prepared != nil {
			return tx.StmtContext(ctx, prepared)
		}
		missing = append(missing, query)
		return nil
	}
	if err := fn(&runner{on: tx, stmt: stmt, sql: s.db.fragments()}); err != nil {
		return err
	}
	return tx.Commit()
}

// read runs fn, whose statements each see the latest state.
func (s *Store) read(doing string, fn func(*runner) error) error {
	r := &runner{on: s.db.reader(), stmt: s.reads.prepare, sql: s.db.fragments()}
	if err := fn(r); err != nil {
		return s.wrap(doing, err)
	}
	return nil
}

func (s *Store) wrap(doing string, err error) error {
	for _, own := range []error{domain.ErrNotFound, domain.ErrConflict, ErrTurnEnded, ErrFenced, ErrSessionBusy, ErrNotEmpty, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, own) {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return fmt.Errorf("%s: %w", doing, s.db.explain(err))
}

// exec returns how many rows the statement changed.
func (r *runner) exec(ctx context.Context, query string, args ...any) (int64, error) {
	var result sql.Result
	var err error
	if prepared := r.stmt(ctx, query); prepared != nil {
		result, err = prepared.ExecContext(ctx, cleanArgs(args)...)
	} else {
		result, err = r.on.ExecContext(ctx, query, cleanArgs(args)...)
	}
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (r *runner) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if prepared := r.stmt(ctx, query); prepared != nil {
		return prepared.QueryContext(ctx, cleanArgs(args)...)
	}
	return r.on.QueryContext(ctx, query, cleanArgs(args)...)
}

// scan reads the current row.
type scan[T any] func(rows *sql.Rows) (T, error)

// many returns all rows of a query.
func many[T any](ctx context.Context, r *runner, scan scan[T], query string, args ...any) (_ []T, err error) {
	rows, err := r.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []T
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, item)
	}
	return all, rows.Err()
}

// one returns the row of a query that has at most one, and whether there is one.
func one[T any](ctx context.Context, r *runner, scan scan[T], query string, args ...any) (item T, found bool, err error) {
	all, err := many(ctx, r, scan, query, args...)
	if err != nil || len(all) == 0 {
		return item, false, err
	}
	return all[0], true, nil
}

// required returns the row of a query, or ErrNotFound.
func required[T any](ctx context.Context, r *runner, scan scan[T], query string, args ...any) (T, error) {
	item, found, err := one(ctx, r, scan, query, args...)
	if err == nil && !found {
		err = domain.ErrNotFound
	}
	return item, err
}

// known returns the row with an ID, or ErrNotFound with kind and ID.
func known[T any](ctx context.Context, r *runner, kind, id string, scan scan[T], query string) (T, error) {
	item, err := required(ctx, r, scan, query, id)
	if errors.Is(err, domain.ErrNotFound) {
		err = fmt.Errorf("%s %q: %w", kind, id, err)
	}
	return item, err
}

// reading is [Store.read] with a result.
func reading[T any](s *Store, doing string, fn func(*runner) (T, error)) (result T, err error) {
	err = s.read(doing, func(q *runner) error {
		result, err = fn(q)
		return err
	})
	return result, err
}

// writing is [Store.write] with a result.
func writing[T any](ctx context.Context, s *Store, doing string, mode commitMode, fn func(*runner) (T, error)) (result T, err error) {
	err = s.write(ctx, doing, mode, func(tx *runner) error {
		result, err = fn(tx)
		return err
	})
	return result, err
}

// list runs a query outside a transaction and returns all rows.
func list[T any](ctx context.Context, s *Store, doing string, scan scan[T], query string, args ...any) ([]T, error) {
	return reading(s, doing, func(q *runner) ([]T, error) { return many(ctx, q, scan, query, args...) })
}

// find runs a query outside a transaction and returns its row, if any.
func find[T any](ctx context.Context, s *Store, doing string, scan scan[T], query string, args ...any) (item T, found bool, err error) {
	all, err := list(ctx, s, doing, scan, query, args...)
	if err != nil || len(all) == 0 {
		return item, false, err
	}
	return all[0], true, nil
}

// get runs a query outside a transaction and returns its row, or ErrNotFound.
func get[T any](ctx context.Context, s *Store, doing string, scan scan[T], query string, args ...any) (T, error) {
	return reading(s, doing, func(q *runner) (T, error) { return required(ctx, q, scan, query, args...) })
}

// exec runs a statement in a transaction and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, doing string, mode commitMode, query string, args ...any) (int64, error) {
	return writing(ctx, s, doing, mode, func(tx *runner) (int64, error) { return tx.exec(ctx, query, args...) })
}

// change runs a statement in a transaction. ErrNotFound if it changed no row.
func (s *Store) change(ctx context.Context, doing, query string, args ...any) error {
	return s.write(ctx, doing, syncCommit, func(tx *runner) error {
		changed, err := tx.exec(ctx, query, args...)
		if err == nil && changed == 0 {
			err = domain.ErrNotFound
		}
		return err
	})
}

func scanCount(rows *sql.Rows) (n int, err error) { return n, rows.Scan(&n) }

func scanTime(rows *sql.Rows) (at time.Time, err error) { return at, rows.Scan(stamp{&at}) }

func scanText(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }

// scanBytes returns nil for empty bytes: drivers differ.
func scanBytes(rows *sql.Rows) ([]byte, error) {
	var data []byte
	err := rows.Scan(&data)
	if len(data) == 0 {
		return nil, err
	}
	return data, err
}

// statements are prepared once per pool of connections: parsing takes a good part of
// the time of a short SQLite statement.
type statements struct {
	db   *sql.DB
	mu   sync.RWMutex
	byID map[string]*sql.Stmt
}

func newStatements(db *sql.DB) *statements {
	return &statements{db: db, byID: map[string]*sql.Stmt{}}
}

func (s *statements) get(query string) *sql.Stmt {
	if s == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byID[query]
}

// prepare returns the prepared statement, or nil. The holder of the pool's only
// connection must not call it.
func (s *statements) prepare(ctx context.Context, query string) *sql.Stmt {
	if s == nil {
		return nil
	}
	if prepared := s.get(query); prepared != nil {
		return prepared
	}
	prepared, err := s.db.PrepareContext(ctx, query)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.byID[query]; other != nil {
		_ = prepared.Close()
		return other
	}
	s.byID[query] = prepared
	return prepared
}

// cleanArgs converts arguments: text to what both databases store, times to integers.
func cleanArgs(args []any) []any {
	cleaned := slices.Clone(args)
	for i, arg := range cleaned {
		switch v := arg.(type) {
		case string:
			cleaned[i] = clean(v)
		case time.Time:
			cleaned[i] = micros(v)
		}
	}
	return cleaned
}

// clean replaces what Postgres does not store in text: NUL and invalid UTF-8.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// stamp scans a time.
type stamp struct{ time *time.Time }

// Scan implements [sql.Scanner].
func (s stamp) Scan(value any) error {
	n, ok := value.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", value)
	}
	*s.time = time.Time{}
	if n != 0 {
		*s.time = time.UnixMicro(n).UTC()
	}
	return nil
}

// document scans JSON; an empty text leaves the value unchanged.
type document struct{ value any }

// Scan implements [sql.Scanner].
func (d document) Scan(value any) error {
	switch v := value.(type) {
	case string:
		if v == "" {
			return nil
		}
		return json.Unmarshal([]byte(v), d.value)
	case []byte:
		return d.Scan(string(v))
	default:
		return fmt.Errorf("a document is stored as %T", value)
	}
}

// encode returns the form that [document] scans; empty unless set.
func encode(there bool, value any) (string, error) {
	if !there {
		return "", nil
	}
	data, err := json.Marshal(value)
	return string(data), err
}

// now returns the current time with the precision of the store.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
