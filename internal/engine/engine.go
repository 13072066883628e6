package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"go.temporal.io/sdk/worker"

	"github.com/holdfast-ai/holdfast/internal/checkpoint"
)

const (
	defaultNamespace = "default"
	defaultRetention = 30 * 24 * time.Hour
	stopTimeout      = 5 * time.Second
)

// ErrInUse is returned by [Start] when another process, or another engine in
// this one, already runs on the same data directory.
var ErrInUse = errors.New("the engine's data directory is in use")

// Options are the settings of an engine. Only DataDir is required.
type Options struct {
	// DataDir holds engine.db and engine.lock. It is created when missing.
	DataDir string
	// Host is the address to listen on; 127.0.0.1 when empty.
	Host string
	// Port serves the Temporal API; 0 picks a free one.
	Port int
	// UIPort serves the web UI; 0 picks a free one, negative means no UI.
	UIPort int
	// Namespace is created at the first start; "default" when empty.
	Namespace string
	// Retention is how long closed runs are kept; 30 days when zero.
	Retention time.Duration
	// Durability is "full" (the default: a commit survives a power loss) or
	// "normal" (a commit survives the process's death only).
	Durability string
	// SearchAttributes are keywords that workflows of the namespace may set.
	// The data directory holds at most ten, because they are never removed.
	SearchAttributes []string
	// HistoryLimit is the number of events after which the server suggests that a run
	// continue as new; Temporal's default (4,096) when zero.
	HistoryLimit int
	// Build identifies this build to the server; the main module's version when
	// empty. The SDK has one for all workers of a process.
	Build string
	// Logger gets the server's warnings and errors; nil discards them.
	Logger *slog.Logger
}

// Engine is a running Temporal server. Its methods may be called from any
// goroutine.
type Engine struct {
	options Options
	lock    *flock.Flock
	server  *server
	ui      *ui
	ready   chan struct{} // closed once server serves
	// stopCheckpoints ends the checkpoints in the background.
	stopCheckpoints func()

	stop    sync.Once
	stopped chan struct{}
}

// Open makes this process the owner of opts.DataDir and binds the UI's port. It returns
// [ErrInUse] if the directory is in use. The caller calls Start, and Stop at the end.
func Open(ctx context.Context, opts Options) (_ *Engine, err error) {
	if opts, err = opts.withDefaults(); err != nil {
		return nil, err
	}
	// Without a name the SDK hashes the executable, which takes 0.4 s.
	worker.SetBinaryChecksum(opts.Build)
	lock, err := takeLock(opts.DataDir)
	if err != nil {
		return nil, err
	}
	e := &Engine{options: opts, lock: lock, ready: make(chan struct{}), stopped: make(chan struct{})}
	if opts.UIPort >= 0 {
		if e.ui, err = listenUI(ctx, opts); err != nil {
			e.Stop()
			return nil, err
		}
	}
	return e, nil
}

// Start runs the server and returns once its namespace and search attributes are ready.
// It returns an error with advice if a port is in use or the database cannot be used. Ctx
// bounds only the start.
func (e *Engine) Start(ctx context.Context) error {
	db, err := openDatabase(ctx, e.options)
	if err != nil {
		return err
	}
	if e.stopCheckpoints, err = checkpoint.Run(ctx, "file:"+db.DatabaseName); err != nil {
		return err
	}
	if e.server, err = startServer(ctx, e.options, db); err != nil {
		return err
	}
	if e.ui != nil {
		if err := e.ui.serve(e.server.address, e.options.Namespace); err != nil {
			return err
		}
	}
	if err := e.server.waitReady(ctx, e.options.Namespace); err != nil {
		return err
	}
	close(e.ready)
	return nil
}

// Start opens an engine and starts it.
func Start(ctx context.Context, opts Options) (*Engine, error) {
	e, err := Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	if err := e.Start(ctx); err != nil {
		e.Stop()
		return nil, err
	}
	return e, nil
}

// Address is where the Temporal API is served, as host:port; empty before Start has
// returned.
func (e *Engine) Address() string {
	select {
	case <-e.ready:
		return e.server.address
	default:
		return ""
	}
}

// Dial connects to the Temporal API, once the engine is ready.
func (e *Engine) Dial(ctx context.Context) (net.Conn, error) {
	select {
	case <-e.ready:
		return new(net.Dialer).DialContext(ctx, "tcp", e.server.address)
	case <-e.stopped:
		return nil, errors.New("engine: stopped")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// UIURL is the address of the web UI, or empty without one.
func (e *Engine) UIURL() string {
	if e.ui == nil {
		return ""
	}
	return e.ui.url
}

// Done is closed when the engine has stopped or the server has failed; see Err. It may be
// called after Start.
func (e *Engine) Done() <-chan struct{} { return e.server.done }

// Err returns why the server failed, once Done is closed; nil after Stop.
func (e *Engine) Err() error { return e.server.failure() }

// Stop ends the engine and releases the data directory, within five seconds. Accepted
// work is kept, as it is when the process is killed.
func (e *Engine) Stop() {
	e.stop.Do(func() {
		defer close(e.stopped)
		if e.ui != nil {
			e.ui.close()
		}
		if e.server != nil {
			e.server.stop(stopTimeout)
		}
		if e.stopCheckpoints != nil {
			e.stopCheckpoints()
		}
		_ = e.lock.Unlock()
	})
	<-e.stopped
}

func (o Options) withDefaults() (Options, error) {
	if o.DataDir == "" {
		return o, errors.New("engine: data directory required")
	}
	dir, err := filepath.Abs(o.DataDir)
	if err != nil {
		return o, fmt.Errorf("engine: data directory: %w", err)
	}
	o.DataDir = dir
	o.Host = cmp.Or(o.Host, "127.0.0.1")
	ip, err := net.ResolveIPAddr("ip", o.Host)
	if err != nil {
		return o, fmt.Errorf("engine: host %s: %w", o.Host, err)
	}
	o.Host = ip.IP.String()
	o.Namespace = cmp.Or(o.Namespace, defaultNamespace)
	o.Retention = cmp.Or(o.Retention, defaultRetention)
	o.Durability = cmp.Or(o.Durability, "full")
	if o.Durability != "full" && o.Durability != "normal" {
		return o, fmt.Errorf("engine: durability must be full or normal, not %q", o.Durability)
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.Build = cmp.Or(o.Build, info.Main.Version)
	}
	o.Build = cmp.Or(o.Build, "unknown")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if _, err := user.Current(); err != nil { // the server's own error is a page long
		return o, fmt.Errorf("engine: user %d has no entry in /etc/passwd; add one, or use a binary built with CGO_ENABLED=0: %w", os.Getuid(), err)
	}
	return o, nil
}

// takeLock makes this process the owner of dir. The kernel releases the lock however
// the process ends.
func takeLock(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("engine: data directory: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "engine.lock"), flock.SetPermissions(0o600))
	taken, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("engine: lock data directory: %w", err)
	}
	if !taken {
		return nil, fmt.Errorf("engine: %s: %w", dir, ErrInUse)
	}
	return lock, nil
}

// reachable returns the address at which this machine reaches a server that listens
// on host.
func reachable(host string, port int) string {
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(port))
}
