package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// soundLimit is the size, in bytes, up to which the engine's database is checked.
const soundLimit = 256 << 20

// findRunning finds the process running on the home, if any.
func (d *doctor) findRunning(ctx context.Context) {
	info, err := node.ReadRun(d.cfg.DataDir())
	switch {
	case err != nil && !errors.Is(err, fs.ErrPermission):
		d.warn("run.json", "delete "+node.RunFile(d.cfg.DataDir())+"; the next `holdfast up` writes a new one", "%v", err)
	case err != nil:
		d.fail("run.json", "make "+node.RunFile(d.cfg.DataDir())+" readable for this user", "%v", err)
	case info.Temporal != "" && node.Listens(ctx, info.Temporal):
		d.running = info
	}
}

// checkEngine checks the embedded engine.
func (d *doctor) checkEngine(ctx context.Context) {
	if d.running.PID != 0 {
		connected, err := node.Connect(ctx, d.cfg, d.running.Temporal, discard())
		if err != nil {
			d.fail("engine", fmt.Sprintf("check the log of process %d; stop it if it is not holdfast", d.running.PID), "%v", err)
			return
		}
		connected.Close()
		d.ok("engine", "running: process %d, since %s, Temporal %s, UI %s", d.running.PID, localTime(d.running.StartedAt), d.running.Temporal, d.running.UI)
		if d.running.Version != build.Version {
			d.warn("engine", "restart it to update it", "it is version %s, this is %s", d.running.Version, build.Version)
		}
		return
	}
	if held(filepath.Join(d.cfg.DataDir(), "engine.lock")) {
		d.warn("engine", "nothing, if it is a `holdfast chat` or is still starting; otherwise stop it", "another process holds %s", d.cfg.DataDir())
		return
	}
	d.checkEngineFile(ctx)
	d.checkPort(ctx, "temporal.port", d.cfg.Temporal.Port)
	d.checkPort(ctx, "temporal.ui_port", d.cfg.Temporal.UIPort)
}

// checkPort checks that the engine can listen on a configured port.
func (d *doctor) checkPort(ctx context.Context, key string, port int) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := free(ctx, address); err != nil {
		d.fail("engine", "stop the program that uses it, or set "+key+" to a free port", "it cannot listen on %s (%s): %v", address, key, err)
	}
}

// checkEngineFile checks the database of a stopped engine.
func (d *doctor) checkEngineFile(ctx context.Context) {
	path := filepath.Join(d.cfg.DataDir(), "engine.db")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.ok("engine", "not running, no data yet; `holdfast up` starts it")
	case err != nil:
		d.fail("engine", "make it readable for this user", "%s: %v", path, cause(err))
	case !d.canWriteEngine(path): // which reported it
	case info.Size() > soundLimit:
		d.ok("engine", "not running; its %d MB of data were not checked; `holdfast up` starts it", info.Size()>>20)
	default:
		if err := store.CheckFile(ctx, path); err != nil {
			d.fail("engine", engine.Advice(path, err), "%s: %v", path, err)
			return
		}
		d.ok("engine", "not running, data intact; `holdfast up` starts it")
	}
}

// canWriteEngine checks that the engine may write the files of its database.
func (d *doctor) canWriteEngine(path string) bool {
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		err := unix.Access(name, unix.R_OK|unix.W_OK)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			d.fail("engine", engine.Advice(path, err), "%s: %v", name, err)
			return false
		}
	}
	return true
}
