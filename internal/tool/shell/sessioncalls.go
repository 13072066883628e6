package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const readDescription = `Return what a session has written since it was read last, and whether it runs. Without a session:
list those that there are. To wait for a long command to end, give wait_seconds: one call of minutes costs less than many.`

type readArgs struct {
	Session string  `json:"session,omitempty" jsonschema:"the session's name, from exec_start; all are listed if not given"`
	Wait    float64 `json:"wait_seconds,omitempty" jsonschema:"how long to wait for the session to end before returning; 1 if not given"`
	Offset  int64   `json:"offset,omitempty" jsonschema:"byte of the output to start at, 1 is the first; where the last call ended if not given"`
}

func (r *runner) readSession(ctx context.Context, call tool.Call, args readArgs) (tool.Result, error) {
	if args.Session == "" {
		return r.listSessions(call)
	}
	s, err := r.session(ctx, call, args.Session)
	if err != nil {
		return tool.Result{}, err
	}
	if args.Offset > 0 {
		s.from = args.Offset - 1
	}
	text, now, err := r.attend(ctx, call, s, r.wait(args.Wait))
	return tool.Result{Text: text, Failed: now.lost}, leftIf(ctx, err)
}

func (r *runner) listSessions(call tool.Call) (tool.Result, error) {
	all, err := r.Supervisor.List(call.Session)
	if err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	if len(all) == 0 {
		return tool.Result{Text: "there are no sessions"}, nil
	}
	return tool.Result{Text: list(all)}, nil
}

const writeDescription = `Give a session input, as if it was typed, and return what it writes then. A newline is added if the
input does not end with one, so an empty input is the Enter key.`

type writeArgs struct {
	Session string  `json:"session" jsonschema:"the session's name, from exec_start"`
	Input   string  `json:"input" jsonschema:"the text; it can be several lines"`
	Raw     bool    `json:"raw,omitempty" jsonschema:"add no newline"`
	Close   bool    `json:"close,omitempty" jsonschema:"this is the last input: the command then finds its end (Ctrl-D)"`
	Wait    float64 `json:"wait_seconds,omitempty" jsonschema:"how long to wait for what the session writes; 1 if not given"`
}

// data is what is written. To close with an empty input is no Enter.
func (a writeArgs) data() []byte {
	if a.Raw || strings.HasSuffix(a.Input, "\n") || (a.Close && a.Input == "") {
		return []byte(a.Input)
	}
	return []byte(a.Input + "\n")
}

func (r *runner) writeSession(ctx context.Context, call tool.Call, args writeArgs) (tool.Result, error) {
	s, err := r.session(ctx, call, args.Session)
	if err != nil {
		return tool.Result{}, err
	}
	err = s.process.Write(call.Key, args.data(), args.Close)
	ended := errors.Is(err, supervisor.ErrEnded)
	switch {
	case errors.Is(err, supervisor.ErrNoInput):
		return tool.Result{}, err
	case err != nil && !ended:
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	text, now, err := r.attend(ctx, call, s, r.wait(args.Wait))
	if ended {
		text += "\n[nothing was written to it]"
	}
	return tool.Result{Text: text, Failed: ended || now.lost}, leftIf(ctx, err)
}

const stopDescription = `End a session, with all its processes, and return what it had still written.`

type stopArgs struct {
	Session string `json:"session" jsonschema:"the session's name, from exec_start"`
}

func (r *runner) stopSession(ctx context.Context, call tool.Call, args stopArgs) (tool.Result, error) {
	s, err := r.session(ctx, call, args.Session)
	if err != nil {
		return tool.Result{}, err
	}
	if err := r.Supervisor.Stop(ctx, args.Session); err != nil {
		return tool.Result{}, leftIf(ctx, fmt.Errorf("%w: %w", tool.ErrRetry, err))
	}
	text, now, err := r.attend(ctx, call, s, stopPatience)
	return tool.Result{Text: text, Failed: now.lost}, leftIf(ctx, err)
}

// session returns the one of that name, and where the call reads on: where the
// first attempt at it would have.
func (r *runner) session(ctx context.Context, call tool.Call, name string) (session, error) {
	s, err := r.find(call, name)
	noted, fresh, noteErr := r.note(ctx, call, sessionPart, s.from)
	if noteErr != nil {
		return session{}, noteErr
	}
	if !fresh {
		if err := r.reachable(noted); err != nil {
			return session{}, err
		}
	}
	s.from = noted.Offset
	return s, err
}

func (r *runner) find(call tool.Call, name string) (session, error) {
	unknown := fmt.Errorf("there is no session %q on this host, of this conversation; exec_read without a session lists those that there are", name)
	process, found := r.Supervisor.Find(name)
	if !found {
		return session{}, unknown
	}
	info, err := process.Info()
	if err != nil || info.Owner != call.Session {
		return session{}, unknown
	}
	return session{process: process, name: name, from: process.Seen()}, nil
}

// leftIf is err, or that the attempt was left if ctx has ended: a session goes on
// also when the call is stopped.
func leftIf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return left(cause)
	}
	return err
}
