package command

import "github.com/spf13/cobra"

func runsCommand(env environment) *cobra.Command {
	return newGroup("runs", "Show and stop workflow runs", runsShowCommand(env), runsStopCommand(env))
}
