package command

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func approvalsCommand(env environment) *cobra.Command {
	list := approvalsListCommand(env)
	parent := newCommand("approvals", "Show, approve and deny tool calls that are waiting for approval", list.RunE)
	parent.Flags().AddFlagSet(list.Flags())
	parent.AddCommand(list, approvalsDecideCommand(env, approved), approvalsDecideCommand(env, denied))
	return parent
}

func approvalsListCommand(env environment) *cobra.Command {
	var asJSON *bool
	cmd := newCommand("list", "List calls waiting for approval, oldest first", func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			rows, err := approvalRows(cmd.Context(), stored)
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), *asJSON, rows, "no calls are waiting for approval",
				"ID\tTOOL\tTITLE\tWHERE\tREQUESTED BY\tSINCE\tUNTIL", approvalRow.cells)
		})
	})
	asJSON = jsonFlag(cmd)
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

func approvalRows(ctx context.Context, stored *store.Store) (rows []approvalRow, err error) {
	waiting, err := stored.WaitingApprovals(ctx, domain.Route{})
	for _, a := range waiting {
		rows = append(rows, approvalRow{
			ID: a.ID, Tool: a.Tool, Title: a.Title, Channel: a.Channel, Chat: a.Chat, Thread: a.Thread,
			Sender: a.Sender, Turn: a.Turn, CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt,
		})
	}
	return rows, err
}

func (r approvalRow) cells() []any {
	where := strings.Join([]string{r.Channel, r.Chat, r.Thread}, " ")
	return []any{
		r.ID, oneLine(r.Tool, keyLimit), oneLine(r.Title, lineLimit), oneLine(where, keyLimit), oneLine(r.Sender, keyLimit),
		shownTime(r.CreatedAt), shownTime(r.ExpiresAt),
	}
}
