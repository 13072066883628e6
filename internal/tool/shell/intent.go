package shell

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// The parts of the journal in which calls note what they are about to do.
const (
	// CommandPart says that a command is started under the call's key. When a turn
	// is stopped, so are the commands whose calls noted this.
	CommandPart = "exec"
	sessionPart = "session" // the call deals with a session that there is
)

// intent is what the journal keeps of a call: where its command may be found.
type intent struct {
	Host   string `json:"host"`
	BootID string `json:"boot_id"`
	Place  string `json:"place"`            // the supervisor's directory, which may be gone with its container
	Offset int64  `json:"offset,omitempty"` // from where on the call reads a session's output
}

// note records where the call happens. If an earlier attempt did so first, that
// is what is returned, and fresh is false.
func (r *runner) note(ctx context.Context, call tool.Call, part string, offset int64) (noted intent, fresh bool, err error) {
	data, err := json.Marshal(intent{Host: r.Host, BootID: r.BootID, Place: r.Supervisor.Place(), Offset: offset})
	if err != nil {
		return intent{}, false, err
	}
	stored, fresh, err := call.Journal.Intend(ctx, part, data)
	if err != nil {
		return intent{}, false, fmt.Errorf("%w: record where the command runs: %w", tool.ErrRetry, err)
	}
	if err := json.Unmarshal(stored, &noted); err != nil {
		return intent{}, false, fmt.Errorf("read where the command runs: %w", err)
	}
	return noted, fresh, nil
}

// reachable returns nil if what an attempt has done that noted there can be seen
// from here.
func (r *runner) reachable(there intent) error {
	switch {
	case there.Host != r.Host:
		return fmt.Errorf("%w (it began on host %s, this is %s)", tool.ErrOutcomeUnknown, there.Host, r.Host)
	case there.Place != r.Supervisor.Place():
		return fmt.Errorf("%w (host %s has lost what it knew of its commands)", tool.ErrOutcomeUnknown, r.Host)
	}
	return nil
}

// mayStart records where the call's command is about to be started. It returns
// nil if this attempt may find or start it here: nobody else did, or it was
// somebody who would have left traces that we can see.
func (r *runner) mayStart(ctx context.Context, call tool.Call) error {
	there, fresh, err := r.note(ctx, call, CommandPart, 0)
	if err != nil || fresh {
		return err
	}
	if err := r.reachable(there); err != nil {
		return err
	}
	if there.BootID == r.BootID {
		return nil
	}
	if process, found := r.Supervisor.Find(call.Key); found {
		if _, ended := process.Exit(); ended {
			return nil
		}
	}
	return fmt.Errorf("%w (host %s was restarted since)", tool.ErrOutcomeUnknown, r.Host)
}
