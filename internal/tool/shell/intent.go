package shell

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// Journal parts of a call.
const (
	// CommandPart marks calls that start a command. Stopping a turn stops these
	// commands.
	CommandPart = "exec"
	sessionPart = "session" // the call uses an existing session
)

// intent is the journal entry of a call: where its command can be found.
type intent struct {
	Host   string `json:"host"` // to show
	BootID string `json:"boot_id"`
	Place  string `json:"place"`            // the supervisor's directory
	Offset int64  `json:"offset,omitempty"` // where the call starts to read a session's output
}

// note journals where the call runs, and returns the entry of the first attempt.
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

// here returns nil if an attempt that was made there was made here.
func (r *runner) here(there intent) error {
	if there.Place == r.Supervisor.Place() {
		return nil
	}
	return &tool.ElsewhereError{
		Place:     there.Place,
		Otherwise: fmt.Errorf("%w (it was started on machine %s, which does not answer)", tool.ErrOutcomeUnknown, there.Host),
	}
}

// mayStart journals where the call's command starts. It returns nil if this attempt
// may find or start it here: no other attempt did, or its traces would be visible.
func (r *runner) mayStart(ctx context.Context, call tool.Call) error {
	there, fresh, err := r.note(ctx, call, CommandPart, 0)
	if err != nil || fresh {
		return err
	}
	if err := r.here(there); err != nil {
		return err
	}
	if there.BootID == r.BootID {
		return nil
	}
	if process, found := r.Supervisor.Find(call.Key); found {
		if _, err := process.Status(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w (host %s has rebooted since)", tool.ErrOutcomeUnknown, r.Host)
}
