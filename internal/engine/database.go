package engine

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
	"syscall"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/holdfast-ai/holdfast/internal/checkpoint"
)

// schemaVersion is the version that this build of the server reads and writes. The
// server has no migrations for SQLite.
const schemaVersion = sqliteschema.Version + "/" + sqliteschema.VisibilityVersion

// openDatabase creates engine.db if necessary, checks its version, prepares the
// namespace, and returns the server's settings for the database.
func openDatabase(ctx context.Context, opts Options) (*config.SQL, error) {
	path := filepath.Join(opts.DataDir, "engine.db")
	if err := prepareSchema(ctx, path); err != nil {
		return nil, explain(path, err)
	}
	cfg := &config.SQL{
		PluginName:        sqliteplugin.PluginName,
		DatabaseName:      uriPath(path),
		ConnectAttributes: pragmas(opts.Durability),
	}
	if err := prepareNamespace(ctx, cfg, opts); err != nil {
		return nil, explain(path, err)
	}
	return cfg, nil
}

func pragmas(durability string) map[string]string {
	return map[string]string{
		"mode":         "rw",
		"journal_mode": "wal",
		"synchronous":  durability,
		"busy_timeout": "10000",
		"temp_store":   "memory",

		"wal_autocheckpoint": checkpoint.Pages,
	}
}

// uriPath escapes the separators of an SQLite URI.
func uriPath(path string) string {
	return (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
}

// prepareSchema creates the schema or checks the version of an existing one. It uses
// one transaction, so that a process killed in between leaves an empty database.
func prepareSchema(ctx context.Context, path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+uriPath(path)+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()

	var tables int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master").Scan(&tables); err != nil {
		return err
	}
	if tables > 0 {
		return checkVersion(ctx, tx)
	}
	if err := sqliteschema.SetupSchemaOnDB(schemaTx{ctx: ctx, tx: tx}); err != nil {
		return err
	}
	if err := slimVisibility(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE holdfast_schema (version TEXT NOT NULL)"); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO holdfast_schema (version) VALUES (?)", schemaVersion); err != nil {
		return err
	}
	return tx.Commit()
}

func checkVersion(ctx context.Context, tx *sql.Tx) error {
	var version string
	if err := tx.QueryRowContext(ctx, "SELECT version FROM holdfast_schema").Scan(&version); err != nil {
		if _, corrupt := errors.AsType[*sqlite.Error](err); corrupt && isUnreadable(err) {
			return err
		}
		return errors.New("it was not created by holdfast")
	}
	if version != schemaVersion {
		return fmt.Errorf("its schema is version %s and this build needs %s", version, schemaVersion)
	}
	return nil
}

// schemaTx runs the server's schema statements in our transaction.
type schemaTx struct {
	sqlplugin.AdminDB
	ctx context.Context // for Exec, which is not passed one
	tx  *sql.Tx
}

// Exec runs one statement of the schema.
func (s schemaTx) Exec(stmt string, args ...any) error {
	_, err := s.tx.ExecContext(s.ctx, stmt, args...)
	return err
}

// explain adds advice to an error about the database.
func explain(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("engine: open %s: %w", path, err)
	}
	return fmt.Errorf("engine: %s cannot be used: %w; %s", path, err, Advice(path, err))
}

// Advice says what to do about an error of the database at path.
func Advice(path string, err error) string {
	switch {
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return "try again"
	case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || isCode(err, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
		return "make the file and its -wal and -shm files, and their directory, readable and writable for this user"
	case isCode(err, sqlite3.SQLITE_FULL) || strings.Contains(err.Error(), "no space left"):
		return "free some disk space"
	case isCode(err, sqlite3.SQLITE_BUSY):
		return "wait, or stop the other program that uses it"
	}
	return "move it aside (with " + filepath.Base(path) + "-wal and -shm) to start with an empty engine; conversations are in store.db and are kept"
}

func isUnreadable(err error) bool {
	return isCode(err, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY)
}

// isCode compares the primary part of SQLite's result code.
func isCode(err error, codes ...int) bool {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	for _, code := range codes {
		if sqliteErr.Code()&0xff == code {
			return true
		}
	}
	return false
}
