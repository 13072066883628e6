package command

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/node"
)

func engineCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "engine",
		Short: "Run the embedded Temporal server and its UI alone",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, log, err := s.load(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			e, err := node.OpenEngine(cmd.Context(), cfg, log, false)
			if err != nil {
				return err
			}
			defer e.Stop()
			if m := node.NewMetrics(cfg); m != nil {
				scraped, err := node.ServeMetrics(cmd.Context(), m, cfg, log)
				if err != nil {
					return err
				}
				defer scraped.Close()
			}
			info := node.RunInfo{PID: os.Getpid(), StartedAt: time.Now().UTC(), UI: e.UIURL(), Temporal: e.Address(), Version: build.Version}
			if err := node.WriteRun(cfg.DataDir(), info); err != nil {
				return err
			}
			defer os.Remove(node.RunFile(cfg.DataDir()))
			fmt.Fprintf(cmd.OutOrStdout(), "UI         %s\nTemporal   %s\nready\n", e.UIURL(), e.Address())
			select {
			case <-cmd.Context().Done():
				return nil
			case <-e.Done():
				return fmt.Errorf("the engine died: %w", e.Err())
			}
		},
	}
}

// runningEngine is the address of the engine that runs on this home.
func runningEngine(cfg config.Config) (string, error) {
	info, err := node.ReadRun(cfg.DataDir())
	if err != nil {
		return "", err
	}
	if info.Temporal == "" {
		return "", errors.New("no Temporal to connect to: set temporal.address, or start one with `holdfast engine` or `holdfast up`")
	}
	return info.Temporal, nil
}
