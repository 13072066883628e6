// Package supervisor runs commands that outlive the process that started them, and
// finds them again by key.
//
// A supervisor, a small process of our own binary, runs each command. The state of a
// command is in files in the directory of its key:
//
//	spec.json  what to run; exists before anything starts
//	lock       locked by the supervisor while it lives
//	started    created durably before the command starts
//	stop       requests to end the command, or never to start it
//	input      the command's input, if it takes any
//	output     the command's output, up to a limit
//	seen       how far the output was read
//	exit.json  how the command ended; written last
//	log        the supervisor's own messages
//
// The lock tells whether a supervisor lives; process IDs are never used. A command
// that has started, with no lock held and no exit.json, is lost: the machine or the
// supervisor crashed.
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

// DefaultMaxOutput is the number of bytes of a command's output to keep.
const DefaultMaxOutput = 10_000_000

// Subcommand is the argument of this program that makes it run [Main].
const Subcommand = "supervise"

// startAttempts is how often Start spawns a supervisor. One that exits without
// starting the command was killed or cannot run.
const startAttempts = 3

// ErrLost reports that a command started, but its supervisor died before the command
// ended.
var ErrLost = errors.New("the command was started, but its supervisor died before the command ended")

// ErrRunning reports that a command is still running.
var ErrRunning = errors.New("the command is running")

// Options configure a [Supervisor].
type Options struct {
	Dir        string       // parent of the keys' directories, on a local disk; created if missing
	Executable string       // program that calls [Main]; empty means this one
	Args       []string     // its arguments before the directory; empty means [Subcommand]
	Logger     *slog.Logger // nil discards
}

// Spec describes a command. It is stored in a file, without the environment, which may
// hold secrets and which the supervisor inherits.
type Spec struct {
	Key       string        `json:"-"`               // unique forever: letters, digits, ".", "_", "-"
	Command   string        `json:"command"`         // for bash, or sh if there is no bash
	Dir       string        `json:"dir"`             // working directory, absolute
	Env       []string      `json:"-"`               // the whole environment, "NAME=value", also of the supervisor
	Timeout   time.Duration `json:"timeout"`         // 0 means none
	MaxOutput int64         `json:"max_output"`      // bytes of output to keep; 0 means [DefaultMaxOutput]
	Input     bool          `json:"input,omitempty"` // it reads input from [Process.Write]; else it has none
	Owner     string        `json:"owner,omitempty"` // for [Supervisor.List]
}

// Exit tells how a command ended.
type Exit struct {
	Code        int       `json:"exit_code"`           // 128 + signal number if a signal ended it; -1 if it never started
	Signal      string    `json:"signal,omitempty"`    // such as "SIGKILL"
	Error       string    `json:"error,omitempty"`     // why it could not be started
	TimedOut    bool      `json:"timed_out,omitempty"` // it was ended by its timeout
	Stopped     bool      `json:"stopped,omitempty"`   // it was ended, or never started, because of [Supervisor.Stop]
	DurationMS  int64     `json:"duration_ms"`
	OutputBytes int64     `json:"output_bytes"`        // written, whether kept or not
	Truncated   bool      `json:"truncated,omitempty"` // not all output was kept
	StartedAt   time.Time `json:"started_at"`
}

// Supervisor starts commands and finds them again. It has no state in memory: any
// number of Supervisors, in several processes, may share a directory.
type Supervisor struct {
	dir        string
	place      string
	executable string
	args       []string
	logger     *slog.Logger
}

// New returns a Supervisor for the directory in options.
func New(options Options) (*Supervisor, error) {
	dir, err := filepath.Abs(options.Dir)
	if err != nil {
		return nil, fmt.Errorf("supervisor: %w", err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("supervisor: %w", err)
	}
	s := &Supervisor{dir: dir, executable: options.Executable, args: options.Args, logger: options.Logger}
	if s.executable == "" {
		if s.executable, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("supervisor: find this program: %w", err)
		}
	}
	if s.place, err = placeOf(dir); err != nil {
		return nil, fmt.Errorf("supervisor: name the directory: %w", err)
	}
	if len(s.args) == 0 {
		s.args = []string{Subcommand}
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// Place returns the unique name of the directory. A command started in another place
// cannot be found here: its container or directory was deleted.
func (s *Supervisor) Place() string { return s.place }

// Start starts spec's command unless its key was started before. It returns as soon
// as the command runs, has ended, was lost or was stopped. If ctx ends first, the
// command may or may not start; another Start finds out.
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
	for range startAttempts {
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
	return nil, fmt.Errorf("supervisor: start %s: the command did not start: %s", spec.Key, e.tail(logFile, 1000))
}

// Find returns the command of a key if it was ever started or stopped.
func (s *Supervisor) Find(key string) (*Process, bool) {
	e, err := s.entry(key)
	if err != nil || e.phase() == absent {
		return nil, false
	}
	return &Process{entry: e}, true
}

// Stop ends the commands of these keys with their process groups, and returns when
// they are gone: within a second and a half, even if they ignore SIGTERM. A command
// that was not started yet will never start.
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

var keyPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

const maxKey = 200 // bytes

func (s *Supervisor) entry(key string) (entry, error) {
	if len(key) > maxKey || !keyPattern.MatchString(key) {
		return entry{}, fmt.Errorf("supervisor: invalid key %q", key)
	}
	return entry{dir: filepath.Join(s.dir, key)}, nil
}
