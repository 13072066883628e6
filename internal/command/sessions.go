package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func sessionsCommand(env environment) *cobra.Command {
	return newGroup("sessions", "Show, export, import and remove stored sessions",
		sessionsListCommand(env), sessionsShowCommand(env), sessionsExportCommand(env), sessionsImportCommand(env), sessionsRemoveCommand(env))
}

func sessionsListCommand(env environment) *cobra.Command {
	var (
		limit  int
		asJSON *bool
	)
	cmd := newCommand("list", "List sessions, most recently used first", func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return errors.New("--limit must be at least 1")
		}
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			rows, err := lastSessions(cmd.Context(), stored, limit)
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), *asJSON, rows, "no sessions yet; `holdfast chat -m hello` starts one",
				"SESSION\tTURNS\tMESSAGES\tTOKENS\tCOST\tLAST USED\tRUNNING", sessionCells)
		})
	})
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of sessions")
	asJSON = jsonFlag(cmd)
	return cmd
}

// lastSessions returns the most recently used sessions. Those whose first message is still
// waiting come first.
func lastSessions(ctx context.Context, stored *store.Store, limit int) ([]domain.Session, error) {
	fresh, err := stored.NewSessions(ctx, limit)
	if err != nil || len(fresh) == limit {
		return fresh, err
	}
	used, err := stored.Sessions(ctx, limit-len(fresh))
	return append(fresh, used...), err
}

func sessionCells(s domain.Session) []any {
	return []any{
		oneLine(s.Key, keyLimit), s.Turns, s.Messages, s.Tokens(), domain.Dollars(s.Cost, s.Unpriced),
		shownTime(s.UpdatedAt), yesNo(s.Running),
	}
}

func unknownSession(key string) error {
	return fmt.Errorf("session %s not found; see `holdfast sessions list`", oneLine(key, keyLimit))
}
