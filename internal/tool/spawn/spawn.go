// Package spawn implements the spawn tool, which gives a task to a subagent.
package spawn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	maxRunning = 5  // subagents of one session at a time
	labelLimit = 30 // characters of a label derived from the task
)

// Store creates subagents.
type Store interface {
	// Spawn stores a subagent and its task, once per ID.
	Spawn(ctx context.Context, in store.SpawnInput) (domain.Subagent, error)
}

type arguments struct {
	Task  string `json:"task"`
	Label string `json:"label,omitempty"`
}

type spawner struct {
	store Store
}

// New returns the spawn tool. It stores the task; the workflow starts the subagent.
func New(s Store) tool.Tool {
	return tool.New("spawn", `Start a subagent on a long or separate task. It cannot see this conversation: tell it all it needs.
You continue at once; its report arrives as a message.`,
		protocol.SpawnKind, (&spawner{s}).run)
}

func (s *spawner) run(ctx context.Context, call tool.Call, args arguments) (tool.Result, error) {
	if strings.TrimSpace(args.Task) == "" {
		return tool.Result{}, errors.New("task is empty")
	}
	spawned, err := s.store.Spawn(ctx, store.SpawnInput{
		ID: call.Key, Turn: call.Turn(), Task: args.Task, Limit: maxRunning,
		Label: cmp.Or(strings.TrimSpace(args.Label), label(args.Task)),
	})
	switch {
	case errors.Is(err, store.ErrTooMany):
		return tool.Result{}, fmt.Errorf("%d subagents are already running; wait for a report, or do it yourself", maxRunning)
	case err != nil:
		return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	return tool.Result{Text: fmt.Sprintf("Started subagent %q (%s). Its report will arrive as a message; do not wait for it.",
		spawned.Label, domain.ShortID(spawned.ID))}, nil
}

// label shortens a task to a label.
func label(task string) string {
	return text.CutRunes(text.Line(task), labelLimit+1)
}
