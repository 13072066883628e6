package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// grace is how long a process has to end after its input was closed, and then
	// once more after it was asked to.
	grace = time.Second
	// frameLimit bounds one message of a server, in bytes. A longer one ends the
	// connection.
	frameLimit = 16 << 20
)

// process is a server that we start. It is a transport, connected once.
type process struct {
	cmd    *exec.Cmd
	log    *slog.Logger
	redact func(string) string

	stdin  *os.File // our ends
	stdout *os.File
	stderr *lines

	mu      sync.Mutex
	alive   bool          // started, and not reaped
	aborted bool          // not to be started any more
	exited  chan struct{} // closed when it and its process group are gone
	once    sync.Once
}

// newProcess describes the server's process; Connect starts it.
func newProcess(s *server) *process {
	cmd := exec.Command(s.Command, s.Args...) //nolint:noctx // it lives as long as the connection
	cmd.Dir = cmp.Or(s.Dir, s.dir)
	cmd.Env = environment(s.Env)
	cmd.SysProcAttr = attributes()
	return &process{cmd: cmd, log: s.log, redact: s.redact, exited: make(chan struct{})}
}

// environment is what a server runs in: what any program needs, and extra, which
// wins. All else of ours is kept from it: among it are keys and tokens.
func environment(extra map[string]string) []string {
	var env []string
	for _, name := range []string{"HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	for name, value := range extra {
		env = append(env, name+"="+value)
	}
	slices.Sort(env[len(env)-len(extra):])
	return append([]string{}, env...) // never nil, which would mean ours
}

// Connect implements [sdk.Transport].
func (p *process) Connect(ctx context.Context) (sdk.Connection, error) {
	if err := p.start(); err != nil {
		return nil, err
	}
	transport := &sdk.IOTransport{Reader: output{newMessages(p.stdout, p.log), p}, Writer: input{p}, MaxLineLength: frameLimit}
	connection, err := transport.Connect(ctx)
	return pipe{connection}, err
}

// pipe notes what was sent. A message that was not written whole is not served.
type pipe struct{ sdk.Connection }

// Write implements [sdk.Connection].
func (p pipe) Write(ctx context.Context, message jsonrpc.Message) error {
	sent := sentMark(ctx)
	sent.Store(true)
	err := p.Connection.Write(ctx, message)
	if err != nil {
		sent.Store(false)
	}
	return err
}

// output is the process's standard output. It stays open as long as the process,
// which may write while it ends.
type output struct {
	*messages
	process *process
}

// Close implements [io.Closer].
func (o output) Close() error {
	go func() {
		<-o.process.exited
		o.process.stdout.Close()
	}()
	return nil
}

// input is the process's standard input. Closing it ends the process.
type input struct{ *process }

func (i input) Write(data []byte) (int, error) { return i.stdin.Write(data) }

func (i input) Close() error {
	go i.end()
	return nil
}

// start starts the process on pipes of its own: those of [exec.Cmd] are closed
// when it ends, with what it wrote last still unread.
func (p *process) start() error {
	var theirs []*os.File
	defer func() {
		for _, file := range theirs {
			file.Close()
		}
	}()
	in, stdin, err := os.Pipe()
	if err != nil {
		return err
	}
	theirs = append(theirs, in)
	stdout, out, err := os.Pipe()
	if err != nil {
		stdin.Close()
		return err
	}
	theirs = append(theirs, out)
	stderr, errs, err := os.Pipe()
	if err != nil {
		stdin.Close()
		stdout.Close()
		return err
	}
	theirs = append(theirs, errs)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	p.stdin, p.stdout, p.stderr = stdin, stdout, &lines{file: stderr, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.live(started)
	if err := <-started; err != nil {
		stdin.Close()
		stdout.Close()
		stderr.Close()
		return err
	}
	go p.stderr.read(p.log, p.redact)
	return nil
}

// live starts the process, and returns when all of it is gone. On Linux the
// process dies with the thread that started it, so that it dies with us: the
// thread is kept for as long.
func (p *process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.exited)
	err := p.launch()
	started <- err
	if err != nil {
		return
	}
	awaitExit(p.cmd)
	p.mu.Lock()
	p.kill(syscall.SIGKILL) // what it left behind in its group
	_ = p.cmd.Wait()        // its state is what why reports
	p.alive = false
	p.mu.Unlock()
	// Something that left the group may still hold the pipes.
	_ = p.stdout.SetReadDeadline(time.Now().Add(grace))
	_ = p.stderr.file.SetReadDeadline(time.Now().Add(grace))
	p.stdin.Close()
}

func (p *process) launch() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.aborted {
		return context.Canceled
	}
	err := p.cmd.Start()
	p.alive = err == nil
	return err
}

// signal signals the process group, if it is there.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive {
		p.kill(sig)
	}
}

func (p *process) kill(sig syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, sig) }

// end ends the process, the gentle way first, and returns when it is gone.
func (p *process) end() {
	p.once.Do(func() {
		p.stdin.Close()
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			select {
			case <-p.exited:
				return
			case <-time.After(grace):
				p.signal(sig)
			}
		}
	})
	<-p.exited
}

// close implements transport.
func (p *process) close(*sdk.ClientSession) { p.end() }

// abort implements transport.
func (p *process) abort() {
	p.mu.Lock()
	p.aborted = true
	started := p.alive
	p.mu.Unlock()
	if started {
		p.signal(syscall.SIGKILL)
		<-p.exited
	}
}

// why implements transport: it says how the process ended, and its last words.
func (p *process) why() string {
	select {
	case <-p.exited:
	case <-time.After(grace):
		return ""
	}
	if p.cmd.ProcessState == nil {
		return ""
	}
	<-p.stderr.done
	reason := fmt.Sprintf("its process ended (%s)", p.cmd.ProcessState)
	if p.stderr.last != "" {
		reason += fmt.Sprintf(", having last written %q", p.stderr.last)
	}
	return reason
}
