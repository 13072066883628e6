package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
			rows, err := sessionRows(cmd.Context(), stored, limit)
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), *asJSON, rows, "no sessions yet; `holdfast chat -m hello` starts one",
				"SESSION\tTURNS\tMESSAGES\tTOKENS\tCOST\tLAST USED\tRUNNING", sessionRow.cells)
		})
	})
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of sessions")
	asJSON = jsonFlag(cmd)
	return cmd
}

// sessionRow is a session in a list.
type sessionRow struct {
	domain.Session
	Running bool `json:"running"` // it has unfinished work
}

// sessionRows returns the most recently used sessions. Sessions whose first message
// is still waiting come first: the store has no row for them yet.
func sessionRows(ctx context.Context, stored *store.Store, limit int) (rows []sessionRow, err error) {
	running, err := stored.RunningSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range running {
		_, err := stored.Session(ctx, key)
		if errors.Is(err, domain.ErrNotFound) {
			channel, _, _ := strings.Cut(key, ":")
			rows = append(rows, sessionRow{domain.Session{Key: key, Channel: channel}, true})
		} else if err != nil {
			return nil, err
		}
	}
	sessions, err := stored.Sessions(ctx, limit)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		rows = append(rows, sessionRow{session, slices.Contains(running, session.Key)})
	}
	return rows[:min(limit, len(rows))], nil
}

func (r sessionRow) cells() []any {
	return []any{
		oneLine(r.Key, keyLimit), r.Turns, r.Messages, r.Tokens(), domain.Dollars(r.Cost, r.Unpriced),
		shownTime(r.UpdatedAt), yesNo(r.Running),
	}
}

func unknownSession(key string) error {
	return fmt.Errorf("session %s not found; see `holdfast sessions list`", oneLine(key, keyLimit))
}
