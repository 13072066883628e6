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

func initCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Write a commented config and a workspace; never overwrites",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return initHome(cmd.OutOrStdout(), s)
		},
	}
}

// initHome makes a home, or completes one. A config that is there must be right:
// it says where the workspace is.
func initHome(w io.Writer, s setting) error {
	cfg, _, err := s.load(io.Discard)
	if err != nil {
		return err
	}
	if err := node.MakeDirs(cfg.Home, cfg.DataDir()); err != nil {
		return err
	}
	path, _ := config.FilePath(cfg.Home, s.environ)
	fresh, err := writeNew(path, config.Example())
	if err != nil {
		return fmt.Errorf("write the config: %w", err)
	}
	report(w, path, fresh)
	if err := initWorkspace(w, cfg.Workspace); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nNext: set a provider's key, in the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …) or in\n%s,\n"+
		"or try the built-in demo without one. `holdfast chat -m hello` asks, `holdfast up` serves, `holdfast doctor` checks.\n", path)
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
		return fmt.Errorf("write what the heartbeat looks into: %w", err)
	}
	report(w, path, fresh)
	return nil
}

// heartbeatTemplate asks for nothing, so that no model is called for it.
const heartbeatTemplate = `# Heartbeat

<!--
The agent reads this file every 30 minutes (heartbeat.every) and does what is due.
What it has to say goes to heartbeat.channel and heartbeat.chat. While there is
nothing here but headings and comments, nothing happens and no model is called.

Write what it shall look after, one thing a line, outside of this comment:

- On weekdays after 8:00, once a day: what is in inbox/, and what of it is urgent?
- If disk space is below 10 %, say so.
-->

## Look after
`

func report(w io.Writer, path string, fresh bool) {
	if fresh {
		fmt.Fprintf(w, "written        %s\n", path)
		return
	}
	fmt.Fprintf(w, "already there  %s\n", path)
}

// writeNew writes a file that only we may read, unless there is one.
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
