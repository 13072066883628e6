// Package supervisor runs a command so that it outlives the process that asked
// for it, and finds it again by its key.
//
// A small process of our own binary, the supervisor, runs each command. All that
// is known of a command is in files in the directory of its key:
//
//	spec.json  what to run; there before anything starts
//	lock       locked by the supervisor for as long as it lives
//	started    there, durably, before the command is
//	stop       asks to end the command, or never to start it
//	input      what the command was given to read, if it takes any
//	output     what the command wrote, up to a limit
//	seen       how far the output was read
//	exit.json  how it ended; the last thing the supervisor writes
//	log        what the supervisor itself had to say
//
// Liveness is the lock, never a process ID. A command that has started, with no
// lock and no exit.json, was lost: the machine or the supervisor went down.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// DefaultMaxOutput is how many bytes of a command's output are kept.
const DefaultMaxOutput = 10_000_000

// Subcommand is the argument of this program that makes it run [Main].
const Subcommand = "supervise"

// starts bounds how often one Start tries. A supervisor that ends without having
// started its command, and leaves no other that has, was killed or cannot run.
const starts = 3

// ErrLost says that a command was started but its supervisor died before it
// could tell how the command ended: the machine went down, or it was killed.
var ErrLost = errors.New("the command was started, but its supervisor died before the command ended")

// ErrRunning says that a command is running: it has no end yet, and cannot be
// removed.
var ErrRunning = errors.New("the command is running")

// Options are the settings of a [Supervisor].
type Options struct {
	Dir        string       // where the keys' directories are, on a local disk; created if missing
	Executable string       // what has [Main]; empty means this program
	Args       []string     // what comes before the directory on its command line; empty means [Subcommand]
	Logger     *slog.Logger // nil discards
}

// Spec says what to run.
type Spec struct {
	Key       string        // names the run for ever: letters, digits, ".", "_", "-"
	Command   string        // for bash, or sh where there is no bash
	Dir       string        // working directory, absolute
	Env       []string      // the whole environment, "NAME=value"; the supervisor has it too
	Timeout   time.Duration // after which the command is ended; 0 means never
	MaxOutput int64         // bytes of output that are kept; 0 means [DefaultMaxOutput]
	Input     bool          // it reads what [Process.Write] is given; else nothing
	Owner     string        // whose it is, for [Supervisor.List]
}

// Exit says how a command ended.
type Exit struct {
	Code        int       `json:"exit_code"`           // 128 + the signal's number if a signal ended it; -1 if it never started
	Signal      string    `json:"signal,omitempty"`    // the signal that ended it: "SIGKILL"
	Error       string    `json:"error,omitempty"`     // why it could not be started
	TimedOut    bool      `json:"timed_out,omitempty"` // it was ended because it took too long
	Stopped     bool      `json:"stopped,omitempty"`   // it was ended, or never started, because of [Supervisor.Stop]
	DurationMS  int64     `json:"duration_ms"`
	OutputBytes int64     `json:"output_bytes"`        // what it wrote, kept or not
	Truncated   bool      `json:"truncated,omitempty"` // not all that it wrote was kept
	StartedAt   time.Time `json:"started_at"`
}

// Supervisor starts commands and finds them again. It keeps nothing in memory:
// any number of them, in any number of processes, may share a directory.
type Supervisor struct {
	dir        string
	place      string
	executable string
	args       []string
	logger     *slog.Logger
}

// New returns a Supervisor over the directory in options.
func New(options Options) (*Supervisor, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("supervisor: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("supervisor: %w", err)
	}
	executable := options.Executable
	if executable == "" {
		if executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("supervisor: find this program: %w", err)
		}
	}
	place, err := placeOf(dir)
	if err != nil {
		return nil, fmt.Errorf("supervisor: name the directory: %w", err)
	}
	args := options.Args
	if len(args) == 0 {
		args = []string{Subcommand}
	}
	logger := options.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return &Supervisor{dir: dir, place: place, executable: executable, args: args, logger: logger}, nil
}

// Place names the directory for ever. A caller that finds another place than it
// started a command in cannot know about that command: a container was made
// anew, or the directory was deleted.
func (s *Supervisor) Place() string { return s.place }

// Start makes sure that spec's command was started, once. It returns as soon as
// the command runs, has ended, was lost or was stopped, whoever started it and
// however often Start was called; then spec's other fields mean nothing. If ctx
// ends first the command may or may not start: another Start finds out.
func (s *Supervisor) Start(ctx context.Context, spec Spec) (*Process, error) {
	e, err := s.entry(spec.Key)
	if err != nil {
		return nil, err
	}
	if e.phase() != absent {
		return &Process{entry: e}, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := e.prepare(spec); err != nil {
		return nil, fmt.Errorf("supervisor: prepare %s: %w", spec.Key, err)
	}
	for range starts {
		exited, err := s.spawn(e, spec.Env)
		if err != nil {
			return nil, fmt.Errorf("supervisor: start %s: %w", spec.Key, err)
		}
		if err := until(ctx, exited, func() bool { return e.phase() != absent || closed(exited) }); err != nil {
			return nil, err
		}
		if e.phase() != absent {
			s.logger.DebugContext(ctx, "command started", "key", spec.Key)
			return &Process{entry: e, exited: exited}, nil
		}
	}
	return nil, fmt.Errorf("supervisor: start %s: nothing started: %s", spec.Key, e.tail(logFile, 1000))
}

// Find returns the command of that key, if it was ever started or stopped.
func (s *Supervisor) Find(key string) (*Process, bool) {
	e, err := s.entry(key)
	if err != nil || e.phase() == absent {
		return nil, false
	}
	return &Process{entry: e}, true
}

// Stop ends the commands of those keys and all that is left of their process
// groups, and returns when they are gone: after a second and a half at most, also
// if they ignore SIGTERM. One that is not there yet will never start. What has
// ended already stays as it is.
func (s *Supervisor) Stop(ctx context.Context, keys ...string) error {
	var stopped []entry
	for _, key := range keys {
		e, err := s.entry(key)
		if err != nil {
			return err
		}
		if err := e.requestStop(); err != nil {
			return fmt.Errorf("supervisor: stop %s: %w", key, err)
		}
		stopped = append(stopped, e)
	}
	for _, e := range stopped {
		if err := until(ctx, nil, func() bool { return e.phase() != running }); err != nil {
			return err
		}
	}
	return nil
}

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

func (s *Supervisor) entry(key string) (entry, error) {
	if !keyPattern.MatchString(key) {
		return entry{}, fmt.Errorf("supervisor: %q cannot be a key", key)
	}
	return entry{dir: filepath.Join(s.dir, key)}, nil
}
