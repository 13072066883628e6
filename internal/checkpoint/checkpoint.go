// Package checkpoint takes SQLite's checkpoints off the commits: a connection of its own
// copies the write-ahead log into the database while others write.
package checkpoint

import (
	"context"
	"database/sql"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

const (
	// Pages is the wal_autocheckpoint of connections that write. Commits copy the log only
	// if it grows so long, as under a load that never lets it start over.
	Pages = "8000"
	// pending is how many pages not yet copied are worth a checkpoint.
	pending = 2000
	// interval is the time between two looks at the log.
	interval = 500 * time.Millisecond
)

// Run checkpoints a database in WAL mode in the background until stop is called, even after
// ctx has ended. The data source must not name another journal mode. Failures are left to
// the next attempt and to the commits.
func Run(ctx context.Context, dataSource string) (stop func(), err error) {
	db, err := sql.Open("sqlite", dataSource)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() {
		for ticks := time.Tick(interval); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticks:
				look(ctx, db)
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
		_ = db.Close()
	}, nil
}

// look copies the log if much of it is pending.
func look(ctx context.Context, db *sql.DB) {
	var busy, length, copied int
	row := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)")
	if row.Scan(&busy, &length, &copied) == nil && length-copied >= pending {
		_, _ = db.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	}
}
