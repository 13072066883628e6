package command

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/node"
)

func engineCommand(env environment) *cobra.Command {
	return newCommand("engine", "Run only the embedded Temporal server and its UI", func(cmd *cobra.Command, _ []string) error {
		cfg, log, err := env.load(cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		e, err := node.OpenEngine(cmd.Context(), cfg, log, node.Roles{Engine: true})
		if err != nil {
			return err
		}
		defer e.Stop()
		if err := e.Start(cmd.Context()); err != nil {
			return err
		}
		if m := node.NewMetrics(cfg); m != nil {
			scraped, err := node.ServeMetrics(cmd.Context(), m, nil, cfg, log)
			if err != nil {
				return err
			}
			defer scraped.Close()
		}
		info := node.RunInfo{PID: os.Getpid(), Command: node.CommandEngine, StartedAt: time.Now().UTC(), UI: e.UIURL(), Temporal: e.Address(), Version: build.Version}
		if err := node.WriteRun(cfg.DataDir(), info); err != nil {
			return err
		}
		defer os.Remove(node.RunFile(cfg.DataDir()))
		fmt.Fprintf(cmd.OutOrStdout(), "UI         %s\nTemporal   %s\nready\n", e.UIURL(), e.Address())
		select {
		case <-cmd.Context().Done():
			return nil
		case <-e.Done():
			return fmt.Errorf("engine stopped: %w", e.Err())
		}
	})
}
