package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// soundLimit bounds, in bytes, the engine's database that is read whole to see
// whether it is sound.
const soundLimit = 256 << 20

// findRunning finds the process that runs the home, if any.
func (d *doctor) findRunning(ctx context.Context) {
	info, err := node.ReadRun(d.cfg.DataDir())
	switch {
	case err != nil && !errors.Is(err, fs.ErrPermission):
		d.warn("run.json", "delete "+node.RunFile(d.cfg.DataDir())+"; the next `holdfast up` writes it", "%v", err)
	case err != nil:
		d.fail("run.json", "make "+node.RunFile(d.cfg.DataDir())+" readable for this user", "%v", err)
	case info.Temporal != "" && node.Listens(ctx, info.Temporal):
		d.running = info
	}
}

// checkEngine looks at the embedded engine.
func (d *doctor) checkEngine(ctx context.Context) {
	if d.running.PID != 0 {
		connected, err := node.Connect(ctx, d.cfg, d.running.Temporal, discard())
		if err != nil {
			d.fail("engine", fmt.Sprintf("see what process %d logs; end it if it is no holdfast", d.running.PID), "%v", err)
			return
		}
		connected.Close()
		d.ok("engine", "runs: process %d, since %s, Temporal %s, UI %s", d.running.PID, localTime(d.running.StartedAt), d.running.Temporal, d.running.UI)
		if d.running.Version != build.Version {
			d.warn("engine", "start it again to bring it up to date", "it is version %s, and this is %s", d.running.Version, build.Version)
		}
		return
	}
	if held(filepath.Join(d.cfg.DataDir(), "engine.lock")) {
		d.warn("engine", "nothing, if that is a `holdfast chat` with an engine of its own, or one that is starting; else end it", "another process has %s", d.cfg.DataDir())
		return
	}
	d.checkEngineFile(ctx)
	d.checkPort(ctx, "temporal.port", d.cfg.Temporal.Port)
	d.checkPort(ctx, "temporal.ui_port", d.cfg.Temporal.UIPort)
}

// checkPort looks whether the engine could listen on the port of that setting.
func (d *doctor) checkPort(ctx context.Context, key string, port int) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := free(ctx, address); err != nil {
		d.fail("engine", "end the program that has it, or set "+key+" to a free port", "it cannot listen on %s (%s): %v", address, key, err)
	}
}

// checkEngineFile looks at the database of an engine that does not run.
func (d *doctor) checkEngineFile(ctx context.Context) {
	path := filepath.Join(d.cfg.DataDir(), "engine.db")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("engine", "does not run, and has no data yet; `holdfast up` starts it")
	case err != nil:
		d.fail("engine", "make it readable for this user", "%s: %v", path, cause(err))
	case info.Size() > soundLimit:
		d.ok("engine", "does not run; its data of %d MB are not checked; `holdfast up` starts it", info.Size()>>20)
	default:
		if err := sound(ctx, path); err != nil {
			d.fail("engine", "move it aside, with its -wal and -shm files, to start with an empty engine; conversations are in the store and are kept",
				"%s is damaged: %v", path, err)
			return
		}
		d.ok("engine", "does not run; its data are sound; `holdfast up` starts it")
	}
}

// sound reports what is wrong with an SQLite file.
func sound(ctx context.Context, path string) error {
	location := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: "mode=rw&_pragma=busy_timeout(2000)"}
	db, err := sql.Open("sqlite", location.String())
	if err != nil {
		return err
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return errors.New(found)
	}
	return nil
}

// held reports whether a process has the lock in a file, which is not made.
func held(path string) bool {
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	taken, err := lock.TryLock()
	if taken {
		_ = lock.Unlock()
	}
	return err == nil && !taken
}

// free reports why an address cannot be listened on; port 0 always can.
func free(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		if operation, ok := errors.AsType[*net.OpError](err); ok {
			err = operation.Err
		}
		return err
	}
	return listener.Close()
}

// checkTemporal looks at a cluster that is not ours.
func (d *doctor) checkTemporal(ctx context.Context) {
	settings := d.cfg.Temporal
	connected, err := node.Connect(ctx, d.cfg, settings.Address, discard())
	if err != nil {
		d.fail("temporal", "check temporal.address, temporal.tls and temporal.api_key, and that the cluster runs", "%v", err)
		return
	}
	defer connected.Close()
	ctx, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	err = connected.CheckNamespace(ctx)
	if errors.Is(err, dispatch.ErrNoNamespace) {
		d.fail("temporal", "make it (`temporal operator namespace create -n "+settings.Namespace+"`), or set temporal.namespace to another",
			"%s has no namespace %s", settings.Address, settings.Namespace)
		return
	}
	if err != nil {
		d.fail("temporal", "check temporal.api_key, and what it may do", "%s, namespace %s: %v", settings.Address, settings.Namespace, err)
		return
	}
	d.ok("temporal", "%s answers, and has the namespace %s", settings.Address, settings.Namespace)
	d.checkSearchAttributes(ctx, connected)
}

func (d *doctor) checkSearchAttributes(ctx context.Context, connected *dispatch.Client) {
	missing, err := connected.MissingSearchAttributes(ctx)
	if err != nil {
		d.warn("temporal", "ask an administrator whether there are "+strings.Join(dispatch.SearchAttributes(), ", "), "its search attributes cannot be seen: %v", err)
		return
	}
	if len(missing) > 0 {
		d.warn("temporal", "`holdfast starter` adds them if it may; else an administrator can, with `temporal operator search-attribute create --type Keyword`",
			"it lacks the search attributes %s", strings.Join(missing, ", "))
		return
	}
	d.ok("temporal", "it has the search attributes")
}

// checkClock looks for a clock that is wrong beyond doubt.
func (d *doctor) checkClock() {
	now := time.Now()
	if built := build.Time(); now.Before(built) {
		d.fail("clock", "set the clock", "it says %s, before this program was made", localTime(now))
		return
	}
	d.ok("clock", "%s", now.Format(time.RFC3339))
}
