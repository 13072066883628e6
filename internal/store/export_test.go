package store

import (
	"context"
	"maps"
	"slices"
)

// Plans returns how SQLite carries out the statements that the store has run so far.
func (s *Store) Plans(ctx context.Context) (plans map[string][]string, err error) {
	plans = map[string][]string{}
	for _, cache := range []*statements{s.writes, s.reads} {
		cache.mu.RLock()
		queries := slices.Collect(maps.Keys(cache.byID))
		cache.mu.RUnlock()
		for _, query := range queries {
			if plans[query], err = s.plan(ctx, query); err != nil {
				return nil, err
			}
		}
	}
	return plans, nil
}

func (s *Store) plan(ctx context.Context, query string) (lines []string, err error) {
	const arguments = 20
	rows, err := s.db.reader().QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, make([]any, arguments)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			return nil, err
		}
		lines = append(lines, line)
	}
	return lines, rows.Err()
}
