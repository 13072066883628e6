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
	"sync/atomic"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// grace is how long a process has to end after its input was closed, and then
// once more after it was asked to.
const grace = time.Second

// process is a server that we start. It is a transport, connected once.
type process struct {
	cmd    *exec.Cmd
	log    *slog.Logger
	redact func(string) string

	stdin    *os.File // our ends
	stdout   *os.File
	messages *messages // of stdout
	stderr   *lines
	left     atomic.Bool // its output ended, or it did
	ended    atomic.Bool // by us: it had not left

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
	p.messages = newMessages(stdout, p.log)
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
	p.left.Store(true)
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
		p.ended.Store(!p.left.Load())
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

// heard implements transport.
func (p *process) heard() int64 { return p.messages.count.Load() }

// why implements transport: it says how the process ended by itself, and its last
// words.
func (p *process) why() string {
	select {
	case <-p.exited:
	case <-time.After(grace):
		return ""
	}
	if p.cmd.ProcessState == nil || p.ended.Load() {
		return ""
	}
	<-p.stderr.done
	reason := fmt.Sprintf("its process ended (%s)", p.cmd.ProcessState)
	if p.stderr.last != "" {
		reason += fmt.Sprintf(", having last written %q", p.stderr.last)
	}
	return reason
}
