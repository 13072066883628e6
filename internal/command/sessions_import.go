package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
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
			in, err := importOf(cfg, &file, key, args[0])
			if err != nil {
				return err
			}
			in.Append = appending
			stored, err := store.Open(cmd.Context(), store.Options{DSN: storeDSN(cfg)})
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
			for _, line := range file.left {
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
func openSession(path string, stdin io.Reader) (sessionFile, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return sessionFile{}, err
		}
		defer f.Close()
		in = f
	}
	file, err := readSession(in)
	if err != nil {
		return sessionFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// importOf is what a file has to import.
func importOf(cfg config.Config, file *sessionFile, key, path string) (store.Import, error) {
	route, err := importRoute(key, file.head, path)
	if err != nil {
		return store.Import{}, err
	}
	in := store.Import{
		Session: protocol.SessionKey(route.Channel, route.Chat, route.Thread), Route: route, CreatedAt: file.head.CreatedAt.Time,
	}
	in.Turns = importTurns(file, in.Session, func(sender string) string {
		scope := scopes(cfg.Memory)(route.Channel, route.Chat, sender)
		if scope.Kind == memory.Sender && sender == "" {
			return "" // nobody knows whose it is
		}
		return scope.String()
	})
	return in, nil
}

// importRoute says which session a file belongs to: the one asked for, else that of
// the file's metadata, else that of its name, in which nanobot has channel_chat.
func importRoute(asked string, head jsonlHead, path string) (store.Route, error) {
	ours, _ := head.Metadata[jsonlSession].(string)
	name, _ := strings.CutSuffix(filepath.Base(path), ".jsonl")
	route := routeOf(cmp.Or(asked, ours))
	if asked == "" && ours == "" {
		written := cmp.Or(head.Key, strings.Replace(name, "_", ":", 1))
		route.Channel, route.Chat, _ = strings.Cut(written, ":")
		route.Chat, route.Thread, _ = strings.Cut(route.Chat, ":")
	}
	if route.Channel == "" || route.Chat == "" || route.Channel == protocol.SubagentChannel {
		return store.Route{}, fmt.Errorf("%s: which session it is cannot be told; say it with --key, such as http:main or telegram:12345", path)
	}
	return route, nil
}

// routeOf takes a session's key apart.
func routeOf(key string) store.Route {
	parts := strings.SplitN(key+"::", ":", 4)
	for i, part := range parts {
		if plain, err := url.QueryUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	return store.Route{Channel: parts[0], Chat: parts[1], Thread: parts[2]}
}
