package command

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/engine"
)

// version is set by the linker.
var version = "dev"

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of holdfast and what it is built from",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout())
		},
	}
}

func printVersion(w io.Writer) error {
	_, err := fmt.Fprintf(w, "holdfast %s (commit %s)\ngo %s %s/%s\ntemporal sdk %s\ntemporal server %s\n",
		version, commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH, temporal.SDKVersion, engine.ServerVersion)
	return err
}

// commit is the version control system's, as the Go toolchain recorded it.
func commit() string {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, setting := range info.Settings {
			if setting.Key == "vcs.revision" {
				return setting.Value[:min(12, len(setting.Value))]
			}
		}
	}
	return "unknown"
}
