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
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/transcript"
)

func sessionsImportCommand(env environment) *cobra.Command {
	var (
		key       string
		appending bool
	)
	cmd := newCommand("import FILE", "Import a session from a file written by nanobot or `sessions export`", func(cmd *cobra.Command, args []string) error {
		cfg, _, err := env.load(io.Discard)
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
			return fmt.Errorf("session %s already has other turns; use --append to add these after them, or --key to choose another session", oneLine(in.Session, keyLimit))
		case errors.Is(err, store.ErrSessionBusy):
			return fmt.Errorf("%w; try again once it is idle", err)
		case err != nil:
			return err
		}
		for _, line := range file.Left {
			fmt.Fprintln(cmd.ErrOrStderr(), line)
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s added, %d already there\n",
			oneLine(in.Session, keyLimit), text.Count(added, "turn"), len(in.Turns)-added)
		return err
	})
	cmd.Flags().StringVar(&key, "key", "", "session to import into, such as http:main (default: taken from the file or its name)")
	cmd.Flags().BoolVar(&appending, "append", false, "add the turns to a session that has other turns")
	return cmd
}

// openSession reads a session file; - is stdin.
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
