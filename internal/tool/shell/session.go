package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	usualWait    = time.Second
	mostSessions = 10 // of one conversation, at the same time
)

// NewSessions returns exec_start, exec_read, exec_write and exec_stop: commands
// that go on between calls, and between turns, and can be talked to. They are
// tools of their own, rather than one with an action, so that each has only the
// arguments that it needs and may have a policy of its own.
//
// A session is a command of the supervisor under the key of the call that
// started it. That key is also the name that the model knows it by, and works
// only in the conversation that started it. All four tools are keyed:
//
//   - exec_start finds the command that an earlier attempt started.
//   - exec_write has the supervisor take its input once, by the call's key.
//   - exec_read goes on where the last call ended that returned output. It notes
//     that place first, so that another attempt returns the same again, or more.
//     What a call returned in vain, because its turn was stopped just then, can be
//     read again with an offset.
//   - exec_stop ends the process group; what has ended stays as it is.
//
// A stopped turn stops the sessions that it started itself, and no others; what
// stops all of a conversation is outside of here.
func NewSessions(options Options) ([]tool.Tool, error) {
	r, err := newRunner(options)
	if err != nil {
		return nil, fmt.Errorf("exec sessions: %w", err)
	}
	var tools []tool.Tool
	var errs []error
	add := func(made tool.Tool, err error) {
		made.TimeoutOf = func(raw json.RawMessage) time.Duration {
			var args waiting
			// What cannot be read has the default; Run will complain about it.
			_ = json.Unmarshal(raw, &args)
			return r.wait(args.Seconds) + margin
		}
		tools, errs = append(tools, made), append(errs, err)
	}
	add(tool.New("exec_start", fmt.Sprintf(startDescription, r.Lifetime, supervisor.DefaultMaxOutput/1_000_000), tool.Keyed, r.startSession))
	add(tool.New("exec_read", readDescription, tool.Keyed, r.readSession))
	add(tool.New("exec_write", writeDescription, tool.Keyed, r.writeSession))
	add(tool.New("exec_stop", stopDescription, tool.Keyed, r.stopSession))
	return tools, errors.Join(errs...)
}

// waiting is the argument that says how long a call takes.
type waiting struct {
	Seconds float64 `json:"wait_seconds"`
}

func (r *runner) wait(asked float64) time.Duration { return seconds(asked, usualWait, r.MaxTimeout) }

const startDescription = `Start a command that keeps running: a server, a build, a shell or interpreter. Waits wait_seconds (default 1)
at most for it to end. Returns a session name and output; continue with exec_read, exec_write, exec_stop.
It outlives this request and is killed after timeout seconds, %v at most. No terminal (pty): no full-screen
programs, password prompts or Ctrl-C; run programs interactive and unbuffered (python3 -iu).
Keeps the first %d MB of output.`

type startArgs struct {
	Command    string  `json:"command"`
	WorkingDir string  `json:"working_dir,omitempty"`
	Timeout    float64 `json:"timeout,omitempty"`
	Wait       float64 `json:"wait_seconds,omitempty"`
}

func (r *runner) startSession(ctx context.Context, call tool.Call, args startArgs) (tool.Result, error) {
	if _, found := r.Supervisor.Find(call.Key); !found {
		if err := r.room(call); err != nil {
			return tool.Result{}, err
		}
	}
	timeout := seconds(args.Timeout, r.Lifetime, r.Lifetime)
	process, err := r.start(ctx, call, args.WorkingDir, supervisor.Spec{
		Command: args.Command, Timeout: timeout, Input: true, Owner: call.Session,
	})
	if err != nil {
		return r.interrupted(ctx, call, timeout, err)
	}
	text, now, err := r.attend(ctx, call, session{process: process, name: call.Key}, r.wait(args.Wait))
	if err != nil {
		return r.interrupted(ctx, call, timeout, err)
	}
	return tool.Result{Text: text, Failed: now.lost || failed(now.exit)}, nil
}

// room says why there can be no more sessions.
func (r *runner) room(call tool.Call) error {
	all, err := r.Supervisor.List(call.Session)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	running := 0
	for _, process := range all {
		if stateOf(process).running {
			running++
		}
	}
	if running < mostSessions {
		return nil
	}
	return fmt.Errorf("%d sessions run already, as many as there may be; stop one first:\n%s", running, list(all))
}

// list describes sessions, one a line.
func list(all []*supervisor.Process) string {
	var lines []string
	for _, process := range all {
		info, err := process.Info()
		if err != nil {
			continue // removed just now
		}
		command, _, _ := strings.Cut(strings.TrimSpace(info.Command), "\n")
		if len(command) > shownCommand {
			command = text.WholeRunes(command[:shownCommand]) + "…"
		}
		lines = append(lines, fmt.Sprintf("%s %s; started %v ago: %s",
			info.Key, stateOf(process), time.Since(info.StartedAt).Round(time.Second), command))
	}
	return strings.Join(lines, "\n")
}

// shownCommand is how much of a command, in bytes, a list shows.
const shownCommand = 100
