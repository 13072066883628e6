package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const readDescription = `Return a session's new output and whether it is running, or list all sessions. Waits wait_seconds (default 1) at
most for it to end: one long wait costs less than many calls. offset rereads from that byte.`

type readArgs struct {
	Session string  `json:"session,omitempty"`
	Wait    float64 `json:"wait_seconds,omitempty"`
	Offset  int64   `json:"offset,omitempty"`
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
		return tool.Result{Text: "no sessions"}, nil
	}
	return tool.Result{Text: list(all)}, nil
}

const writeDescription = `Send input to a session and return what it prints within wait_seconds (default 1). Adds a final newline
unless raw. close ends the input (Ctrl-D).`

type writeArgs struct {
	Session string  `json:"session"`
	Input   string  `json:"input"`
	Raw     bool    `json:"raw,omitempty"`
	Close   bool    `json:"close,omitempty"`
	Wait    float64 `json:"wait_seconds,omitempty"`
}

// data returns the bytes to write. Closing with an empty input adds no newline.
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
		text += "\n[the input was not written]"
	}
	return tool.Result{Text: text, Failed: ended || now.lost}, leftIf(ctx, err)
}

const stopDescription = `End a session and all its processes. Returns its last output.`

type stopArgs struct {
	Session string `json:"session"`
}

func (r *runner) stopSession(ctx context.Context, call tool.Call, args stopArgs) (tool.Result, error) {
	s, err := r.session(ctx, call, args.Session)
	if err != nil {
		return tool.Result{}, err
	}
	if err := r.Supervisor.Stop(ctx, args.Session); err != nil {
		return tool.Result{}, leftIf(ctx, fmt.Errorf("%w: %w", tool.ErrRetry, err))
	}
	text, now, err := r.attend(ctx, call, s, stopTimeout)
	return tool.Result{Text: text, Failed: now.lost}, leftIf(ctx, err)
}

// session returns the session of that name, with the offset that the call's first
// attempt started to read at.
func (r *runner) session(ctx context.Context, call tool.Call, name string) (session, error) {
	s, err := r.find(call, name)
	if err != nil {
		return session{}, cmp.Or(r.startedElsewhere(ctx, name), err)
	}
	noted, _, err := r.note(ctx, call, sessionPart, s.from)
	s.from = noted.Offset
	return s, err
}

func (r *runner) find(call tool.Call, name string) (session, error) {
	unknown := fmt.Errorf("this conversation has no session %q here; exec_read without a session lists them", name)
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

// leftIf returns err, or [left] if ctx has ended: a session continues even if the call
// is stopped.
func leftIf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return left(cause)
	}
	return err
}
