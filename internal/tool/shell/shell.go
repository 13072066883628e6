// Package shell has the agent's tools for commands: exec, which runs a command to its
// end, and the session tools, which run commands in the background. Commands survive
// their worker.
package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	defaultTimeout  = time.Minute
	defaultMost     = time.Hour
	defaultLifetime = 12 * time.Hour
	// margin is added to a command's timeout for the call's: the supervisor enforces
	// the timeout and needs time to start and end the command.
	margin      = 30 * time.Second
	stopTimeout = 5 * time.Second
)

// Options configure the tools.
type Options struct {
	Supervisor *supervisor.Supervisor
	Places     Places
	Workspace  string        // working directory and HOME of commands; absolute
	Restrict   bool          // working_dir must be in the workspace
	Timeout    time.Duration // default of exec; 0 means a minute
	MaxTimeout time.Duration // maximum timeout of exec, and wait of any call; 0 means an hour
	Lifetime   time.Duration // maximum lifetime of a session; 0 means 12 hours
	Env        []string      // added to the environment of commands, "NAME=value"
	Host       string        // name of this machine, to show; empty means its host name
	BootID     string        // changes at a reboot; empty means the kernel's
}

// runner runs commands.
type runner struct {
	Options
	env []string
}

func newRunner(options Options) (*runner, error) {
	r := &runner{Options: options}
	r.Timeout = cmp.Or(r.Timeout, defaultTimeout)
	r.MaxTimeout = max(cmp.Or(r.MaxTimeout, defaultMost), r.Timeout)
	r.Lifetime = cmp.Or(r.Lifetime, defaultLifetime)
	if r.Places == nil {
		return nil, errors.New("places are required")
	}
	if !filepath.IsAbs(r.Workspace) {
		return nil, fmt.Errorf("workspace %q is not an absolute path", r.Workspace)
	}
	if r.Host == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("read the host name: %w", err)
		}
		r.Host = host
	}
	if r.BootID == "" {
		id, err := bootID()
		if err != nil {
			return nil, fmt.Errorf("read the boot ID: %w", err)
		}
		r.BootID = id
	}
	r.env = environment(r.Workspace, r.Env)
	return r, nil
}

// seconds returns the duration that a call asks for: usual by default, at most most.
func seconds(asked float64, usual, most time.Duration) time.Duration {
	switch {
	case asked <= 0:
		return min(usual, most)
	case asked >= most.Seconds():
		return most
	}
	return time.Duration(asked * float64(time.Second))
}

// start returns the call's command, running or ended, started by this attempt or an
// earlier one. It fills in spec's key, environment and directory.
func (r *runner) start(ctx context.Context, call tool.Call, workingDir string, spec supervisor.Spec) (*supervisor.Process, error) {
	if strings.TrimSpace(spec.Command) == "" {
		return nil, errors.New("the command is empty")
	}
	if err := r.mayStart(ctx, call); err != nil {
		return nil, err
	}
	// Check the directory only now: the command may have deleted it.
	if process, found := r.Supervisor.Find(call.Key); found {
		return process, nil
	}
	dir, err := r.workingDir(workingDir)
	if err != nil {
		return nil, err
	}
	spec.Key, spec.Dir, spec.Env = call.Key, dir, r.env
	process, err := r.Supervisor.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	return process, nil
}

// interrupted handles the error of starting a command or waiting for it. If the user
// stopped the call, it ends the command. If the worker shuts down, the command
// continues for the next attempt.
func (r *runner) interrupted(ctx context.Context, call tool.Call, timeout time.Duration, err error) (tool.Result, error) {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, tool.ErrOutcomeUnknown) {
		return tool.Result{}, err
	}
	if !errors.Is(cause, tool.ErrStopped) {
		return tool.Result{}, left(cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := r.Supervisor.Stop(ctx, call.Key); err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	process, found := r.Supervisor.Find(call.Key)
	if !found {
		return tool.Result{}, fmt.Errorf("%w: the stopped command was not found", tool.ErrOutcomeUnknown)
	}
	exit, err := process.Status()
	if err != nil {
		return tool.Result{}, lost(process)
	}
	return result(process, exit, timeout)
}

// left returns the error of an attempt that ended for that cause.
func left(cause error) error { return fmt.Errorf("continued by the next attempt: %w", cause) }
