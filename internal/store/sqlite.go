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
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/holdfast-ai/holdfast/internal/checkpoint"
)

// sqliteReaders is how many reads run at the same time.
const sqliteReaders = 4

// sqliteDB is a database in a file.
type sqliteDB struct {
	path        string
	write, read *sql.DB
	// stopCheckpoints ends the checkpoints in the background.
	stopCheckpoints func()
	// mode is the mode of the writing connection, owned by its holder. A new connection
	// is synchronous: mode may then be wrongly asyncCommit, which only costs a sync.
	mode commitMode
}

func openSQLite(ctx context.Context, opts Options) (_ *sqliteDB, err error) {
	path, err := filepath.Abs(opts.DSN)
	if err != nil {
		return nil, err
	}
	d := &sqliteDB{path: path}
	if err := d.create(); err != nil {
		return nil, err
	}
	// Two processes must not set WAL mode and migrate concurrently.
	lock := flock.New(path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lock %s: %w; check the permissions of its folder", lock.Path(), err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()

	d.write, err = sql.Open("sqlite", d.dsn(url.Values{
		"_txlock": {"immediate"},
		"_pragma": {"busy_timeout(10000)", "journal_mode(WAL)", "journal_size_limit(67108864)", "synchronous(FULL)", "wal_autocheckpoint(" + checkpoint.Pages + ")"},
	}))
	if err != nil {
		return nil, err
	}
	d.write.SetMaxOpenConns(1)
	d.read, err = sql.Open("sqlite", d.dsn(url.Values{"_pragma": {"busy_timeout(10000)", "query_only(1)"}}))
	if err != nil {
		return nil, errors.Join(err, d.write.Close())
	}
	d.read.SetMaxOpenConns(sqliteReaders)
	d.read.SetMaxIdleConns(sqliteReaders)
	if err := migrate(ctx, d.write, goose.DialectSQLite3, "sqlite", opts.Logger); err != nil {
		return nil, errors.Join(d.explain(err), d.close())
	}
	if d.stopCheckpoints, err = checkpoint.Run(ctx, d.dsn(nil)); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// create creates the file and its folder if they are missing: SQLite would make the
// private file readable for all users. An existing file is not opened, since closing it
// would drop the locks of another Store in this process.
func (d *sqliteDB) create() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return fmt.Errorf("%w: the folder of the database cannot be created; check the path and its permissions", err)
	}
	file, err := os.OpenFile(d.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: the database cannot be created; check the permissions of its folder", err)
	}
	return file.Close()
}

func (d *sqliteDB) dsn(query url.Values) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(d.path), RawQuery: query.Encode()}
	return u.String()
}

// begin implements [dialect]. The single connection serializes the writers of this
// process, so none of them polls.
func (d *sqliteDB) begin(ctx context.Context, mode commitMode) (*sql.Tx, func(), error) {
	conn, err := d.write.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	release := func() { _ = conn.Close() }
	if err := d.setMode(ctx, conn, mode); err != nil {
		release()
		return nil, nil, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		release()
		return nil, nil, err
	}
	return tx, release, nil
}

func (d *sqliteDB) setMode(ctx context.Context, conn *sql.Conn, mode commitMode) error {
	if d.mode == mode {
		return nil
	}
	level := "FULL"
	if mode == asyncCommit {
		level = "NORMAL"
		d.mode = mode // before the change: a wrong asyncCommit only costs a sync
	}
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous=`+level); err != nil {
		return err
	}
	d.mode = mode
	return nil
}

func (d *sqliteDB) reader() *sql.DB { return d.read }

func (d *sqliteDB) fragments() *fragments { return &sqliteFragments }

func (d *sqliteDB) explain(err error) error {
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	var advice string
	switch failure.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		advice = "the file is damaged or not a database; " + replaceAdvice
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		advice = "the file cannot be written; make it and its -wal and -shm files, and their folder, readable and writable for this user"
	case lib.SQLITE_FULL:
		advice = "the disk is full; free some space"
	case lib.SQLITE_IOERR:
		advice = "the disk reports an error; check it"
	case lib.SQLITE_BUSY:
		advice = "another process holds the database; wait, or find out which and end it"
	default:
		return fmt.Errorf("%s: %w", d.path, err)
	}
	return &FileError{Path: d.path, Err: err, Advice: advice}
}

// replaceAdvice is the advice for a damaged file.
const replaceAdvice = "move it away together with its -wal and -shm files, or restore a backup"

// FileError reports that an SQLite file cannot be used, and what to do.
type FileError struct {
	Path   string
	Err    error
	Advice string
}

// Error implements error.
func (e *FileError) Error() string { return fmt.Sprintf("%s: %v: %s", e.Path, e.Err, e.Advice) }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

func (d *sqliteDB) close() error {
	if d.stopCheckpoints != nil {
		d.stopCheckpoints()
	}
	return errors.Join(d.read.Close(), d.write.Close())
}
