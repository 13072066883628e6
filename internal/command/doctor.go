package command

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/doctor"
	"github.com/holdfast-ai/holdfast/internal/text"
)

func doctorCommand(env environment) *cobra.Command {
	return newCommand("doctor", "Check the installation and suggest fixes", func(cmd *cobra.Command, _ []string) error {
		return runDoctor(cmd.Context(), cmd.OutOrStdout(), env.vars)
	})
}

func runDoctor(ctx context.Context, w io.Writer, environ []string) error {
	count := map[doctor.Level]int{}
	doctor.Run(ctx, environ, func(f doctor.Finding) {
		count[f.Level]++
		fmt.Fprintln(w, text.Printable(f.String()))
	})
	failed, warned := count[doctor.Fail], count[doctor.Warn]
	if failed+warned == 0 {
		fmt.Fprintln(w, "\nall checks passed")
		return nil
	}
	warnings := "warnings"
	if warned == 1 {
		warnings = "warning"
	}
	fmt.Fprintf(w, "\n%d failed, %d %s\n", failed, warned, warnings)
	if failed > 0 {
		return exitFailed
	}
	return nil
}
