package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func memoryShowCommand(s setting) *cobra.Command {
	var version string
	cmd := &cobra.Command{
		Use:   "show [SCOPE]",
		Short: "Print a MEMORY.md as it is, or as it was",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd.Context(), s, args, func(m scopeMemory) error {
				content, err := m.content(cmd.Context(), version)
				if err != nil {
					return err
				}
				return printContent(cmd.OutOrStdout(), content)
			})
		},
	}
	cmd.Flags().StringVar(&version, "version", "", "the version to print, as `holdfast memory versions` lists it (default: what is in the file)")
	return cmd
}

// content is a version, or what is in the file.
func (m scopeMemory) content(ctx context.Context, version string) ([]byte, error) {
	if version != "" {
		v, err := m.version(ctx, version)
		return v.Content, err
	}
	content, hash, err := m.files.Present(m.scope)
	if err == nil && hash == "" {
		return nil, fmt.Errorf("there is no %s", m.scope.Facts())
	}
	return content, err
}

// printContent prints a file: byte by byte, so that it can be written into one
// again, but for a terminal.
func printContent(w io.Writer, content []byte) error {
	if _, is := terminal(w); is {
		content = []byte(printable(string(content)))
	}
	_, err := w.Write(content)
	return err
}

func memoryRestoreCommand(s setting) *cobra.Command {
	return &cobra.Command{
		Use:   "restore SCOPE VERSION",
		Short: "Make a MEMORY.md what it was; what it is now is kept as a version, too",
		Args:  cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd.Context(), s, args, func(m scopeMemory) error {
				return m.restore(cmd.Context(), cmd.OutOrStdout(), args[1])
			})
		},
	}
}

func (m scopeMemory) restore(ctx context.Context, w io.Writer, id string) error {
	v, err := m.version(ctx, id)
	if err != nil {
		return err
	}
	_, before, err := m.files.Present(m.scope)
	if err != nil {
		return err
	}
	if before == v.Hash {
		_, err := fmt.Fprintf(w, "%s is that version already\n", m.scope.Facts())
		return err
	}
	err = m.files.Restore(ctx, m.scope, v.Content)
	if errors.Is(err, memory.ErrChanged) {
		return fmt.Errorf("%w by somebody else; look at it and try again", err)
	}
	if err != nil {
		return err
	}
	was := "there was none before"
	if before != "" {
		was = "what it was before is version " + before[:idShown]
	}
	_, err = fmt.Fprintf(w, "%s is again what it was at %s; %s\n", m.scope.Facts(), shownTime(v.CreatedAt), was)
	return err
}
