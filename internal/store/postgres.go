package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// postgresConns bounds the connections of one process.
const postgresConns = 16

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
	d := &postgresDB{db: stdlib.OpenDB(*config), name: fmt.Sprintf("postgres %s:%d/%s", config.Host, config.Port, config.Database)}
	d.db.SetMaxOpenConns(postgresConns)
	d.db.SetMaxIdleConns(postgresConns)
	d.db.SetConnMaxIdleTime(5 * time.Minute)
	if err := d.migrate(ctx, opts); err != nil {
		return nil, errors.Join(d.explain(err), d.close())
	}
	return d, nil
}

func (d *postgresDB) migrate(ctx context.Context, opts Options) error {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 60), lock.WithUnlockTimeout(1, 60))
	if err != nil {
		return err
	}
	return migrate(ctx, d.db, goose.DialectPostgres, "postgres", opts.Logger, goose.WithSessionLocker(locker))
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
