package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func sessionsCommand(env environment) *cobra.Command {
	parent := &cobra.Command{
		Use:   "sessions",
		Short: "Show, export, import and remove stored sessions",
	}
	parent.AddCommand(
		sessionsListCommand(env), sessionsShowCommand(env), sessionsExportCommand(env), sessionsImportCommand(env), sessionsRemoveCommand(env),
	)
	return parent
}

func sessionsListCommand(env environment) *cobra.Command {
	var (
		limit  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, most recently used first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return errors.New("--limit must be at least 1")
			}
			return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
				rows, err := sessionRows(cmd.Context(), stored, limit)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printSessions(cmd.OutOrStdout(), rows)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of sessions")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// sessionRows returns the most recently used sessions. Sessions whose first message
// is still waiting come first: the store has no row for them yet.
func sessionRows(ctx context.Context, stored *store.Store, limit int) ([]sessionRow, error) {
	rows := []sessionRow{}
	if stored == nil {
		return rows, nil
	}
	running, err := stored.RunningSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range running {
		_, err := stored.Session(ctx, key)
		if errors.Is(err, domain.ErrNotFound) {
			channel, _, _ := strings.Cut(key, ":")
			rows = append(rows, sessionRow{Key: key, Channel: channel, Running: true})
		} else if err != nil {
			return nil, err
		}
	}
	sessions, err := stored.Sessions(ctx, limit)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		rows = append(rows, sessionRowOf(session, slices.Contains(running, session.Key)))
	}
	return rows[:min(limit, len(rows))], nil
}

func printSessions(w io.Writer, rows []sessionRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no sessions yet; `holdfast chat -m hello` starts one")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SESSION\tTURNS\tMESSAGES\tTOKENS\tCOST\tLAST USED\tRUNNING")
	for _, row := range rows {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\n", oneLine(row.Key, keyLimit), row.Turns, row.Messages,
			row.PromptTokens+row.CompletionTokens, row.shownCost, shownTime(row.UsedAt), yesNo(row.Running))
	}
	return table.Flush()
}
