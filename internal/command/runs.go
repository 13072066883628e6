package command

import "github.com/spf13/cobra"

func runsCommand(env environment) *cobra.Command {
	parent := &cobra.Command{
		Use:   "runs",
		Short: "Show and stop workflow runs",
	}
	parent.AddCommand(runsShowCommand(env), runsStopCommand(env))
	return parent
}
