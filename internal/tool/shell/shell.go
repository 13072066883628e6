// Package shell has the exec tool: it runs a command that survives its worker.
package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	toolName       = "exec"
	defaultTimeout = time.Minute
	defaultMost    = time.Hour
	// margin is how much longer a call may take than its command: the supervisor
	// enforces the timeout, and needs time to start it, end it and write it down.
	margin        = 30 * time.Second
	progressEvery = 500 * time.Millisecond
	stopPatience  = 5 * time.Second
)

// Options are the settings of the exec tool.
type Options struct {
	Supervisor *supervisor.Supervisor
	Workspace  string        // where commands run, and their HOME; absolute
	Restrict   bool          // working_dir must be in the workspace
	Timeout    time.Duration // for calls that name none; 0 means a minute
	MaxTimeout time.Duration // the most that a call may ask for; 0 means an hour
	Env        []string      // added to commands' environment, "NAME=value"
	Host       string        // names this machine; empty means its host name
	BootID     string        // changes when the machine starts anew; empty means the kernel's
}

// arguments are those of the tool.
type arguments struct {
	Command    string  `json:"command" jsonschema:"the command line, for bash"`
	Timeout    float64 `json:"timeout,omitempty" jsonschema:"seconds after which the command is ended"`
	WorkingDir string  `json:"working_dir,omitempty" jsonschema:"directory to run in, absolute or relative to the workspace; the workspace if not given"`
}

// runner runs commands.
type runner struct {
	Options
	env []string
}

// New returns the exec tool.
func New(options Options) (tool.Tool, error) {
	r := &runner{Options: options}
	r.Timeout = cmp.Or(r.Timeout, defaultTimeout)
	r.MaxTimeout = max(cmp.Or(r.MaxTimeout, defaultMost), r.Timeout)
	if !filepath.IsAbs(r.Workspace) {
		return tool.Tool{}, fmt.Errorf("exec: the workspace %q is not an absolute path", r.Workspace)
	}
	if r.Host == "" {
		host, err := os.Hostname()
		if err != nil {
			return tool.Tool{}, fmt.Errorf("exec: name this machine: %w", err)
		}
		r.Host = host
	}
	if r.BootID == "" {
		id, err := bootID()
		if err != nil {
			return tool.Tool{}, fmt.Errorf("exec: find when this machine started: %w", err)
		}
		r.BootID = id
	}
	r.env = environment(r.Workspace, r.Env)

	description := fmt.Sprintf(`Run a shell command and return what it writes and its exit status.
It runs in the workspace, with no input, and is ended after %v unless timeout says otherwise (at most %v).
Processes that it leaves in the background are ended when it ends.`, r.Timeout, r.MaxTimeout)
	t, err := tool.New(toolName, description, tool.Keyed, r.run)
	if err != nil {
		return tool.Tool{}, err
	}
	t.Timeout = r.Timeout + margin
	t.TimeoutOf = func(raw json.RawMessage) time.Duration {
		var args arguments
		// What cannot be read has the default; Run will complain about it.
		_ = json.Unmarshal(raw, &args)
		return r.timeout(args) + margin
	}
	return t, nil
}

func (r *runner) timeout(args arguments) time.Duration {
	switch {
	case args.Timeout <= 0:
		return r.Timeout
	case args.Timeout >= r.MaxTimeout.Seconds():
		return r.MaxTimeout
	}
	return time.Duration(args.Timeout * float64(time.Second))
}

func (r *runner) run(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	process, err := r.start(ctx, call, args)
	if errors.Is(err, tool.ErrOutcomeUnknown) {
		return tool.Result{}, err
	}
	if err != nil {
		return r.interrupted(ctx, call, args, err)
	}
	exit, err := wait(ctx, process, call.Progress)
	if errors.Is(err, supervisor.ErrLost) {
		return tool.Result{}, lost(process)
	}
	if err != nil {
		return r.interrupted(ctx, call, args, err)
	}
	return result(process, exit, r.timeout(args))
}

// start returns the call's command, running or ended: started by this attempt,
// or by an earlier one.
func (r *runner) start(ctx context.Context, call tool.Call, args arguments) (*supervisor.Process, error) {
	if err := r.mayStart(ctx, call); err != nil {
		return nil, err
	}
	// Only then look at the directory: the command may have deleted it.
	if process, found := r.Supervisor.Find(call.Key); found {
		return process, nil
	}
	dir, err := r.workingDir(args.WorkingDir)
	if err != nil {
		return nil, err
	}
	process, err := r.Supervisor.Start(ctx, supervisor.Spec{
		Key: call.Key, Command: args.Command, Dir: dir, Env: r.env, Timeout: r.timeout(args),
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	return process, nil
}

// interrupted says what becomes of a call whose attempt ended with err. If the
// user stopped it the command is ended, or never starts; if the worker goes away
// the command goes on, and the next attempt finds it.
func (r *runner) interrupted(ctx context.Context, call tool.Call, args arguments, err error) (tool.Result, error) {
	cause := context.Cause(ctx)
	if cause == nil {
		return tool.Result{}, err
	}
	if !errors.Is(cause, tool.ErrStopped) {
		return tool.Result{}, fmt.Errorf("exec: left to the next attempt: %w", cause)
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
	return result(process, exit, r.timeout(args))
}

// wait waits for the command and meanwhile shows its last line.
func wait(ctx context.Context, process *supervisor.Process, show func(string)) (supervisor.Exit, error) {
	if show == nil {
		return process.Wait(ctx)
	}
	var group sync.WaitGroup
	defer group.Wait()
	watching, done := context.WithCancel(ctx)
	defer done()
	group.Go(func() { progress(watching, process, show) })
	return process.Wait(ctx)
}

func progress(ctx context.Context, process *supervisor.Process, show func(string)) {
	ticker := time.NewTicker(progressEvery)
	defer ticker.Stop()
	shown := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if line := process.LastLine(); line != "" && line != shown {
				show(line)
				shown = line
			}
		}
	}
}
