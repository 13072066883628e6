package command

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/spf13/cobra"
)

func memoryCommand(env environment) *cobra.Command {
	parent := &cobra.Command{
		Use:   "memory",
		Short: "Show and restore versions of the agent's memory",
	}
	parent.AddCommand(memoryVersionsCommand(env), memoryShowCommand(env), memoryRestoreCommand(env))
	return parent
}

// withMemory calls f with the memory of the scope in args; without one, with that of
// the workspace.
func withMemory(ctx context.Context, env environment, args []string, f func(scopeMemory) error) error {
	var scope memory.Scope
	if len(args) > 0 && args[0] != "" {
		var err error
		if scope, err = memory.ParseScope(args[0]); err != nil {
			return fmt.Errorf("%w; scopes are named like the folders in the workspace's memory folder, the shared one is workspace", err)
		}
	}
	return withStore(ctx, env, func(cfg config.Config, stored *store.Store) error {
		files, err := memory.New(memory.Options{Workspace: cfg.Workspace, Versions: node.Versions{Store: stored}})
		if err != nil {
			return err
		}
		return f(scopeMemory{scope: scope, files: files, stored: stored})
	})
}

func memoryVersionsCommand(env environment) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "versions [SCOPE]",
		Short: "List the stored versions of a MEMORY.md, newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd.Context(), env, args, func(m scopeMemory) error {
				rows, err := m.rows(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return m.print(cmd.OutOrStdout(), rows)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func memoryShowCommand(env environment) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "show [SCOPE]",
		Short: "Print a MEMORY.md or an earlier version of it",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd.Context(), env, args, func(m scopeMemory) error {
				content, err := m.content(cmd.Context(), version)
				if err != nil {
					return err
				}
				return printContent(cmd.OutOrStdout(), content)
			})
		},
	}
	cmd.Flags().StringVar(&version, "version", "", "`version` to print, as listed by holdfast memory versions (default: the current file)")
	return cmd
}

func memoryRestoreCommand(env environment) *cobra.Command {
	return &cobra.Command{
		Use:   "restore SCOPE VERSION",
		Short: "Restore a version of a MEMORY.md; the current one is kept as a version",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd.Context(), env, args, func(m scopeMemory) error {
				return m.restore(cmd.Context(), cmd.OutOrStdout(), args[1])
			})
		},
	}
}
