package engine

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// slimVisibility removes parts of the visibility schema that are expensive for every
// message and not needed on one machine: indexes on some fifty columns (written twice
// per run), and full-text entries of runs without text. Queries stay the same.
func slimVisibility(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT name FROM sqlite_master
		WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL AND name NOT IN
		('default_idx', 'by_workflow_id', 'by_workflow_type', 'by_status', 'by_temporal_namespace_division', 'by_temporal_scheduled_by_id')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var statements []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		statements = append(statements, "DROP INDEX "+name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, trigger := range []string{"ai", "ad", "au"} {
		statements = append(statements, "DROP TRIGGER executions_visibility_"+trigger)
	}
	for _, table := range []string{"executions_visibility_fts_text", "executions_visibility_fts_keyword_list"} {
		columns, err := tableColumns(ctx, tx, table)
		if err != nil {
			return err
		}
		statements = append(statements, textTriggers(table, columns)...)
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

func tableColumns(ctx context.Context, tx *sql.Tx, table string) ([]string, error) {
	rows, err := tx.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var columns []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		columns = append(columns, name)
	}
	return columns, rows.Err()
}

// textTriggers update a full-text table for runs that have a value in one of its
// columns.
func textTriggers(table string, columns []string) []string {
	names := strings.Join(columns, ", ")
	values := func(row string) string { return row + "." + strings.Join(columns, ", "+row+".") }
	some := func(row string) string { return "coalesce(" + values(row) + ") IS NOT NULL" }
	add := fmt.Sprintf("INSERT INTO %s (rowid, %s) SELECT NEW.rowid, %s WHERE %s;",
		table, names, values("NEW"), some("NEW"))
	remove := fmt.Sprintf("INSERT INTO %s (%s, rowid, %s) SELECT 'delete', OLD.rowid, %s WHERE %s;",
		table, table, names, values("OLD"), some("OLD"))
	trigger := func(event, when, body string) string {
		return fmt.Sprintf("CREATE TRIGGER %s_%s AFTER %s ON executions_visibility WHEN %s BEGIN %s END",
			table, strings.ToLower(event), event, when, body)
	}
	return []string{
		trigger("INSERT", some("NEW"), add),
		trigger("DELETE", some("OLD"), remove),
		trigger("UPDATE", some("OLD")+" OR "+some("NEW"), remove+add),
	}
}
