// Package shell has the agent's tools for commands: exec, which runs one to its
// end, and sessions, which go on while the agent does other things. Both survive
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
	// margin is how much longer a call may take than its command: the supervisor
	// enforces the timeout, and needs time to start it, end it and write it down.
	margin       = 30 * time.Second
	stopPatience = 5 * time.Second
)

// Options are the settings of the tools.
type Options struct {
	Supervisor *supervisor.Supervisor
	Workspace  string        // where commands run, and their HOME; absolute
	Restrict   bool          // working_dir must be in the workspace
	Timeout    time.Duration // for exec calls that name none; 0 means a minute
	MaxTimeout time.Duration // the most that an exec call may ask for, and that any call may wait; 0 means an hour
	Lifetime   time.Duration // the longest that a session may run; 0 means 12 hours
	Env        []string      // added to commands' environment, "NAME=value"
	Host       string        // names this machine; empty means its host name
	BootID     string        // changes when the machine starts anew; empty means the kernel's
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
	if !filepath.IsAbs(r.Workspace) {
		return nil, fmt.Errorf("the workspace %q is not an absolute path", r.Workspace)
	}
	if r.Host == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("name this machine: %w", err)
		}
		r.Host = host
	}
	if r.BootID == "" {
		id, err := bootID()
		if err != nil {
			return nil, fmt.Errorf("find when this machine started: %w", err)
		}
		r.BootID = id
	}
	r.env = environment(r.Workspace, r.Env)
	return r, nil
}

// seconds is how long a call asks for: the usual if it does not say, and never
// more than most.
func seconds(asked float64, usual, most time.Duration) time.Duration {
	switch {
	case asked <= 0:
		return min(usual, most)
	case asked >= most.Seconds():
		return most
	}
	return time.Duration(asked * float64(time.Second))
}

// start returns the command of the call, running or ended: started by this
// attempt, or by an earlier one. The key, the environment and the directory that
// spec lacks are the call's.
func (r *runner) start(ctx context.Context, call tool.Call, workingDir string, spec supervisor.Spec) (*supervisor.Process, error) {
	if strings.TrimSpace(spec.Command) == "" {
		return nil, errors.New("the command is empty: nothing was started")
	}
	if err := r.mayStart(ctx, call); err != nil {
		return nil, err
	}
	// Only then look at the directory: the command may have deleted it.
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

// interrupted says what becomes of a call whose attempt at starting a command,
// or at waiting for it, ended with err. If the user stopped it the command is
// ended, or never starts; if the worker goes away the command goes on, and the
// next attempt finds it.
func (r *runner) interrupted(ctx context.Context, call tool.Call, timeout time.Duration, err error) (tool.Result, error) {
	cause := context.Cause(ctx)
	if cause == nil || errors.Is(err, tool.ErrOutcomeUnknown) {
		return tool.Result{}, err
	}
	if !errors.Is(cause, tool.ErrStopped) {
		return tool.Result{}, left(cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	if err := r.Supervisor.Stop(ctx, call.Key); err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	process, found := r.Supervisor.Find(call.Key)
	if !found {
		return tool.Result{}, fmt.Errorf("%w: the stopped command is gone", tool.ErrOutcomeUnknown)
	}
	exit, ended := process.Exit()
	if !ended {
		return tool.Result{}, lost(process)
	}
	return result(process, exit, timeout)
}

// left is the error of an attempt that ended for that cause.
func left(cause error) error { return fmt.Errorf("left to the next attempt: %w", cause) }
