package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/prompt"
)

func initCommand(env environment) *cobra.Command {
	return newCommand("init", "Create a commented config and a workspace, without overwriting files", func(cmd *cobra.Command, _ []string) error {
		return initHome(cmd.OutOrStdout(), env)
	})
}

// initHome creates missing parts of a home. An existing config must be valid, since it
// sets the workspace.
func initHome(w io.Writer, env environment) error {
	cfg, _, err := env.load(io.Discard)
	if err != nil {
		return err
	}
	if err := node.MakeDirs(cfg.Home, cfg.DataDir()); err != nil {
		return err
	}
	path, _ := config.FilePath(cfg.Home, env.vars)
	fresh, err := writeNew(path, config.Example())
	if err != nil {
		return fmt.Errorf("write the config: %w", err)
	}
	report(w, path, fresh)
	if err := initWorkspace(w, cfg.Workspace); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNext, set a provider's key in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or in\n%s,\n"+
		"or try the built-in demo model without a key:\n\n"+
		"  holdfast chat -m hello   ask a question\n  holdfast up              run the agent\n  holdfast doctor          check the installation\n", path)
	return nil
}

func initWorkspace(w io.Writer, dir string) error {
	names, err := prompt.Templates()
	if err != nil {
		return fmt.Errorf("list the workspace's templates: %w", err)
	}
	written, err := prompt.WriteTemplates(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		report(w, filepath.Join(dir, filepath.FromSlash(name)), slices.Contains(written, name))
	}
	path := filepath.Join(dir, "HEARTBEAT.md")
	fresh, err := writeNew(path, []byte(heartbeatTemplate))
	if err != nil {
		return fmt.Errorf("write HEARTBEAT.md: %w", err)
	}
	report(w, path, fresh)
	return nil
}

// heartbeatTemplate has no tasks, so the heartbeat makes no model calls.
const heartbeatTemplate = `# Heartbeat

<!--
The agent reads this file every 30 minutes (heartbeat.every) and does what is due.
Its messages go to heartbeat.channel and heartbeat.chat. As long as the file has only
headings and comments, no model is called.

List the tasks below this comment, one per line:

- On weekdays after 8:00, once a day: check inbox/ and report what is urgent.
- If less than 10 % of the disk is free, say so.
-->

## Tasks
`

func report(w io.Writer, path string, fresh bool) {
	if fresh {
		fmt.Fprintf(w, "created         %s\n", path)
		return
	}
	fmt.Fprintf(w, "already exists  %s\n", path)
}

// writeNew writes a file with mode 0600 unless it exists.
func writeNew(path string, data []byte) (fresh bool, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return false, errors.Join(err, os.Remove(path))
	}
	return true, nil
}
