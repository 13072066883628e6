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
	// How often a supervisor looks for a stop and for more input: if the kernel says
	// when there is something, and if it does not.
	watchedPoll   = time.Second
	unwatchedPoll = 20 * time.Millisecond

	timeoutGrace = 2 * time.Second        // from SIGTERM to SIGKILL when the time is up
	stopGrace    = time.Second            // the same when somebody waits for it
	linger       = time.Second            // how long children may write when the command itself has ended
	drain        = 100 * time.Millisecond // to read what is left when they have been killed
)

// command is a running one. Its process is also its process group.
type command struct {
	cmd     *exec.Cmd
	pipe    *os.File
	stdin   *os.File      // nil if it has no input
	more    chan struct{} // has something in it when there may be more input
	copy    *limitedCopy
	exited  chan struct{} // the process has ended
	drained chan struct{} // all that has the pipe open has ended
	exit    Exit
	ending  bool // was sent SIGTERM
	killed  bool // was sent SIGKILL
}

// run runs the entry's job to its end. input is nil for none.
func run(e entry, j job, input *os.File, output io.Writer) Exit {
	c := &command{
		copy: &limitedCopy{to: output, left: j.MaxOutput}, more: make(chan struct{}, 1),
		exited: make(chan struct{}), drained: make(chan struct{}),
		exit: Exit{StartedAt: time.Now()},
	}
	if err := c.start(j, input); err != nil {
		c.exit.Code, c.exit.Error = -1, err.Error()
		return c.exit
	}
	c.await(e, j.Timeout)
	c.exit.DurationMS = time.Since(c.exit.StartedAt).Milliseconds()
	c.settle()
	return c.exit
}

func (c *command) start(j job, input *os.File) error {
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer writer.Close()
	c.pipe = reader
	c.cmd = exec.Command(shell(), "-c", j.Command) //nolint:noctx // await ends it
	c.cmd.Dir = j.Dir
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
		// The end of a read is the end of the output, whatever its error.
		_, _ = io.Copy(c.copy, reader)
	}()
	return nil
}

// await returns when the process has ended, by itself or by us.
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

// wake puts something into a channel that holds one thing.
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

// settle ends what is left of the group and fills in how the command ended. A
// child that left the group may hold the pipe for ever; it is not waited for.
func (c *command) settle() {
	if !c.killed {
		c.awaitOutput(linger)
	}
	c.signal(unix.SIGKILL)
	c.awaitOutput(drain)
	c.pipe.Close()
	<-c.drained
	if c.stdin != nil {
		c.stdin.Close() // a child that left the group may keep it from being written to
	}
	_ = c.cmd.Wait() // reaps; what it would say is in ProcessState
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

// signal goes to the whole group. It cannot hit a stranger: the process has not
// been reaped, so nothing else has its ID. That the group may be gone is fine.
func (c *command) signal(signal unix.Signal) {
	_ = unix.Kill(-c.cmd.Process.Pid, signal)
}

func shell() string {
	if bash, err := exec.LookPath("bash"); err == nil {
		return bash
	}
	return "/bin/sh"
}

// limitedCopy keeps the first bytes that are written to it and counts the rest.
// It never fails: a command must not block or die because a disk is full.
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
