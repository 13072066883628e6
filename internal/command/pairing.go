package command

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func pairingCommand(env environment) *cobra.Command {
	return newGroup("pairing", "Manage access for people who message the bot",
		pairingListCommand(env), pairingApproveCommand(env), pairingRemoveCommand(env))
}

func pairingListCommand(env environment) *cobra.Command {
	return newCommand("list", "List pairing requests of the last hour, and allowed people", func(cmd *cobra.Command, _ []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			pairings, err := stored.Pairings(cmd.Context())
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), false, pairings, "no pairing requests", "CODE\tCHANNEL\tSENDER\tNAME\tREQUESTED\tALLOWED",
				func(p store.Pairing) []any {
					return []any{p.Code, p.Channel, oneLine(p.Sender, keyLimit), oneLine(p.Name, keyLimit), shownTime(p.CreatedAt), shownTime(p.ApprovedAt)}
				})
		})
	})
}

func pairingApproveCommand(env environment) *cobra.Command {
	return newCommand("approve CODE", "Allow the person who was given this code", func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
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
	})
}

func pairingRemoveCommand(env environment) *cobra.Command {
	return newCommand("remove CHANNEL SENDER", "Revoke a person's access", func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			err := stored.DropPairing(cmd.Context(), args[0], args[1])
			if errors.Is(err, domain.ErrNotFound) {
				return fmt.Errorf("%s is not allowed on %s; see `holdfast pairing list`", args[1], args[0])
			}
			return err
		})
	})
}
