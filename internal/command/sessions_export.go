package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/transcript"
)

func sessionsExportCommand(s setting) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "export KEY",
		Short: "Write a conversation as JSON Lines, which nanobot and `sessions import` read",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withStore(cmd.Context(), s, func(_ config.Config, stored *store.Store) error {
				write := func(w io.Writer) error { return exportSession(cmd.Context(), w, stored, args[0]) }
				if path == "" {
					return write(cmd.OutOrStdout())
				}
				return writeWhole(path, write)
			})
		},
	}
	cmd.Flags().StringVarP(&path, "output", "o", "", "file to write; else it is printed")
	return cmd
}

// writeWhole writes a file that only its owner can read. It is there as a whole or
// stays as it was.
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

// exportSession writes a session to w; stored is nil if there is no store yet.
func exportSession(ctx context.Context, w io.Writer, stored *store.Store, key string) error {
	if stored == nil {
		return unknownSession(key)
	}
	err := transcript.Write(ctx, w, stored, key)
	if errors.Is(err, domain.ErrNotFound) {
		return unknownSession(key)
	}
	return err
}

func unknownSession(key string) error {
	return fmt.Errorf("there is no session %s; `holdfast sessions list` shows what there is", oneLine(key, keyLimit))
}
