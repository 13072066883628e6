package command

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/engine"
)

func versionCommand() *cobra.Command {
	return newCommand("version", "Print the versions of holdfast, Go and Temporal", func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "holdfast %s (commit %s)\ngo %s %s/%s\ntemporal sdk %s\ntemporal server %s\n",
			build.Version, build.Commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, dispatch.SDKVersion, engine.ServerVersion)
		return err
	})
}
