package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func approvalsCommand(env environment) *cobra.Command {
	list := approvalsListCommand(env)
	parent := &cobra.Command{
		Use:   "approvals",
		Short: "Show, approve and deny tool calls that are waiting for approval",
		Args:  cobra.NoArgs,
		RunE:  list.RunE,
	}
	parent.Flags().AddFlagSet(list.Flags())
	parent.AddCommand(list, approvalsDecideCommand(env, approved), approvalsDecideCommand(env, denied))
	return parent
}

func approvalsListCommand(env environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List calls waiting for approval, oldest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
				rows, err := approvalRows(cmd.Context(), stored)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printApprovals(cmd.OutOrStdout(), rows)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// approvalRow is a waiting approval in a list.
type approvalRow struct {
	ID        string    `json:"id"`
	Tool      string    `json:"tool"`
	Title     string    `json:"title"`
	Channel   string    `json:"channel"`
	Chat      string    `json:"chat,omitempty"`
	Thread    string    `json:"thread,omitempty"`
	Sender    string    `json:"sender,omitempty"` // of the turn
	Turn      string    `json:"turn"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

func approvalRows(ctx context.Context, stored *store.Store) ([]approvalRow, error) {
	rows := []approvalRow{}
	if stored == nil {
		return rows, nil
	}
	waiting, err := stored.WaitingApprovals(ctx, domain.Route{})
	if err != nil {
		return nil, err
	}
	for _, a := range waiting {
		rows = append(rows, approvalRow{
			ID: a.ID, Tool: a.Tool, Title: a.Title, Channel: a.Channel, Chat: a.Chat, Thread: a.Thread,
			Sender: a.Sender, Turn: a.Turn, CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt,
		})
	}
	return rows, nil
}

func printApprovals(w io.Writer, rows []approvalRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no calls are waiting for approval")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tTOOL\tTITLE\tWHERE\tREQUESTED BY\tSINCE\tUNTIL")
	for _, row := range rows {
		where := strings.Join([]string{row.Channel, row.Chat, row.Thread}, " ")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row.ID, oneLine(row.Tool, keyLimit), oneLine(row.Title, lineLimit),
			oneLine(where, keyLimit), oneLine(row.Sender, keyLimit), shownTime(row.CreatedAt), shownTime(row.ExpiresAt))
	}
	return table.Flush()
}
