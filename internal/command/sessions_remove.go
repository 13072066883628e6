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

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func sessionsRemoveCommand(s setting) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm KEY",
		Short: "Remove a conversation for good, with its attached files",
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
				turns, err := removeSession(cmd.Context(), stored, cfg.Workspace, args[0], time.Time{})
				switch {
				case errors.Is(err, store.ErrNotFound):
					return unknownSession(args[0])
				case errors.Is(err, store.ErrAtWork):
					return fmt.Errorf("%w; /stop in the conversation or `holdfast runs stop` ends what it does", err)
				case err != nil:
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s: %d turns\n", oneLine(args[0], keyLimit), turns)
				return err
			})
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
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

// removeSession removes a session, and returns how many turns that were. If before
// is not zero, it must not have been used since. Files go first: what is left by a
// removal that was interrupted is removed by the next.
func removeSession(ctx context.Context, stored *store.Store, workspace, key string, before time.Time) (turns int, err error) {
	for first := true; ; first = false {
		part, err := stored.Removable(ctx, key, before, removalLimit)
		if errors.Is(err, store.ErrNotFound) && !first {
			return turns, nil
		}
		if err != nil {
			return turns, err
		}
		if err := removeFiles(workspace, part); err != nil {
			return turns, err
		}
		if err := stored.Remove(ctx, part); err != nil {
			return turns, err
		}
		turns += len(part.Turns)
	}
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
