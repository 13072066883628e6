package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func sessionsCommand(s setting) *cobra.Command {
	parent := &cobra.Command{
		Use:   "sessions",
		Short: "Show, move and remove the conversations that are stored",
	}
	parent.AddCommand(
		sessionsListCommand(s), sessionsShowCommand(s), sessionsExportCommand(s), sessionsImportCommand(s), sessionsRemoveCommand(s),
	)
	return parent
}

func sessionsListCommand(s setting) *cobra.Command {
	var (
		limit  int
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, the one used last first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 1 {
				return errors.New("--limit must be at least 1")
			}
			return withStore(cmd.Context(), s, func(_ config.Config, stored *store.Store) error {
				rows, err := sessionRows(cmd.Context(), stored, limit)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printSessions(cmd.OutOrStdout(), rows)
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "how many at most")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// withStore opens the store for a look at it. One that is not there is not made:
// f then gets nil.
func withStore(ctx context.Context, s setting, f func(config.Config, *store.Store) error) error {
	cfg, _, err := s.load(io.Discard)
	if err != nil {
		return err
	}
	dsn := cfg.StoreDSN()
	if cfg.Store.DSN == "" {
		if _, err := os.Stat(dsn); errors.Is(err, fs.ErrNotExist) {
			return f(cfg, nil)
		}
	}
	stored, err := store.Open(ctx, store.Options{DSN: dsn})
	if err != nil {
		return err
	}
	defer stored.Close()
	return f(cfg, stored)
}

// sessionRow is a session as it is listed.
type sessionRow struct {
	Key              string `json:"key"`
	Channel          string `json:"channel"`
	Turns            int    `json:"turns"`
	Messages         int    `json:"messages"`
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	Model            string `json:"model,omitempty"` // that /model chose
	shownCost
	CreatedAt time.Time `json:"created_at,omitzero"`
	UsedAt    time.Time `json:"used_at,omitzero"`
	Running   bool      `json:"running"` // it has work to do
}

// sessionRows returns the sessions used last. Those whose first message waits
// come first: they have no row of their own yet.
func sessionRows(ctx context.Context, stored *store.Store, limit int) ([]sessionRow, error) {
	rows := []sessionRow{}
	if stored == nil {
		return rows, nil
	}
	running, err := stored.RunningSessions(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range running {
		_, err := stored.Session(ctx, key)
		if errors.Is(err, domain.ErrNotFound) {
			channel, _, _ := strings.Cut(key, ":")
			rows = append(rows, sessionRow{Key: key, Channel: channel, Running: true})
		} else if err != nil {
			return nil, err
		}
	}
	sessions, err := stored.Sessions(ctx, limit)
	if err != nil {
		return nil, err
	}
	for _, session := range sessions {
		rows = append(rows, sessionRowOf(session, slices.Contains(running, session.Key)))
	}
	return rows[:min(limit, len(rows))], nil
}

func sessionRowOf(s domain.Session, running bool) sessionRow {
	return sessionRow{
		Key: s.Key, Channel: s.Channel, Turns: s.Turns, Messages: s.Messages,
		PromptTokens: s.Usage.PromptTokens, CompletionTokens: s.Usage.CompletionTokens,
		Model: s.Model, shownCost: shownCost{s.Cost, s.Unpriced},
		CreatedAt: s.CreatedAt, UsedAt: s.UpdatedAt, Running: running,
	}
}

func printSessions(w io.Writer, rows []sessionRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "there are no sessions yet; `holdfast chat -m hello` begins one")
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SESSION\tTURNS\tMESSAGES\tTOKENS\tCOST\tLAST USED\tRUNNING")
	for _, row := range rows {
		running := "no"
		if row.Running {
			running = "yes"
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\n", oneLine(row.Key, keyLimit), row.Turns, row.Messages,
			row.PromptTokens+row.CompletionTokens, row.shownCost, shownTime(row.UsedAt), running)
	}
	return table.Flush()
}

func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
