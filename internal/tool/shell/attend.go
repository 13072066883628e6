package shell

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// session is the session of a call.
type session struct {
	process *supervisor.Process
	name    string
	from    int64 // offset of the output that the call returns
}

// state is the state of a session. It has ended if it is neither running nor lost.
type state struct {
	running, lost bool
	exit          supervisor.Exit
}

func stateOf(process *supervisor.Process) state {
	exit, err := process.Status()
	return state{running: errors.Is(err, supervisor.ErrRunning), lost: errors.Is(err, supervisor.ErrLost), exit: exit}
}

// String describes the state to the model.
func (s state) String() string {
	switch {
	case s.lost:
		return "was lost; how it ended is unknown"
	case s.running:
		return "is running"
	}
	text := "has ended"
	if s.exit.TimedOut {
		text += ", timed out"
	}
	if s.exit.Stopped {
		text += ", was stopped"
	}
	if status := status(s.exit); status != "" {
		text += ", " + status
	}
	if s.exit.Truncated {
		text += fmt.Sprintf("; not all of its %d bytes of output were kept", s.exit.OutputBytes)
	}
	return text
}

// errWaited is the cause of a context whose wait time is over.
var errWaited = errors.New("wait time is over")

// attend waits up to most for the session to end, and returns its new output and its
// state. The error is ctx's cause, or retryable.
func (r *runner) attend(ctx context.Context, call tool.Call, s session, most time.Duration) (shown string, now state, err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, most, errWaited)
	defer cancel()
	_, err = wait(waiting, s.process, call.Progress)
	if err != nil && !errors.Is(err, errWaited) && !errors.Is(err, supervisor.ErrLost) {
		return "", state{}, err
	}
	now = stateOf(s.process) // before reading the output, which is complete if it has ended
	output, err := s.process.Output(s.from)
	if err != nil {
		return "", state{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	if now.running {
		output = text.WholeRunes(output) // the rest of a character may follow
	}
	next := s.from + int64(len(output))
	if err := s.process.See(next); err != nil {
		return "", state{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	note := fmt.Sprintf("session %s %s", s.name, now)
	if len(output) > 0 {
		note += fmt.Sprintf("; output bytes %d to %d", s.from+1, next)
	}
	return annotate(output, note), now, nil
}
