package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/process"
)

// grace is how long a process may take to exit after its input was closed, and again
// after SIGTERM.
const grace = time.Second

// child is a server process. It is a transport, connected once. The SDK's
// CommandTransport kills only the process itself, not its group, and fails at the
// first line that is not a message.
type child struct {
	cmd    *exec.Cmd
	home   string // created at the start
	log    *slog.Logger
	redact func(string) string

	stdin    io.WriteCloser
	messages *messages // from its standard output
	stderr   *lines
	left     atomic.Bool // it exited or closed its output
	ended    atomic.Bool // we ended it before it left

	mu      sync.Mutex
	alive   bool          // started, and not reaped
	aborted bool          // must no longer be started
	exited  chan struct{} // closed when the process and its group are gone
	once    sync.Once
}

// newChild describes the server's process; Connect starts it.
func newChild(s *server) *child {
	home := filepath.Join(s.dir, s.Name)
	cmd := exec.Command(s.Command, s.Args...) //nolint:noctx // lives as long as the connection
	cmd.Dir = cmp.Or(s.Dir, home)
	cmd.Env = environment(home, s.Env)
	cmd.SysProcAttr = process.Attributes()
	return &child{cmd: cmd, home: home, log: s.log, redact: s.redact, exited: make(chan struct{})}
}

// environment returns a server's environment: its home, the variables that any program
// needs, and extra, which takes precedence. Other variables may hold secrets.
func environment(home string, extra map[string]string) []string {
	env := []string{"HOME=" + home}
	for _, name := range []string{"LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range extra {
		env = append(env, name+"="+value)
	}
	slices.Sort(env[len(env)-len(extra):])
	return env
}

// Connect implements [sdk.Transport].
func (c *child) Connect(ctx context.Context) (sdk.Connection, error) {
	if err := c.start(); err != nil {
		return nil, err
	}
	transport := &sdk.IOTransport{Reader: output{c}, Writer: input{c}, MaxLineLength: -1} // messages has a limit
	connection, err := transport.Connect(ctx)
	return markedConn{connection}, err
}

// start starts the process.
func (c *child) start() error {
	if err := os.MkdirAll(c.home, 0o700); err != nil {
		return fmt.Errorf("create its folder: %w", err)
	}
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := c.cmd.StderrPipe()
	if err != nil {
		return err
	}
	c.stdin, c.messages = stdin, newMessages(stdout, c.log)
	c.stderr = &lines{from: stderr, done: make(chan struct{})}
	started := make(chan error, 1)
	go c.live(started, stdout, stderr)
	if err := <-started; err != nil {
		return err
	}
	go c.stderr.read(c.log, c.redact)
	return nil
}

// live starts the process and returns when its whole group is gone. It keeps the
// thread that started the process, since the process dies with it on Linux.
func (c *child) live(started chan<- error, outputs ...io.Closer) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.exited)
	err := c.launch()
	started <- err
	if err != nil {
		return
	}
	process.AwaitExit(c.cmd)
	c.left.Store(true)
	c.mu.Lock()
	c.kill(syscall.SIGKILL) // the rest of its group
	process.Reap(c.cmd)
	c.alive = false
	c.mu.Unlock()
	c.stdin.Close()
	// A descendant that left the group may hold the outputs open.
	time.AfterFunc(grace, func() {
		for _, output := range outputs {
			output.Close()
		}
	})
}

func (c *child) launch() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.aborted {
		return context.Canceled
	}
	err := c.cmd.Start()
	c.alive = err == nil
	return err
}

// signal signals the process group if it still exists.
func (c *child) signal(sig syscall.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alive {
		c.kill(sig)
	}
}

func (c *child) kill(sig syscall.Signal) { _ = syscall.Kill(-c.cmd.Process.Pid, sig) }

// end closes the process's input, escalates to signals, and returns when it is gone.
func (c *child) end() {
	c.once.Do(func() {
		c.ended.Store(!c.left.Load())
		c.stdin.Close()
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			select {
			case <-c.exited:
				return
			case <-time.After(grace):
				c.signal(sig)
			}
		}
	})
	<-c.exited
}

// close implements transport.
func (c *child) close(*sdk.ClientSession) { c.end() }

// abort implements transport.
func (c *child) abort() {
	c.mu.Lock()
	c.aborted = true
	started := c.alive
	c.mu.Unlock()
	if started {
		c.signal(syscall.SIGKILL)
		<-c.exited
	}
}

// activity implements transport.
func (c *child) activity() int64 { return c.messages.count.Load() }

// why implements transport: the exit status and the last line of standard error.
func (c *child) why() string {
	select {
	case <-c.exited:
	case <-time.After(grace):
		return ""
	}
	if c.cmd.ProcessState == nil || c.ended.Load() {
		return ""
	}
	<-c.stderr.done
	reason := fmt.Sprintf("its process ended (%s)", c.cmd.ProcessState)
	if c.stderr.last != "" {
		reason += fmt.Sprintf("; its last line of standard error was %q", c.stderr.last)
	}
	return reason
}

// markedConn counts the messages of a request that were sent. A message that was not
// written completely cannot be served.
type markedConn struct{ sdk.Connection }

// Write implements [sdk.Connection].
func (m markedConn) Write(ctx context.Context, message jsonrpc.Message) error {
	sent := sentMark(ctx)
	sent.Add(1)
	err := m.Connection.Write(ctx, message)
	if err != nil {
		sent.Add(-1)
	}
	return err
}

// output is the process's standard output. It stays open until the process exits,
// which may write while it shuts down.
type output struct{ *child }

// Read implements [io.Reader].
func (o output) Read(into []byte) (int, error) {
	n, err := o.messages.Read(into)
	if err != nil && !errors.Is(err, errTooLarge) {
		o.left.Store(true)
	}
	return n, err
}

// Close implements [io.Closer].
func (output) Close() error { return nil }

// input is the process's standard input. Closing it ends the process.
type input struct{ *child }

func (i input) Write(data []byte) (int, error) { return i.stdin.Write(data) }

func (i input) Close() error {
	go i.end()
	return nil
}
