package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	usualWait   = time.Second
	maxSessions = 10 // running sessions of one conversation
)

// NewSessions returns exec_start, exec_read, exec_write and exec_stop, for commands
// that keep running between calls and turns and take input. They are separate tools,
// so that each has only the arguments it needs and can have its own approval rule.
//
// A session is a command of the supervisor, under the key of the call that started
// it. The key is also the session's name for the model; it is valid only in the
// conversation that started it. All four tools are keyed:
//
//   - exec_start finds the command that an earlier attempt started.
//   - exec_write passes its input to the supervisor once, by the call's key.
//   - exec_read continues where the last call ended. It journals that offset first,
//     so that another attempt returns the same output, or more. Output that was lost
//     because the turn was stopped can be read again with an offset.
//   - exec_stop ends the process group.
//
// Sessions of a conversation run at one place, where its calls are made for as long as any
// of them runs. Stopping a turn stops only the sessions that it started.
func NewSessions(options Options) ([]tool.Tool, error) {
	r, err := newRunner(options)
	if err != nil {
		return nil, fmt.Errorf("exec sessions: %w", err)
	}
	start := fmt.Sprintf(startDescription, r.Lifetime, supervisor.DefaultMaxOutput/1_000_000)
	tools := []tool.Tool{
		tool.New("exec_start", start, tool.Keyed, inPlace(r, r.startSession)),
		tool.New("exec_read", readDescription, tool.Keyed, inPlace(r, r.readSession)),
		tool.New("exec_write", writeDescription, tool.Keyed, inPlace(r, r.writeSession)),
		tool.New("exec_stop", stopDescription, tool.Keyed, inPlace(r, r.stopSession)),
	}
	tools[0].SubjectOf = r.subject
	for i := range tools {
		tools[i].Detached = true
		tools[i].TimeoutOf = func(raw json.RawMessage) time.Duration {
			var args waiting
			// Invalid arguments get the default; Run reports them.
			_ = json.Unmarshal(raw, &args)
			return r.wait(args.Seconds) + margin
		}
	}
	return tools, nil
}

// waiting is the argument that determines how long a call takes.
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
	if err := r.Places.EnterPlace(ctx, call.Session, r.Supervisor.Place()); err != nil {
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
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

// room returns an error if the conversation has too many sessions.
func (r *runner) room(call tool.Call) error {
	all, err := r.Supervisor.List(call.Session)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	running := 0
	for _, command := range all {
		if stateOf(command.Process).running {
			running++
		}
	}
	if running < maxSessions {
		return nil
	}
	return fmt.Errorf("%d sessions are already running, the maximum; stop one first:\n%s", running, list(all))
}

// list describes sessions, one per line.
func list(all []supervisor.Info) string {
	lines := make([]string, 0, len(all))
	for _, info := range all {
		command, _, _ := strings.Cut(strings.TrimSpace(info.Command), "\n")
		if len(command) > shownCommand {
			command = text.WholeRunes(command[:shownCommand]) + "…"
		}
		lines = append(lines, fmt.Sprintf("%s %s; started %v ago: %s",
			info.Key, stateOf(info.Process), time.Since(info.StartedAt).Round(time.Second), command))
	}
	return strings.Join(lines, "\n")
}

const shownCommand = 100 // bytes of a command in a list
