package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

func upCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Run everything on this machine: engine, worker, starter and channels",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNode(cmd, s, roles{engine: true, worker: true, starter: true})
		},
	}
}

func workerCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "worker",
		Short: "Run the worker half, against temporal.address",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNode(cmd, s, roles{worker: true})
		},
	}
}

func starterCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "starter",
		Short: "Run the starter half, with the channels, against temporal.address",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runNode(cmd, s, roles{starter: true})
		},
	}
}

// runNode runs a process in its roles until it is interrupted.
func runNode(cmd *cobra.Command, s setting, r roles) error {
	cfg, log, err := s.load(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if cfg.Temporal.Address == "" && !r.engine {
		if cfg.Temporal.Address, err = runningEngine(cfg); err != nil {
			return err
		}
	}
	n, err := openNode(cmd.Context(), cfg, log, r)
	if err != nil {
		return err
	}
	defer n.close()
	if n.engine != nil {
		info := runInfo{
			PID: os.Getpid(), Identity: n.identity, StartedAt: time.Now().UTC(), Version: version,
			API: n.apiURL(), UI: n.engine.UIURL(), Temporal: n.engine.Address(),
		}
		if err := writeRun(cfg.DataDir(), info); err != nil {
			return err
		}
		defer os.Remove(runFile(cfg.DataDir()))
	}
	n.announce(cmd.OutOrStdout())
	if err := n.run(cmd.Context()); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), "stopping; what is unfinished goes on at the next start")
	return nil
}

// announce prints where everything is.
func (n *node) announce(w io.Writer) {
	if n.roles.worker {
		fmt.Fprintf(w, "model      %s\n", n.model.title())
	}
	if n.http != nil {
		fmt.Fprintf(w, "API        %s\n", n.apiURL())
	}
	if n.scraped != nil {
		fmt.Fprintf(w, "metrics    %s\n", n.scraped.URL())
	}
	if n.engine != nil {
		fmt.Fprintf(w, "UI         %s\nTemporal   %s\n", n.engine.UIURL(), n.engine.Address())
	} else {
		fmt.Fprintf(w, "Temporal   %s\n", n.cfg.Temporal.Address)
	}
	fmt.Fprintf(w, "workspace  %s\nready\n", n.cfg.Workspace)
}
