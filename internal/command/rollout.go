package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/build"
)

func rolloutCommand(env environment) *cobra.Command {
	return newCommand("rollout [BUILD]", "Have new runs use the workers of a build (Worker Versioning)", func(cmd *cobra.Command, args []string) error {
		cfg, _, err := env.load(io.Discard)
		if err != nil {
			return err
		}
		deployment, id := cfg.Worker.Deployment, cmp.Or(cfg.Worker.BuildID, build.ID())
		if deployment == "" {
			return errors.New("workers are not versioned: set worker.deployment; see docs/upgrade.md")
		}
		if len(args) > 0 {
			id = args[0]
		}
		return withRuns(cmd.Context(), env, func(r runs) error {
			previous, err := r.temporal.SetCurrentBuild(cmd.Context(), deployment, id)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: build %s is current, before it %s\n", deployment, cmp.Or(id, "none"), cmp.Or(previous, "none"))
			return err
		})
	})
}
