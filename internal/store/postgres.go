package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// postgresConns bounds the connections of one process.
const postgresConns = 16

// idleLimit ends the transactions of a process that was frozen in them: others wait for the
// rows that they lock.
const idleLimit = 5 * time.Second

// postgresDB is a database on a server.
type postgresDB struct {
	db   *sql.DB
	name string // host and database, for errors
}

func openPostgres(ctx context.Context, opts Options) (*postgresDB, error) {
	config, err := pgx.ParseConfig(opts.DSN)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["idle_in_transaction_session_timeout"] = strconv.FormatInt(idleLimit.Milliseconds(), 10)
	d := &postgresDB{db: stdlib.OpenDB(*config), name: fmt.Sprintf("postgres %s:%d/%s", config.Host, config.Port, config.Database)}
	d.db.SetMaxOpenConns(postgresConns)
	d.db.SetMaxIdleConns(postgresConns)
	d.db.SetConnMaxIdleTime(5 * time.Minute)
	if err := migratePostgres(ctx, *config, opts); err != nil {
		return nil, errors.Join(d.explain(err), d.close())
	}
	return d, nil
}

const (
	// lockTimeout is how long a migration waits for a lock. Meanwhile other statements that
	// need the table wait behind it.
	lockTimeout = 2 * time.Second
	// lockTries bounds the attempts, between which they run.
	lockTries = 20
	// lockNotAvailable is Postgres' error code.
	lockNotAvailable = "55P03"
)

// migratePostgres migrates on connections of its own, one process at a time.
func migratePostgres(ctx context.Context, config pgx.ConnConfig, opts Options) error {
	config.RuntimeParams = maps.Clone(config.RuntimeParams)
	config.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	db := stdlib.OpenDB(config)
	defer db.Close()
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60), lock.WithUnlockTimeout(1, 60))
	if err != nil {
		return err
	}
	for try := 1; ; try++ {
		err := migrate(ctx, db, goose.DialectPostgres, "postgres", opts.Logger, goose.WithSessionLocker(locker))
		if refused, is := errors.AsType[*pgconn.PgError](err); !is || refused.Code != lockNotAvailable || try == lockTries {
			return err
		}
		opts.Logger.Info("store not migrated yet: a table is in use, retrying")
	}
}

func (d *postgresDB) begin(ctx context.Context, mode commitMode) (*sql.Tx, func(), error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	if mode == asyncCommit {
		if _, err := tx.ExecContext(ctx, `SET LOCAL synchronous_commit = off`); err != nil {
			return nil, nil, errors.Join(err, tx.Rollback())
		}
	}
	return tx, func() {}, nil
}

func (d *postgresDB) reader() *sql.DB { return d.db }

func (d *postgresDB) fragments() *fragments { return &postgresFragments }

// explain implements [dialect]: the server names the problem but not the database.
func (d *postgresDB) explain(err error) error { return fmt.Errorf("%s: %w", d.name, err) }

func (d *postgresDB) close() error { return d.db.Close() }
