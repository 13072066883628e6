package command

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/transcript"
)

func sessionsExportCommand(env environment) *cobra.Command {
	var path string
	cmd := newCommand("export KEY", "Export a session as JSON Lines, readable by nanobot and `sessions import`", func(cmd *cobra.Command, args []string) error {
		return withStore(cmd.Context(), env, func(_ config.Config, stored *store.Store) error {
			write := func(w io.Writer) error { return exportSession(cmd.Context(), w, stored, args[0]) }
			if path == "" {
				return write(cmd.OutOrStdout())
			}
			return writeWhole(path, write)
		})
	})
	cmd.Flags().StringVarP(&path, "output", "o", "", "output file (default: stdout)")
	return cmd
}

// writeWhole replaces a file atomically. Only its owner can read it.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp.Name()))
	}
	return nil
}

func exportSession(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	err := transcript.Write(ctx, w, stored, key)
	if errors.Is(err, domain.ErrNotFound) {
		return unknownSession(key)
	}
	return err
}
