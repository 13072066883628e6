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
)

// approvalsSession is where the operator's answers are given, whatever
// conversation they are about.
const approvalsSession = "approvals"

// decision is an answer that the operator can give.
type decision struct {
	name, short string
	status      domain.ApprovalStatus
}

var (
	approved = decision{"approve", "Have a call run that waits for it", domain.ApprovalApproved}
	denied   = decision{"deny", "Have a call that waits for an approval not run", domain.ApprovalDenied}
)

func approvalsDecideCommand(s setting, d decision) *cobra.Command {
	return &cobra.Command{
		Use:   d.name + " ID",
		Short: d.short,
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), s, func(cfg config.Config, stored *store.Store) error {
				if stored == nil {
					return errNoStore
				}
				reply, err := d.give(cmd.Context(), cfg, stored, strings.ToLower(strings.TrimSpace(args[0])))
				if err != nil {
					return err
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), printable(reply))
				return err
			})
		},
	}
}

// give answers the question with this ID through the agent that runs, as everybody
// does, and returns what that says. That it came to something else is an error.
func (d decision) give(ctx context.Context, cfg config.Config, stored *store.Store, id string) (string, error) {
	if _, err := stored.Approval(ctx, id); errors.Is(err, domain.ErrNotFound) {
		return "", fmt.Errorf("there is no question %s; see `holdfast approvals list`", oneLine(id, keyLimit))
	} else if err != nil {
		return "", err
	}
	url := node.FindAPI(ctx, cfg)
	if url == "" {
		return "", errors.New("nothing runs here that takes the answer: start `holdfast up` first (where a `holdfast chat` runs by itself, " +
			"answer in it, or leave it: the question stays)")
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
