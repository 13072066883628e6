package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/store"
)

func migrateCommand(env environment) *cobra.Command {
	return newCommand("migrate", "Bring the tables of the store up to date, as every process does when it starts", func(cmd *cobra.Command, _ []string) error {
		cfg, log, err := env.load(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		before, err := store.Check(cmd.Context(), cfg.StoreDSN())
		if err != nil {
			return err
		}
		stored, err := store.Open(cmd.Context(), store.Options{DSN: cfg.StoreDSN(), Logger: log})
		if err != nil {
			return err
		}
		defer stored.Close()
		after, err := store.Check(cmd.Context(), cfg.StoreDSN())
		if err != nil {
			return err
		}
		if before.Version == after.Version {
			fmt.Fprintf(cmd.OutOrStdout(), "the store has version %d: nothing to do\n", after.Version)
			return nil
		}
		fmt.Fprintf(cmd.OutOrStdout(), "the store has version %d now, %d before\n", after.Version, before.Version)
		return nil
	})
}
