package command

import (
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
	var all bool
	var limit int
	var asJSON *bool
	cmd := newCommand("list", "List calls waiting for approval, oldest first", func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			if all {
				asked, err := stored.Approvals(cmd.Context(), limit)
				if err != nil {
					return err
				}
				return printList(cmd.OutOrStdout(), *asJSON, approvalRows(asked), "no calls have needed approval",
					"ID\tTOOL\tTITLE\tWHERE\tREQUESTED BY\tSINCE\tSTATUS\tBY\tFROM\tAT", approvalRow.history)
			}
			waiting, err := stored.WaitingApprovals(cmd.Context(), domain.Route{})
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), *asJSON, approvalRows(waiting), "no calls are waiting for approval",
				"ID\tTOOL\tTITLE\tWHERE\tREQUESTED BY\tSINCE\tUNTIL", approvalRow.cells)
		})
	})
	cmd.Flags().BoolVar(&all, "all", false, "list the latest approvals, also decided ones, newest first: who decided what, when, and from where")
	cmd.Flags().IntVar(&limit, "limit", 100, "maximum number with --all")
	asJSON = jsonFlag(cmd)
	return cmd
}

// approvalRow is an approval in a list.
type approvalRow struct {
	ID          string                `json:"id"`
	Tool        string                `json:"tool"`
	Title       string                `json:"title"`
	Channel     string                `json:"channel"`
	Chat        string                `json:"chat,omitempty"`
	Thread      string                `json:"thread,omitempty"`
	Sender      string                `json:"sender,omitempty"` // of the turn
	Turn        string                `json:"turn"`
	Call        string                `json:"call"` // its key
	CreatedAt   time.Time             `json:"created_at"`
	ExpiresAt   time.Time             `json:"expires_at"`
	Status      domain.ApprovalStatus `json:"status"`
	DecidedBy   string                `json:"decided_by,omitempty"`
	DecidedFrom string                `json:"decided_from,omitempty"`
	DecidedAt   time.Time             `json:"decided_at,omitzero"`
}

func approvalRows(all []domain.Approval) (rows []approvalRow) {
	for _, a := range all {
		rows = append(rows, newApprovalRow(a))
	}
	return rows
}

func newApprovalRow(a domain.Approval) approvalRow {
	return approvalRow{
		ID: a.ID, Tool: a.Tool, Title: a.Title, Channel: a.Channel, Chat: a.Chat, Thread: a.Thread,
		Sender: a.Sender, Turn: a.Turn, Call: a.Call, CreatedAt: a.CreatedAt, ExpiresAt: a.ExpiresAt,
		Status: a.Status, DecidedBy: a.DecidedBy, DecidedFrom: a.DecidedFrom, DecidedAt: a.DecidedAt,
	}
}

func (r approvalRow) cells() []any { return append(r.asked(), shownTime(r.ExpiresAt)) }

// history has the decision instead of the time limit.
func (r approvalRow) history() []any {
	return append(r.asked(), r.Status, oneLine(r.DecidedBy, keyLimit), oneLine(r.DecidedFrom, keyLimit), shownTime(r.DecidedAt))
}

func (r approvalRow) asked() []any {
	where := strings.Join([]string{r.Channel, r.Chat, r.Thread}, " ")
	return []any{
		r.ID, oneLine(r.Tool, keyLimit), oneLine(r.Title, lineLimit), oneLine(where, keyLimit), oneLine(r.Sender, keyLimit), shownTime(r.CreatedAt),
	}
}

// outcome says what became of the approval: "approved by slack:U1, from slack C1, at …".
func (r approvalRow) outcome() string {
	if r.Status == domain.ApprovalWaiting {
		return "waiting for approval " + r.ID
	}
	text := string(r.Status)
	if r.DecidedBy != "" {
		text += " by " + r.DecidedBy + ", from " + r.DecidedFrom
	}
	return text + ", " + shownTime(r.DecidedAt)
}
