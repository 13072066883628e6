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

type arguments struct {
	Command    string  `json:"command"`
	Timeout    float64 `json:"timeout,omitempty"`
	WorkingDir string  `json:"working_dir,omitempty"`
}

// New returns the exec tool.
func New(options Options) (tool.Tool, error) {
	r, err := newRunner(options)
	if err != nil {
		return tool.Tool{}, fmt.Errorf("exec: %w", err)
	}
	description := fmt.Sprintf(`Run a bash command in the workspace, without input. Returns output and exit status. It is killed after timeout
seconds (default %v, at most %v); background processes are killed when it ends.`, r.Timeout.Seconds(), r.MaxTimeout.Seconds())
	t := tool.New("exec", description, tool.Keyed, inPlace(r, r.run))
	t.Timeout, t.SubjectOf = r.Timeout+margin, r.subject
	t.Detached = true
	t.TimeoutOf = func(raw json.RawMessage) time.Duration {
		var args arguments
		// Invalid arguments get the default; Run reports them.
		_ = json.Unmarshal(raw, &args)
		return r.timeout(args) + margin
	}
	return t, nil
}

// subject returns the working directory of a call, which its title leaves out.
func (r *runner) subject(raw json.RawMessage) tool.Subject {
	var args arguments
	// Invalid arguments name no directory; Run reports them.
	_ = json.Unmarshal(raw, &args)
	if args.WorkingDir == "" {
		return tool.Subject{}
	}
	return tool.PathSubject(r.Workspace, args.WorkingDir).Mentioned()
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
