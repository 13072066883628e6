package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Main is the supervisor process. args is the directory of one key. It returns the
// process's exit status when the command has ended, or if no command was given.
func Main(args []string) int {
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: supervise DIR")
		return 2
	}
	// The kernel kills the command when the thread that started it ends.
	runtime.LockOSThread()
	// Catch the signals rather than ignore them: the command would inherit that.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGTERM, unix.SIGQUIT)
	if err := supervise(entry{dir: args[0]}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func supervise(e entry) error {
	lock, err := e.lock()
	if errors.Is(err, errHeld) || errors.Is(err, fs.ErrNotExist) {
		return nil // another supervisor runs, or the command was removed
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	defer lock.Close()
	if e.exists(exitFile) || e.exists(startedFile) {
		return nil
	}
	if e.exists(stopFile) {
		return e.finish(neverStarted())
	}
	spec, err := e.spec()
	if err != nil {
		return err
	}
	var input *os.File
	if spec.Input {
		if input, err = os.Open(e.path(inputFile)); err != nil {
			return err
		}
		defer input.Close()
	}
	output, err := os.OpenFile(e.path(outputFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	if err := e.mark(startedFile); err != nil {
		return fmt.Errorf("record the start: %w", err)
	}
	exit := run(e, spec, input, output)
	if exit.OutputBytes > 0 {
		if err := output.Sync(); err != nil {
			fmt.Fprintln(os.Stderr, "sync output:", err)
		}
	}
	return e.finish(exit)
}

// stopped reports whether the command should end: on request, or if its directory was
// deleted, since it could no longer be found.
func (e entry) stopped() bool { return e.exists(stopFile) || !e.exists(lockFile) }

func (e entry) finish(exit Exit) error {
	if exit.StartedAt.IsZero() {
		exit.StartedAt = time.Now()
	}
	if err := writeJSON(e.path(exitFile), exit); err != nil {
		return fmt.Errorf("record the end: %w", err)
	}
	return syncDir(e.dir)
}
