package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// approvalsSession is the session in which the operator's decisions are sent.
const approvalsSession = "approvals"

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
		return withStore(cmd.Context(), env, func(cfg config.Config, stored *store.Store) error {
			reply, err := d.give(cmd.Context(), cfg, stored, strings.ToLower(strings.TrimSpace(args[0])))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text.Printable(reply))
			return err
		})
	})
}

// give sends the decision to the running agent and returns its reply. It is an error
// if the approval was decided differently.
func (d decision) give(ctx context.Context, cfg config.Config, stored *store.Store, id string) (string, error) {
	if _, err := stored.Approval(ctx, id); errors.Is(err, domain.ErrNotFound) {
		return "", fmt.Errorf("approval %s not found; see `holdfast approvals list`", oneLine(id, keyLimit))
	} else if err != nil {
		return "", err
	}
	url := node.FindAPI(ctx, cfg)
	if url == "" {
		return "", errors.New("no agent is running to receive the decision: start `holdfast up` first, or decide in the `holdfast chat` that is open; " +
			"the call keeps waiting")
	}
	agent := node.APIAgent{API: client.New(url, cfg.Channels.HTTP.Token.Reveal())}
	reply, err := cli.New(cli.Options{Agent: agent, Session: approvalsSession}).Decide(ctx, id, d.status == domain.ApprovalApproved)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", d.name, id, err)
	}
	now, err := stored.Approval(ctx, id)
	if err != nil {
		return "", err
	}
	if now.Status != d.status {
		return "", errors.New(oneLine(reply, keyLimit))
	}
	return reply, nil
}
