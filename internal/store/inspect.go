package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// These bound, in bytes, the SQLite files that are checked for damage: by [Inspect] and,
// within a tenth of a second, by [Check].
const (
	inspectLimit = 256 << 20
	checkLimit   = 16 << 20
)

// Condition is the result of [Inspect].
type Condition struct {
	Exists  bool  // there is something; else the rest is zero
	Version int64 // of its tables; 0: none are made yet
	Latest  int64 // what [Open] makes of them

	// These are known only if Version is Latest.
	Sessions int
	Turns    int
	Waiting  int       // accepted messages that no turn has consumed
	UsedAt   time.Time // when a session was used last; zero: never
}

// Inspect examines a database without creating, migrating or changing it. An error
// means that it is damaged, unreachable or not writable, and says what to do. A huge
// SQLite file is not checked for damage.
func Inspect(ctx context.Context, dsn string) (Condition, error) {
	c, err := inspect(ctx, dsn, true)
	if err != nil {
		return Condition{}, fmt.Errorf("inspect store: %w", err)
	}
	return c, nil
}

// Check is [Inspect] in a time that does not grow with the database: no large SQLite file
// is checked for damage, and nothing is counted.
func Check(ctx context.Context, dsn string) (Condition, error) {
	c, err := inspect(ctx, dsn, false)
	if err != nil {
		return Condition{}, fmt.Errorf("check store: %w", err)
	}
	return c, nil
}

func inspect(ctx context.Context, dsn string, whole bool) (Condition, error) {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		config, err := pgx.ParseConfig(dsn)
		if err != nil {
			return Condition{}, err
		}
		d := &postgresDB{
			db:   stdlib.OpenDB(*config),
			name: fmt.Sprintf("postgres %s:%d/%s", config.Host, config.Port, config.Database),
		}
		defer d.db.Close()
		return examine(ctx, d.db, d, whole, "postgres", `SELECT to_regclass('goose_db_version') IS NOT NULL`)
	}
	path, err := filepath.Abs(dsn)
	if err != nil {
		return Condition{}, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Condition{}, nil
	}
	if err != nil {
		return Condition{}, err
	}
	d := &sqliteDB{path: path}
	limit := int64(checkLimit)
	if whole {
		limit = inspectLimit
	}
	if info.Size() <= limit {
		err := CheckFile(ctx, path)
		if errors.Is(err, errDamaged) {
			return Condition{}, &FileError{Path: path, Err: fmt.Errorf("it is %w", err), Advice: replaceAdvice}
		}
		if err != nil {
			return Condition{}, d.explain(err)
		}
	}
	db, err := d.openExisting()
	if err != nil {
		return Condition{}, err
	}
	defer db.Close()
	return examine(ctx, db, d, whole, "sqlite", `SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'goose_db_version')`)
}

// openExisting opens the file without creating it.
func (d *sqliteDB) openExisting() (*sql.DB, error) {
	return sql.Open("sqlite", d.dsn(url.Values{
		"mode": {"rw"}, "_txlock": {"immediate"}, "_pragma": {"busy_timeout(2000)"},
	}))
}

var errDamaged = errors.New("damaged")

// CheckFile checks an SQLite file for damage without changing it.
func CheckFile(ctx context.Context, path string) error {
	db, err := (&sqliteDB{path: path}).openExisting()
	if err != nil {
		return err
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%w (%s)", errDamaged, found)
	}
	return nil
}

// examine is the part that both dialects share. hasVersion asks whether the version
// table exists; count has the rows counted.
func examine(ctx context.Context, db *sql.DB, d dialect, count bool, folder, hasVersion string) (c Condition, err error) {
	c.Exists = true
	if c.Latest, err = latest(folder); err != nil {
		return Condition{}, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return Condition{}, d.explain(err)
	}
	defer func() { _ = tx.Rollback() }()
	var made bool
	if err := tx.QueryRowContext(ctx, hasVersion).Scan(&made); err != nil || !made {
		return c, explained(d, err)
	}
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&c.Version)
	if err != nil || c.Version != c.Latest {
		return c, explained(d, err)
	}
	if count {
		err = tx.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM sessions), (SELECT COUNT(*) FROM turns),
			(SELECT COUNT(*) FROM inbox WHERE turn IS NULL), (SELECT COALESCE(MAX(updated_at), 0) FROM sessions)`).
			Scan(&c.Sessions, &c.Turns, &c.Waiting, stamp{&c.UsedAt})
		if err != nil {
			return Condition{}, d.explain(err)
		}
	}
	// It changes nothing, and is refused where nothing may be changed.
	_, err = tx.ExecContext(ctx, `UPDATE sessions SET epoch = epoch WHERE key IS NULL`)
	return c, explained(d, err)
}

func explained(d dialect, err error) error {
	if err == nil {
		return nil
	}
	return d.explain(err)
}

// latest returns the version of the newest migration.
func latest(folder string) (newest int64, err error) {
	files, err := fs.ReadDir(migrations, "migrations/"+folder)
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		version, err := goose.NumericComponent(file.Name())
		if err != nil {
			return 0, err
		}
		newest = max(newest, version)
	}
	return newest, nil
}
