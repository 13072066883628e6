package shell

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// intent is what the journal keeps of a call: where its command may be found.
type intent struct {
	Host   string `json:"host"`
	BootID string `json:"boot_id"`
	Place  string `json:"place"` // the supervisor's directory, which may be gone with its container
}

// mayStart records where the call's command is about to be started. It returns
// nil if this attempt may find or start it here: nobody else did, or it was
// somebody who would have left traces that we can see.
func (r *runner) mayStart(ctx context.Context, call tool.Call) error {
	here := intent{Host: r.Host, BootID: r.BootID, Place: r.Supervisor.Place()}
	data, err := json.Marshal(here)
	if err != nil {
		return err
	}
	stored, fresh, err := call.Journal.Intend(ctx, toolName, data)
	if err != nil {
		return fmt.Errorf("%w: record where the command runs: %w", tool.ErrRetry, err)
	}
	if fresh {
		return nil
	}
	var there intent
	if err := json.Unmarshal(stored, &there); err != nil {
		return fmt.Errorf("read where the command runs: %w", err)
	}
	switch {
	case there.Host != here.Host:
		return fmt.Errorf("%w (it began on host %s, this is %s)", tool.ErrOutcomeUnknown, there.Host, here.Host)
	case there.Place != here.Place:
		return fmt.Errorf("%w (host %s has lost what it knew of its commands)", tool.ErrOutcomeUnknown, here.Host)
	case there.BootID != here.BootID:
		if process, found := r.Supervisor.Find(call.Key); found {
			if _, ended := process.Exit(); ended {
				return nil
			}
		}
		return fmt.Errorf("%w (host %s was restarted since)", tool.ErrOutcomeUnknown, here.Host)
	}
	return nil
}
