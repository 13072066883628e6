package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func pairingCommand(env environment) *cobra.Command {
	parent := &cobra.Command{
		Use:   "pairing",
		Short: "Manage access for people who message the bot",
	}
	parent.AddCommand(pairingListCommand(env), pairingApproveCommand(env), pairingRemoveCommand(env))
	return parent
}

// withPairings calls f with the store to change who is allowed.
func withPairings(ctx context.Context, env environment, f func(*store.Store) error) error {
	return withStore(ctx, env, func(_ config.Config, stored *store.Store) error {
		if stored == nil {
			return errNoStore
		}
		return f(stored)
	})
}

func pairingListCommand(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List pairing requests of the last hour, and allowed people",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
				var pairings []store.Pairing
				if stored != nil {
					var err error
					if pairings, err = stored.Pairings(cmd.Context()); err != nil {
						return err
					}
				}
				if len(pairings) == 0 {
					_, err := fmt.Fprintln(cmd.OutOrStdout(), "no pairing requests")
					return err
				}
				table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(table, "CODE\tCHANNEL\tSENDER\tNAME\tREQUESTED\tALLOWED")
				for _, p := range pairings {
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Code, p.Channel, oneLine(p.Sender, keyLimit), oneLine(p.Name, keyLimit),
						shownTime(p.CreatedAt), shownTime(p.ApprovedAt))
				}
				return table.Flush()
			})
		},
	}
}

func pairingApproveCommand(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "approve CODE",
		Short: "Allow the person who was given this code",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPairings(cmd.Context(), env, func(stored *store.Store) error {
				p, err := stored.ApprovePairing(cmd.Context(), strings.ToUpper(strings.TrimSpace(args[0])))
				if errors.Is(err, domain.ErrNotFound) {
					return errors.New("code not found, or older than an hour; ask the person to write to the bot again, then see `holdfast pairing list`")
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s (%s) may now use the bot on %s\n", text.Printable(p.Name), text.Printable(p.Sender), p.Channel)
				return err
			})
		},
	}
}

func pairingRemoveCommand(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "remove CHANNEL SENDER",
		Short: "Revoke a person's access",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPairings(cmd.Context(), env, func(stored *store.Store) error {
				err := stored.DropPairing(cmd.Context(), args[0], args[1])
				if errors.Is(err, domain.ErrNotFound) {
					return fmt.Errorf("%s is not allowed on %s; see `holdfast pairing list`", args[1], args[0])
				}
				return err
			})
		},
	}
}
