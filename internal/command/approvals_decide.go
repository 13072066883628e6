package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/approval"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// decision is one of the operator's possible decisions.
type decision struct {
	name, short string
	status      domain.ApprovalStatus
}

var (
	approved = decision{"approve", "Approve a waiting call", domain.ApprovalApproved}
	denied   = decision{"deny", "Deny a waiting call", domain.ApprovalDenied}
)

func approvalsDecideCommand(env environment, d decision) *cobra.Command {
	return newCommand(d.name+" ID", d.short, func(cmd *cobra.Command, args []string) error {
		ctx, id := cmd.Context(), strings.ToLower(strings.TrimSpace(args[0]))
		return withStore(ctx, env, func(_ config.Config, stored *store.Store) error {
			asked, err := stored.Approval(ctx, id)
			if errors.Is(err, domain.ErrNotFound) {
				return fmt.Errorf("approval %s not found; see `holdfast approvals list`", oneLine(id, keyLimit))
			}
			if err != nil {
				return err
			}
			return withRuns(ctx, env, func(r runs) error {
				reply, err := d.make(ctx, stored, r, asked)
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), text.Printable(reply))
				return err
			})
		})
	})
}

// make stores the decision, tells the run that waits for it, and returns what became of it.
// It is an error if the approval was decided differently. Making a decision again tells the
// run again.
func (d decision) make(ctx context.Context, stored *store.Store, r runs, asked domain.Approval) (string, error) {
	decided, err := stored.DecideApproval(ctx, domain.Decision{
		Approval: asked.ID, Status: d.status, By: domain.Operator, From: commandLine(),
	})
	if err != nil {
		return "", err
	}
	if err := r.temporal.SignalDecision(ctx, decided.WorkflowID, protocol.NewApprovalDecision(decided)); err != nil {
		return "", fmt.Errorf("the decision is stored, but the run that waits for it was not told; repeat the command: %w", err)
	}
	counts := asked.Status == domain.ApprovalWaiting && decided.DecidedBy == domain.Operator && decided.DecidedFrom == commandLine()
	outcome := approval.Outcome(decided, counts)
	if decided.Status != d.status {
		return "", errors.New(oneLine(outcome, keyLimit))
	}
	return outcome, nil
}

// commandLine says where the operator's decisions are made.
func commandLine() string {
	name := strconv.Itoa(os.Getuid())
	if who, err := user.Current(); err == nil {
		name = cmp.Or(who.Username, name)
	}
	host, _ := os.Hostname()
	return fmt.Sprintf("command line of %s@%s", name, cmp.Or(host, "localhost"))
}
