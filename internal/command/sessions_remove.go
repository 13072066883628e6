package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

func sessionsRemoveCommand(s setting) *cobra.Command {
	var yes, stop bool
	cmd := &cobra.Command{
		Use:   "rm KEY",
		Short: "Remove a conversation for good, with its attached files and its commands",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), s, func(cfg config.Config, stored *store.Store) error {
				if stored == nil {
					return unknownSession(args[0])
				}
				if !yes {
					if err := confirmRemoval(cmd, stored, args[0]); err != nil {
						return err
					}
				}
				commands, err := openCommands(cfg, nil)
				if err != nil {
					return err
				}
				turns, err := remover{stored, cfg.Workspace, commands}.removeNow(cmd.Context(), args[0], stop)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s: %d turns\n", oneLine(args[0], keyLimit), turns)
				return err
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	cmd.Flags().BoolVar(&stop, "stop", false, "end the commands that it left running")
	return cmd
}

// confirmRemoval asks whether the session may go.
func confirmRemoval(cmd *cobra.Command, stored *store.Store, key string) error {
	session, err := stored.Session(cmd.Context(), key)
	if err != nil {
		return nil //nolint:nilerr // the removal says what is wrong
	}
	if in, isFile := cmd.InOrStdin().(*os.File); isFile && !isatty.IsTerminal(in.Fd()) {
		return errors.New("nobody can be asked here; --yes removes it without asking")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "remove %s with %d turns and %d messages, last used %s? [y/N] ",
		oneLine(key, keyLimit), session.Turns, session.Messages, shownTime(session.UpdatedAt))
	answer, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return errors.New("nothing was removed")
	}
}

// removalLimit bounds the turns that are removed at once: other writers wait for as
// long as that takes.
const removalLimit = 20

// errCommandRuns says that a command of a session goes on between its turns.
var errCommandRuns = fmt.Errorf("%w: a command is running", store.ErrAtWork)

// remover removes sessions, with what is kept of them outside of the store.
type remover struct {
	store     *store.Store
	workspace string
	commands  *supervisor.Supervisor
}

// removeNow is remove for a person, who reads in the error what to do. With stop
// the commands that go on are ended first.
func (r remover) removeNow(ctx context.Context, key string, stop bool) (turns int, err error) {
	if stop {
		if err := r.stopCommands(ctx, key); err != nil {
			return 0, err
		}
	}
	turns, err = r.remove(ctx, key, time.Time{})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return 0, unknownSession(key)
	case errors.Is(err, errCommandRuns):
		return 0, fmt.Errorf("%w; /stop in the conversation ends it, and so does --stop here", err)
	case errors.Is(err, store.ErrAtWork):
		return 0, fmt.Errorf("%w; /stop in the conversation or `holdfast runs stop` ends what it does", err)
	}
	return turns, err
}

// remove removes a session, and returns how many turns that were. If before is not
// zero, it must not have been used since. Files go first: what is left by a removal
// that was interrupted is removed by the next.
func (r remover) remove(ctx context.Context, key string, before time.Time) (turns int, err error) {
	running, err := activities.CommandsOf(ctx, r.store, r.commands, key)
	if err != nil {
		return 0, err
	}
	if len(running) > 0 {
		return 0, fmt.Errorf("%w: %s", errCommandRuns, oneLine(running[0].Command, commandLimit))
	}
	for first := true; ; first = false {
		part, err := r.store.Removable(ctx, key, before, removalLimit)
		if errors.Is(err, store.ErrNotFound) && !first {
			return turns, nil
		}
		if err != nil {
			return turns, err
		}
		if err := removeFiles(r.workspace, part); err != nil {
			return turns, err
		}
		if err := r.removeCommands(ctx, part); err != nil {
			return turns, err
		}
		if err := r.store.Remove(ctx, part); err != nil {
			return turns, err
		}
		turns += len(part.Turns)
	}
}

// commandLimit is how much is shown of a command, in characters.
const commandLimit = 80

// stopCommands ends the commands that go on between the turns of a session.
func (r remover) stopCommands(ctx context.Context, key string) error {
	running, err := activities.CommandsOf(ctx, r.store, r.commands, key)
	if err != nil {
		return err
	}
	var keys []string
	for _, command := range running {
		keys = append(keys, command.Key)
	}
	return r.commands.Stop(ctx, keys...)
}

// removeCommands removes what is known of the commands that calls of a part of a
// session ran on this machine.
func (r remover) removeCommands(ctx context.Context, part store.Removal) error {
	for _, turn := range part.Turns {
		intents, err := r.store.Intents(ctx, turn)
		if err != nil {
			return err
		}
		for _, intent := range intents {
			if intent.Part != shell.CommandPart {
				continue
			}
			err := r.commands.Remove(intent.Call)
			if errors.Is(err, supervisor.ErrRunning) {
				return errCommandRuns
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// removeFiles removes what belongs to a part of a session in the workspace: files
// that came with its messages, and whole results of its calls.
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
