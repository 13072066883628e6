package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// scopeMemory is the memory of a scope and its versions.
type scopeMemory struct {
	scope  memory.Scope
	files  *memory.Files
	stored *store.Store
}

// versionRow is a version in a list.
type versionRow struct {
	ID      string    `json:"id"`
	KeptAt  time.Time `json:"kept_at"` // first
	Bytes   int       `json:"bytes"`
	Present bool      `json:"present"` // the current content
	Text    string    `json:"text"`
}

// rows returns the versions, newest first.
func (m scopeMemory) rows(ctx context.Context) ([]versionRow, error) {
	var rows []versionRow
	kept, err := m.stored.Versions(ctx, m.scope.Facts())
	if err != nil {
		return nil, err
	}
	_, present, err := m.files.Present(m.scope)
	if err != nil {
		present = "" // no version is the current one
	}
	for _, v := range slices.Backward(kept) {
		rows = append(rows, versionRow{
			ID: v.Hash, KeptAt: v.CreatedAt, Bytes: len(v.Content), Present: v.Hash == present,
			Text: strings.ToValidUTF8(string(v.Content), "\uFFFD"),
		})
	}
	return rows, nil
}

const (
	// idShown is the length of the displayed prefix of a version's ID, and idLeast the
	// shortest prefix that is accepted.
	idShown = 12
	idLeast = 4
	// beginningShown bounds the excerpt of a version in a list, in bytes.
	beginningShown = 60
)

func (r versionRow) cells() []any {
	return []any{r.ID[:idShown], shownTime(r.KeptAt), r.Bytes, yesNo(r.Present), oneLine(r.Text, beginningShown)}
}

// version returns the version whose ID starts with id.
func (m scopeMemory) version(ctx context.Context, id string) (found store.Version, err error) {
	id = strings.ToLower(strings.TrimSpace(id))
	if len(id) < idLeast {
		return store.Version{}, fmt.Errorf("version %q is too short; see `holdfast memory versions %s`", id, m.scope)
	}
	kept, err := m.stored.Versions(ctx, m.scope.Facts())
	if err != nil {
		return store.Version{}, err
	}
	for _, v := range kept {
		if !strings.HasPrefix(v.Hash, id) {
			continue
		}
		if found.Hash != "" {
			return store.Version{}, fmt.Errorf("several versions of %s start with %s; use a longer prefix", m.scope.Facts(), id)
		}
		found = v
	}
	if found.Hash == "" {
		return store.Version{}, fmt.Errorf("version %[2]s of %[1]s not found; see `holdfast memory versions %[3]s`", m.scope.Facts(), oneLine(id, keyLimit), m.scope)
	}
	return found, nil
}

// content returns a version, or the current file if version is empty.
func (m scopeMemory) content(ctx context.Context, version string) ([]byte, error) {
	if version != "" {
		v, err := m.version(ctx, version)
		return v.Content, err
	}
	content, hash, err := m.files.Present(m.scope)
	if err == nil && hash == "" {
		return nil, fmt.Errorf("%s not found", m.scope.Facts())
	}
	return content, err
}

// printContent writes a file unchanged, or made printable if w is a terminal.
func printContent(w io.Writer, content []byte) error {
	if _, is := terminal(w); is {
		content = []byte(text.Printable(string(content)))
	}
	_, err := w.Write(content)
	return err
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
		_, err := fmt.Fprintf(w, "%s is already at that version\n", m.scope.Facts())
		return err
	}
	err = m.files.Restore(ctx, m.scope, v.Content)
	if errors.Is(err, memory.ErrChanged) {
		return fmt.Errorf("%w in the meantime; check it and try again", err)
	}
	if err != nil {
		return err
	}
	was := "there was no file before"
	if before != "" {
		was = "the previous content is version " + before[:idShown]
	}
	_, err = fmt.Fprintf(w, "restored %s to its version of %s; %s\n", m.scope.Facts(), shownTime(v.CreatedAt), was)
	return err
}
