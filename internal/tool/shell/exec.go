package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// arguments are those of exec.
type arguments struct {
	Command    string  `json:"command" jsonschema:"the command line, for bash"`
	Timeout    float64 `json:"timeout,omitempty" jsonschema:"seconds after which the command is ended"`
	WorkingDir string  `json:"working_dir,omitempty" jsonschema:"directory to run in, absolute or relative to the workspace; the workspace if not given"`
}

// New returns the exec tool.
func New(options Options) (tool.Tool, error) {
	r, err := newRunner(options)
	if err != nil {
		return tool.Tool{}, fmt.Errorf("exec: %w", err)
	}
	description := fmt.Sprintf(`Run a shell command and return what it writes and its exit status.
It runs in the workspace, with no input, and is ended after %v unless timeout says otherwise (at most %v).
Processes that it leaves in the background are ended when it ends.`, r.Timeout, r.MaxTimeout)
	t, err := tool.New("exec", description, tool.Keyed, r.run)
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
	return seconds(args.Timeout, r.Timeout, r.MaxTimeout)
}

func (r *runner) run(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	timeout := r.timeout(args)
	process, err := r.start(ctx, call, args.WorkingDir, supervisor.Spec{Command: args.Command, Timeout: timeout})
	if err != nil {
		return r.interrupted(ctx, call, timeout, err)
	}
	exit, err := wait(ctx, process, call.Progress)
	if errors.Is(err, supervisor.ErrLost) {
		return tool.Result{}, lost(process)
	}
	if err != nil {
		return r.interrupted(ctx, call, timeout, err)
	}
	return result(process, exit, timeout)
}
