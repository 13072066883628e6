package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/removal"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func sessionsRemoveCommand(env environment) *cobra.Command {
	var yes, stop bool
	cmd := newCommand("rm KEY", "Delete a session permanently, with its attached files and commands", func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), env, func(cfg config.Config, stored *store.Store) error {
			if !yes {
				if err := confirmRemoval(cmd, stored, args[0]); err != nil {
					return err
				}
			}
			commands, err := node.OpenCommands(cfg, nil)
			if err != nil {
				return err
			}
			turns, err := removeNow(cmd.Context(), removal.Remover{Store: stored, Workspace: cfg.Workspace, Commands: commands}, args[0], stop)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "removed %s: %s\n", oneLine(args[0], keyLimit), text.Count(turns, "turn"))
			return err
		})
	})
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask for confirmation")
	cmd.Flags().BoolVar(&stop, "stop", false, "stop commands that are still running")
	return cmd
}

// confirmRemoval asks the user for confirmation.
func confirmRemoval(cmd *cobra.Command, stored *store.Store, key string) error {
	session, err := stored.Session(cmd.Context(), key)
	if err != nil {
		return nil //nolint:nilerr // the removal reports it
	}
	if in, isFile := cmd.InOrStdin().(*os.File); isFile && !isatty.IsTerminal(in.Fd()) {
		return errors.New("cannot ask for confirmation without a terminal; use --yes")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "remove %s with %s and %s, last used %s? [y/N] ",
		oneLine(key, keyLimit), text.Count(session.Turns, "turn"), text.Count(session.Messages, "message"), shownTime(session.UpdatedAt))
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

// removeNow removes a session and says in its errors what the user can do. With
// stop it ends running commands first.
func removeNow(ctx context.Context, r removal.Remover, key string, stop bool) (turns int, err error) {
	if stop {
		if err := r.StopCommands(ctx, key); err != nil {
			return 0, err
		}
	}
	turns, err = r.Remove(ctx, key, time.Time{})
	switch {
	case errors.Is(err, domain.ErrNotFound):
		return 0, unknownSession(key)
	case errors.Is(err, removal.ErrCommandRuns):
		return 0, fmt.Errorf("%w; stop it with --stop, or with /stop in the conversation", err)
	case errors.Is(err, store.ErrSessionBusy):
		return 0, fmt.Errorf("%w; stop it with /stop in the conversation or `holdfast runs stop`", err)
	}
	return turns, err
}
