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
	if err := makeDirs(cfg.Home, cfg.DataDir()); err != nil {
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
	return nil
}

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
