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

// session is one that a call deals with.
type session struct {
	process *supervisor.Process
	name    string
	from    int64 // where the output begins that the call returns
}

// state is how far a session is. It has ended if it neither runs nor was lost.
type state struct {
	running, lost bool
	exit          supervisor.Exit
}

func stateOf(process *supervisor.Process) state {
	exit, err := process.Status()
	return state{running: errors.Is(err, supervisor.ErrRunning), lost: errors.Is(err, supervisor.ErrLost), exit: exit}
}

// String says it to the model.
func (s state) String() string {
	switch {
	case s.lost:
		return "was lost, how it ended is unknown"
	case s.running:
		return "is running"
	}
	text := "has ended"
	if s.exit.TimedOut {
		text += ", its time was up"
	}
	if s.exit.Stopped {
		text += ", it was stopped"
	}
	if status := status(s.exit); status != "" {
		text += ", " + status
	}
	if s.exit.Truncated {
		text += fmt.Sprintf("; of %d bytes that it wrote not all were kept", s.exit.OutputBytes)
	}
	return text
}

// errWaited says that a call has waited as long as it was asked to.
var errWaited = errors.New("waited long enough")

// attend waits for the session to end, though not for longer than most, and
// returns what it has written meanwhile and what became of it. The error is
// ctx's cause, or one that another attempt may cure.
func (r *runner) attend(ctx context.Context, call tool.Call, s session, most time.Duration) (said string, now state, err error) {
	waiting, cancel := context.WithTimeoutCause(ctx, most, errWaited)
	defer cancel()
	_, err = wait(waiting, s.process, call.Progress)
	if err != nil && !errors.Is(err, errWaited) && !errors.Is(err, supervisor.ErrLost) {
		return "", state{}, err
	}
	now = stateOf(s.process) // before the output is read: then what has ended has no more
	output, err := s.process.OutputFrom(s.from)
	if err != nil {
		return "", state{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	if now.running {
		output = text.WholeRunes(output) // the rest of a character is still to come
	}
	next := s.from + int64(len(output))
	if err := s.process.See(next); err != nil {
		return "", state{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	note := fmt.Sprintf("session %s %s", s.name, now)
	if len(output) > 0 {
		note += fmt.Sprintf("; this was its output from byte %d to %d", s.from+1, next)
	}
	return annotate(output, note), now, nil
}
