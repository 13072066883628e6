package command

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/node"
)

func upCommand(env environment) *cobra.Command {
	return newCommand("up", "Run everything on this machine: engine, worker, starter and channels", func(cmd *cobra.Command, _ []string) error {
		return runNode(cmd, env, node.Roles{Engine: true, Worker: true, Starter: true})
	})
}

func workerCommand(env environment) *cobra.Command {
	return newCommand("worker", "Run a worker against temporal.address", func(cmd *cobra.Command, _ []string) error {
		return runNode(cmd, env, node.Roles{Worker: true})
	})
}

func starterCommand(env environment) *cobra.Command {
	return newCommand("starter", "Run a starter, with the channels, against temporal.address", func(cmd *cobra.Command, _ []string) error {
		return runNode(cmd, env, node.Roles{Starter: true})
	})
}

// runNode runs a process until it is interrupted.
func runNode(cmd *cobra.Command, env environment, r node.Roles) error {
	cfg, log, err := env.load(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if cfg.Temporal.Address == "" && !r.Engine {
		if cfg.Temporal.Address, err = runningEngine(cfg); err != nil {
			return err
		}
	}
	n, err := node.Open(cmd.Context(), cfg, log, r)
	if err != nil {
		return err
	}
	defer n.Close()
	if err := n.Run(cmd.Context(), func() { announce(cmd.OutOrStdout(), n, r) }); err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), "stopping; unfinished work resumes at the next start")
	hurryAtSignal(n)
	n.Leave()
	return nil
}

// hurryAtSignal makes the next signal end the drain time.
func hurryAtSignal(n *node.Node) {
	again := make(chan os.Signal, 1)
	signal.Notify(again, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-again
		n.Hurry()
	}()
}

// announce prints where the parts of a process can be reached.
func announce(w io.Writer, n *node.Node, r node.Roles) {
	if r.Worker {
		fmt.Fprintf(w, "model      %s\n", n.Model.Title())
	}
	if url := n.APIURL(); url != "" {
		fmt.Fprintf(w, "API        %s\n", url)
	}
	if url := n.MetricsURL(); url != "" {
		fmt.Fprintf(w, "metrics    %s\n", url)
	}
	if n.Engine != nil {
		fmt.Fprintf(w, "UI         %s\nTemporal   %s\n", n.Engine.UIURL(), n.Engine.Address())
	} else {
		fmt.Fprintf(w, "Temporal   %s\n", n.Config.Temporal.Address)
	}
	fmt.Fprintf(w, "workspace  %s\nready\n", n.Config.Workspace)
}
