package command

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/transcript"
)

func sessionsImportCommand(s setting) *cobra.Command {
	var (
		key       string
		appending bool
	)
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Store a conversation from a file that nanobot or `sessions export` wrote",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := s.load(io.Discard)
			if err != nil {
				return err
			}
			file, err := openSession(args[0], cmd.InOrStdin())
			if err != nil {
				return err
			}
			in, err := file.Import(key, args[0], importScope(cfg.Memory))
			if err != nil {
				return err
			}
			in.Append = appending
			stored, err := store.Open(cmd.Context(), store.Options{DSN: cfg.StoreDSN()})
			if err != nil {
				return err
			}
			defer stored.Close()
			added, err := stored.Import(cmd.Context(), in)
			switch {
			case errors.Is(err, store.ErrNotEmpty):
				return fmt.Errorf("session %s has other turns; --append adds these after them, --key chooses another session", oneLine(in.Session, keyLimit))
			case errors.Is(err, store.ErrAtWork):
				return fmt.Errorf("%w; try again when it is done", err)
			case err != nil:
				return err
			}
			for _, line := range file.Left {
				fmt.Fprintln(cmd.ErrOrStderr(), line)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %d turns added, %d were there already\n",
				oneLine(in.Session, keyLimit), added, len(in.Turns)-added)
			return err
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "session to import into, such as http:main; else the file's, or that of its name")
	cmd.Flags().BoolVar(&appending, "append", false, "add the turns to a session that has others")
	return cmd
}

// openSession reads a session's file; - is stdin.
func openSession(path string, stdin io.Reader) (transcript.File, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return transcript.File{}, err
		}
		defer f.Close()
		in = f
	}
	file, err := transcript.Read(in)
	if err != nil {
		return transcript.File{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// importScope returns whose memory an imported turn belongs to; empty if unknown.
func importScope(cfg config.Memory) func(domain.Route) string {
	scopes := node.Scopes(cfg)
	return func(route domain.Route) string {
		scope := scopes(route.Channel, route.Chat, route.Sender)
		if scope.Kind == memory.Sender && route.Sender == "" {
			return ""
		}
		return scope.String()
	}
}
