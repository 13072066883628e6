package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/pressly/goose/v3"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

//go:embed migrations
var migrations embed.FS

// Options configure a [Store].
type Options struct {
	// DSN is the path of an SQLite file, made with its folder if absent, or a
	// postgres:// URL.
	DSN string
	// Logger logs migrations; nil: none.
	Logger *slog.Logger
}

// Store is the database. Its methods are safe for concurrent use; each is one
// transaction and may be repeated after an error. A write that returned without an
// error survives a power failure unless its comment says asynchronous. Text is stored
// as valid UTF-8 without NUL; anything else becomes U+FFFD. Times are returned in UTC
// with microsecond precision.
type Store struct {
	db dialect
	// writes and reads are the prepared statements of the writing connection and
	// of the readers; nil where the driver keeps its own.
	writes, reads *statements
}

// dialect abstracts the differences between SQLite and Postgres.
type dialect interface {
	// begin starts a transaction. The caller calls release after it has ended.
	begin(ctx context.Context, mode commitMode) (tx *sql.Tx, release func(), err error)
	// reader is the pool for individual reads.
	reader() *sql.DB
	fragments() *fragments
	// explain adds to an error what the operator can do about it, if anything.
	explain(err error) error
	close() error
}

// Open opens the database and creates or migrates its tables; tables of a newer version are
// an error. Several processes may open the same database, even at the same time. Errors
// name the database and, where possible, the remedy.
func Open(ctx context.Context, opts Options) (*Store, error) {
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	if strings.HasPrefix(opts.DSN, "postgres://") || strings.HasPrefix(opts.DSN, "postgresql://") {
		db, err := openPostgres(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("open store: %w", err)
		}
		return &Store{db: db}, nil
	}
	db, err := openSQLite(ctx, opts)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return &Store{db: db, writes: newStatements(db.write), reads: newStatements(db.read)}, nil
}

// Close closes all connections. Running methods fail.
func (s *Store) Close() error {
	if err := s.db.close(); err != nil {
		return fmt.Errorf("close store: %w", err)
	}
	return nil
}

// ID returns the random name that the database got when it was made. A copy has the same.
func (s *Store) ID(ctx context.Context) (string, error) {
	id, found, err := find(ctx, s, "read the store's ID", scanText, `SELECT id FROM store`)
	if err == nil && !found {
		err = fmt.Errorf("read the store's ID: %w", domain.ErrNotFound)
	}
	return id, err
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.read("ping", func(q *runner) error {
		_, _, err := one(ctx, q, scanCount, `SELECT 1`)
		return err
	})
}

// migrate brings the tables up to date.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string, log *slog.Logger, opts ...goose.ProviderOption) error {
	files, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, files, append(opts, goose.WithDisableGlobalRegistry(true))...)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	current, latest, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	switch {
	case current > latest:
		return fmt.Errorf("its tables have version %d, made by a newer holdfast, and this one knows version %d: "+
			"run the newer one, or restore a backup from before the upgrade", current, latest)
	case current == latest:
		return nil
	}
	done, err := provider.Up(ctx)
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	for _, m := range done {
		log.Info("store migrated", "version", m.Source.Version, "duration", m.Duration)
	}
	return nil
}
