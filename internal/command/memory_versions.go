package command

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func memoryCommand(s setting) *cobra.Command {
	parent := &cobra.Command{
		Use:   "memory",
		Short: "Show what the agent remembers and remembered, and bring it back",
	}
	parent.AddCommand(memoryVersionsCommand(s), memoryShowCommand(s), memoryRestoreCommand(s))
	return parent
}

// scopeMemory is the memory of a scope, with its versions.
type scopeMemory struct {
	scope  memory.Scope
	files  *memory.Files
	stored *store.Store // nil: there is none
}

// withMemory calls f with the memory of the scope that args begins with; without
// one, that of the workspace.
func withMemory(ctx context.Context, s setting, args []string, f func(scopeMemory) error) error {
	var scope memory.Scope
	if len(args) > 0 && args[0] != "" {
		var err error
		if scope, err = memory.ParseScope(args[0]); err != nil {
			return fmt.Errorf("%w; they are named as the folders in the workspace's memory folder, and that of all is workspace", err)
		}
	}
	return withStore(ctx, s, func(cfg config.Config, stored *store.Store) error {
		files, err := memory.New(memory.Options{Workspace: cfg.Workspace, Versions: node.Versions{Store: stored}})
		if err != nil {
			return err
		}
		return f(scopeMemory{scope: scope, files: files, stored: stored})
	})
}

func memoryVersionsCommand(s setting) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "versions [SCOPE]",
		Short: "List the versions of a MEMORY.md that were kept, the newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd.Context(), s, args, func(m scopeMemory) error {
				rows, err := m.rows(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return m.print(cmd.OutOrStdout(), rows)
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// versionRow is a version as it is listed.
type versionRow struct {
	ID      string    `json:"id"`
	KeptAt  time.Time `json:"kept_at"` // for the first time
	Bytes   int       `json:"bytes"`
	Present bool      `json:"present"` // it is what is in the file
	Text    string    `json:"text"`
}

// rows returns the versions, the newest first.
func (m scopeMemory) rows(ctx context.Context) ([]versionRow, error) {
	rows := []versionRow{}
	kept, err := m.versions(ctx)
	if err != nil {
		return nil, err
	}
	_, present, err := m.files.Present(m.scope)
	if err != nil {
		present = "" // then it is none of them
	}
	for _, v := range slices.Backward(kept) {
		rows = append(rows, versionRow{
			ID: v.Hash, KeptAt: v.CreatedAt, Bytes: len(v.Content), Present: v.Hash == present,
			Text: strings.ToValidUTF8(string(v.Content), "\uFFFD"),
		})
	}
	return rows, nil
}

// versions returns the versions that were kept, oldest first.
func (m scopeMemory) versions(ctx context.Context) ([]store.Version, error) {
	if m.stored == nil {
		return nil, nil
	}
	return m.stored.Versions(ctx, m.scope.Facts())
}

const (
	// idShown is how much of a version's ID is shown, and idLeast how much of it
	// has to be given.
	idShown = 12
	idLeast = 4
	// beginningShown is how much of a version a list has, in bytes.
	beginningShown = 60
)

func (m scopeMemory) print(w io.Writer, rows []versionRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintf(w, "no version of %s was kept yet\n", m.scope.Facts())
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "VERSION\tKEPT\tBYTES\tPRESENT\tBEGINS")
	for _, row := range rows {
		present := "no"
		if row.Present {
			present = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", row.ID[:idShown], shownTime(row.KeptAt), row.Bytes, present, oneLine(row.Text, beginningShown))
	}
	return table.Flush()
}

// version returns the version whose ID begins so.
func (m scopeMemory) version(ctx context.Context, id string) (found store.Version, err error) {
	id = strings.ToLower(strings.TrimSpace(id))
	if len(id) < idLeast {
		return store.Version{}, fmt.Errorf("%q is too short for a version; see `holdfast memory versions %s`", id, m.scope)
	}
	kept, err := m.versions(ctx)
	if err != nil {
		return store.Version{}, err
	}
	for _, v := range kept {
		if !strings.HasPrefix(v.Hash, id) {
			continue
		}
		if found.Hash != "" {
			return store.Version{}, fmt.Errorf("%s has several versions that begin with %s; give more of it", m.scope.Facts(), id)
		}
		found = v
	}
	if found.Hash == "" {
		return store.Version{}, fmt.Errorf("%s has no version %s; see `holdfast memory versions %s`", m.scope.Facts(), oneLine(id, keyLimit), m.scope)
	}
	return found, nil
}
