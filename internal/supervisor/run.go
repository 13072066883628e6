package supervisor

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-ai/holdfast/internal/process"
)

const (
	// How often a supervisor checks for a stop request and input, with and without
	// notifications from the kernel.
	watchedPoll   = time.Second
	unwatchedPoll = 20 * time.Millisecond

	timeoutGrace = 2 * time.Second        // from SIGTERM to SIGKILL after a timeout
	stopGrace    = time.Second            // the same after a stop request, which has a waiting caller
	linger       = time.Second            // for children to write after the command has ended
	drain        = 100 * time.Millisecond // to read the rest after they were killed
)

// command is a running command. It leads its process group.
type command struct {
	cmd     *exec.Cmd
	pipe    *os.File
	stdin   *os.File      // nil without input
	more    chan struct{} // signals that there may be more input
	copy    *limitedCopy
	exited  chan struct{} // closed when the process has exited
	drained chan struct{} // closed at the end of the output
	exit    Exit
	ending  bool // SIGTERM was sent
	killed  bool // SIGKILL was sent
}

// run runs the entry's command to its end. input may be nil.
func run(e entry, spec Spec, input *os.File, output io.Writer) Exit {
	c := &command{
		copy: &limitedCopy{to: output, left: spec.MaxOutput}, more: make(chan struct{}, 1),
		exited: make(chan struct{}), drained: make(chan struct{}),
		exit: Exit{StartedAt: time.Now()},
	}
	if err := c.start(spec, input); err != nil {
		c.exit.Code, c.exit.Error = -1, err.Error()
		return c.exit
	}
	c.await(e, spec.Timeout)
	c.exit.DurationMS = time.Since(c.exit.StartedAt).Milliseconds()
	c.settle()
	return c.exit
}

func (c *command) start(spec Spec, input *os.File) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer writer.Close()
	c.pipe = reader
	c.cmd = exec.Command(shell(), "-c", spec.Command) //nolint:noctx // await ends it
	c.cmd.Dir = spec.Dir
	c.cmd.Stdout, c.cmd.Stderr = writer, writer
	c.cmd.SysProcAttr = process.Attributes()
	if input != nil {
		stdin, writer, err := os.Pipe()
		if err != nil {
			return err
		}
		defer stdin.Close()
		c.cmd.Stdin, c.stdin = stdin, writer
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	if input != nil {
		go feed(input, c.stdin, c.more, c.exited)
	}
	go func() {
		defer close(c.exited)
		process.AwaitExit(c.cmd)
	}()
	go func() {
		defer close(c.drained)
		_, _ = io.Copy(c.copy, reader) // an error is the end of the output
	}()
	return nil
}

// await returns when the process has exited. It enforces the timeout and stop
// requests.
func (c *command) await(e entry, timeout time.Duration) {
	var late, kill <-chan time.Time
	if timeout > 0 {
		late = time.After(timeout)
	}
	changed, every := watch(e), watchedPoll
	if changed == nil {
		every = unwatchedPoll
	}
	poll := time.NewTicker(every)
	defer poll.Stop()
	for asked := false; ; {
		if !asked && !c.killed && e.stopped() {
			asked = true
			c.exit.Stopped = !c.exit.TimedOut
			kill = c.terminate(stopGrace)
		}
		wake(c.more)
		select {
		case <-c.exited:
			return
		case <-late:
			if !c.ending {
				c.exit.TimedOut = true
				kill = c.terminate(timeoutGrace)
			}
		case <-kill:
			c.killed = true
			c.signal(unix.SIGKILL)
		case <-changed:
		case <-poll.C:
		}
	}
}

// wake sends without blocking on a channel of capacity 1.
func wake(ch chan<- struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

func (c *command) terminate(grace time.Duration) <-chan time.Time {
	c.ending = true
	c.signal(unix.SIGTERM)
	return time.After(grace)
}

// settle kills the rest of the group and records how the command ended. It does not
// wait for children that left the group and still hold the pipe.
func (c *command) settle() {
	if !c.killed {
		c.awaitOutput(linger)
	}
	c.signal(unix.SIGKILL)
	c.awaitOutput(drain)
	c.pipe.Close()
	<-c.drained
	if c.stdin != nil {
		c.stdin.Close() // a child that left the group may not read it
	}
	process.Reap(c.cmd)
	c.exit.Code = c.cmd.ProcessState.ExitCode()
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		c.exit.Code = 128 + int(status.Signal())
		c.exit.Signal = unix.SignalName(status.Signal())
	}
	c.exit.OutputBytes, c.exit.Truncated = c.copy.total, c.copy.truncated
}

func (c *command) awaitOutput(most time.Duration) {
	select {
	case <-c.drained:
	case <-time.After(most):
	}
}

// signal signals the whole group. The process was not reaped yet, so its ID cannot
// belong to another one.
func (c *command) signal(signal unix.Signal) {
	_ = unix.Kill(-c.cmd.Process.Pid, signal)
}

func shell() string {
	if bash, err := exec.LookPath("bash"); err == nil {
		return bash
	}
	return "/bin/sh"
}

// limitedCopy keeps the first bytes written to it and counts the rest. It never
// fails: a full disk must not block or kill the command.
type limitedCopy struct {
	to        io.Writer
	left      int64
	total     int64
	truncated bool
}

// Write implements [io.Writer].
func (c *limitedCopy) Write(data []byte) (int, error) {
	c.total += int64(len(data))
	keep := data[:min(int64(len(data)), c.left)]
	n, err := c.to.Write(keep)
	c.left -= int64(n)
	if err != nil {
		c.left = 0
	}
	if n < len(data) {
		c.truncated = true
	}
	return len(data), nil
}
