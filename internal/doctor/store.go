package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// clockTolerance is the accepted difference to another machine's clock.
const clockTolerance = 2 * time.Minute

// checkStore checks the database.
func (d *doctor) checkStore(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	dsn := d.cfg.StoreDSN()
	c, err := store.Inspect(ctx, dsn)
	where := dsn
	if d.cfg.Store.DSN != "" {
		where = "store.dsn"
	}
	file, isFile := errors.AsType[*store.FileError](err)
	switch {
	case isFile:
		d.fail("store", file.Advice, "%s: %v", file.Path, file.Err)
	case err != nil && d.cfg.Store.DSN != "":
		d.fail("store", "check store.dsn, that the server is running, and the permissions of its user", "%v", err)
	case err != nil:
		d.fail("store", "check its path and permissions", "%v", err)
	case !c.Exists, c.Version == 0:
		d.ok("store", "%s is empty; the first start creates its tables", where)
	case c.Version > c.Latest:
		d.fail("store", "use the newer holdfast", "%s has schema version %d of a newer holdfast; this one supports %d", where, c.Version, c.Latest)
	case c.Version < c.Latest:
		d.warn("store", "back it up first if you may want to downgrade", "%s has schema version %d; the next start migrates it to %d", where, c.Version, c.Latest)
	default:
		d.stored = true
		d.ok("store", "%s is writable, version %d: %s, %s, %s waiting", where, c.Version,
			text.Count(c.Sessions, "session"), text.Count(c.Turns, "turn"), text.Count(c.Waiting, "message"))
	}
	if c.UsedAt.After(time.Now().Add(clockTolerance)) {
		d.warn("clock", "set the clock", "it is slow: the store was last used at %s", localTime(c.UsedAt))
	}
}
