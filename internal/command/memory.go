package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func memoryCommand(env environment) *cobra.Command {
	return newGroup("memory", "Show and restore versions of the agent's memory",
		memoryVersionsCommand(env), memoryShowCommand(env), memoryRestoreCommand(env))
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
		files, err := memory.New(memory.Options{Workspace: cfg.Workspace, Versions: stored})
		if err != nil {
			return err
		}
		return f(scopeMemory{scope: scope, files: files, stored: stored})
	})
}

func memoryVersionsCommand(env environment) *cobra.Command {
	var asJSON *bool
	cmd := newCommand("versions [SCOPE]", "List the stored versions of a MEMORY.md, newest first", func(cmd *cobra.Command, args []string) error {
		return withMemory(cmd.Context(), env, args, func(m scopeMemory) error {
			rows, err := m.rows(cmd.Context())
			if err != nil {
				return err
			}
			return printList(cmd.OutOrStdout(), *asJSON, rows, "no versions of "+m.scope.Facts()+" yet",
				"VERSION\tKEPT\tBYTES\tPRESENT\tBEGINS", versionRow.cells)
		})
	})
	asJSON = jsonFlag(cmd)
	return cmd
}

func memoryShowCommand(env environment) *cobra.Command {
	var version string
	cmd := newCommand("show [SCOPE]", "Print a MEMORY.md or an earlier version of it", func(cmd *cobra.Command, args []string) error {
		return withMemory(cmd.Context(), env, args, func(m scopeMemory) error {
			content, err := m.content(cmd.Context(), version)
			if err != nil {
				return err
			}
			return printContent(cmd.OutOrStdout(), content)
		})
	})
	cmd.Flags().StringVar(&version, "version", "", "`version` to print, as listed by holdfast memory versions (default: the current file)")
	return cmd
}

func memoryRestoreCommand(env environment) *cobra.Command {
	return newCommand("restore SCOPE VERSION", "Restore a version of a MEMORY.md; the current one is kept as a version", func(cmd *cobra.Command, args []string) error {
		return withMemory(cmd.Context(), env, args, func(m scopeMemory) error {
			return m.restore(cmd.Context(), cmd.OutOrStdout(), args[1])
		})
	})
}
