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
)

func pairingCommand(s setting) *cobra.Command {
	parent := &cobra.Command{
		Use:   "pairing",
		Short: "Let people in who wrote to the bot and are on no list",
	}
	parent.AddCommand(pairingListCommand(s), pairingApproveCommand(s), pairingRemoveCommand(s))
	return parent
}

// errNoStore is returned where there is nothing to look into.
var errNoStore = errors.New("nothing is stored yet: nobody has written")

// withPairings opens the store for a change of who is let in.
func withPairings(ctx context.Context, s setting, f func(*store.Store) error) error {
	return withStore(ctx, s, func(_ config.Config, stored *store.Store) error {
		if stored == nil {
			return errNoStore
		}
		return f(stored)
	})
}

func pairingListCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List who asked to be let in within the last hour, and who was",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withStore(cmd.Context(), s, func(_ config.Config, stored *store.Store) error {
				var pairings []store.Pairing
				if stored != nil {
					var err error
					if pairings, err = stored.Pairings(cmd.Context()); err != nil {
						return err
					}
				}
				if len(pairings) == 0 {
					_, err := fmt.Fprintln(cmd.OutOrStdout(), "nobody has asked")
					return err
				}
				table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(table, "CODE\tCHANNEL\tSENDER\tNAME\tASKED\tLET IN")
				for _, p := range pairings {
					fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", p.Code, p.Channel, oneLine(p.Sender, keyLimit), oneLine(p.Name, keyLimit),
						shownTime(p.CreatedAt), shownTime(p.ApprovedAt))
				}
				return table.Flush()
			})
		},
	}
}

func pairingApproveCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "approve CODE",
		Short: "Let the person in whom the bot told this code",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPairings(cmd.Context(), s, func(stored *store.Store) error {
				p, err := stored.ApprovePairing(cmd.Context(), strings.ToUpper(strings.TrimSpace(args[0])))
				if errors.Is(err, domain.ErrNotFound) {
					return errors.New("no such code, or it is older than an hour; let the person write to the bot again and see `holdfast pairing list`")
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s (%s) may now use the bot on %s\n", printable(p.Name), printable(p.Sender), p.Channel)
				return err
			})
		},
	}
}

func pairingRemoveCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "remove CHANNEL SENDER",
		Short: "Shut somebody out again",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withPairings(cmd.Context(), s, func(stored *store.Store) error {
				err := stored.DropPairing(cmd.Context(), args[0], args[1])
				if errors.Is(err, domain.ErrNotFound) {
					return fmt.Errorf("%s was not let in on %s; see `holdfast pairing list`", args[1], args[0])
				}
				return err
			})
		},
	}
}
