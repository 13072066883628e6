// Package removal permanently deletes sessions, on request or after their retention.
package removal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

// removalLimit bounds the turns removed in one transaction, which blocks other writers.
const removalLimit = 20

// ErrCommandRuns says that a command of the session is still running.
var ErrCommandRuns = fmt.Errorf("%w: a command is running", store.ErrSessionBusy)

// Remover removes sessions with their attached files and commands.
type Remover struct {
	Store     *store.Store
	Workspace string
	Commands  *supervisor.Supervisor
}

// Remove removes a session and returns its number of turns. A session used after before
// is kept, unless before is zero. Files are removed first, so that the next attempt
// completes an interrupted removal.
func (r Remover) Remove(ctx context.Context, key string, before time.Time) (turns int, err error) {
	running, err := shell.Background(ctx, r.Store, r.Commands, key)
	if err != nil {
		return 0, err
	}
	if len(running) > 0 {
		return 0, fmt.Errorf("%w: %s", ErrCommandRuns, text.Cut(text.Line(running[0].Command), commandLimit))
	}
	for first := true; ; first = false {
		part, err := r.Store.Removable(ctx, key, before, removalLimit)
		if errors.Is(err, domain.ErrNotFound) && !first {
			return turns, nil
		}
		if err != nil {
			return turns, err
		}
		if err := removeFiles(r.Workspace, part); err != nil {
			return turns, err
		}
		if err := r.removeCommands(ctx, part); err != nil {
			return turns, err
		}
		if err := r.Store.Remove(ctx, part); err != nil {
			return turns, err
		}
		turns += len(part.Turns)
	}
}

// commandLimit bounds a command in an error, in bytes.
const commandLimit = 80

// StopCommands stops the running commands of a session.
func (r Remover) StopCommands(ctx context.Context, key string) error {
	running, err := shell.Background(ctx, r.Store, r.Commands, key)
	if err != nil {
		return err
	}
	var keys []string
	for _, command := range running {
		keys = append(keys, command.Key)
	}
	return r.Commands.Stop(ctx, keys...)
}

// removeCommands removes the files of the commands that a part of a session ran on this
// machine.
func (r Remover) removeCommands(ctx context.Context, part store.Removal) error {
	for _, turn := range part.Turns {
		intents, err := r.Store.Intents(ctx, turn)
		if err != nil {
			return err
		}
		for _, intent := range intents {
			if intent.Part != shell.CommandPart {
				continue
			}
			err := r.Commands.Remove(intent.Call)
			if errors.Is(err, supervisor.ErrRunning) {
				return ErrCommandRuns
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFiles removes the files of a part of a session from the workspace: attachments
// and full tool results.
func removeFiles(workspace string, part store.Removal) error {
	root, err := os.OpenRoot(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the workspace: %w", err)
	}
	defer root.Close()
	for _, message := range part.Messages {
		if err := root.RemoveAll(path.Join("media", message)); err != nil {
			return fmt.Errorf("remove attached files: %w", err)
		}
	}
	for _, call := range part.Results {
		if err := root.Remove(path.Join("results", call+".txt")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove a result: %w", err)
		}
	}
	return nil
}

// batch is the number of unused sessions per query.
const batch = 100

// RemoveUnused removes idle sessions that were last used before a time, and returns how
// many. It continues with the others if one cannot be removed.
func (r Remover) RemoveUnused(ctx context.Context, before time.Time) (removed int, failed error) {
	for after := (store.Used{}); ; {
		unused, err := r.Store.Unused(ctx, before, after, batch)
		if err != nil || len(unused) == 0 {
			return removed, errors.Join(failed, err)
		}
		for _, session := range unused {
			_, err := r.Remove(ctx, session.Session, before)
			switch {
			case errors.Is(err, store.ErrSessionBusy), errors.Is(err, domain.ErrNotFound): // used or removed in the meantime
			case err != nil:
				failed = err
			default:
				removed++
			}
		}
		after = unused[len(unused)-1]
	}
}
