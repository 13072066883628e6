package memory

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// Limit is how much of each file goes into a prompt, in bytes, and how long facts
// may be that a model consolidates.
const Limit = 64 << 10

// Prompt returns the memory section of the system prompt: the shared facts, those
// of the scope, and the notes of now's day. It is empty if there are none. A file
// that cannot be read becomes a note in its place; Prompt fails only if the
// workspace cannot be opened.
func (f *Files) Prompt(scope Scope, now time.Time) (string, error) {
	root, err := f.open()
	if err != nil {
		return "", err
	}
	defer root.Close()
	shared := Scope{}.Facts()
	facts := shown(root, shared)
	if !scope.shared() {
		own := scope.Facts()
		facts += fmt.Sprintf("\n\n### Only for this %s\n\nThis is %s. What concerns only this %[1]s belongs there, what concerns everybody into %[3]s.\n\n%s",
			scope.noun(), own, shared, shown(root, own))
	}
	notes := shown(root, path.Join(folder, now.Format(time.DateOnly)+".md"))

	var sections []string
	for _, s := range []struct{ heading, text string }{{"## Long-term Memory", facts}, {"## Today's Notes", notes}} {
		if text := strings.TrimSpace(s.text); text != "" {
			sections = append(sections, s.heading+"\n\n"+text)
		}
	}
	return strings.Join(sections, "\n\n"), nil
}

// noun is what the prompt calls the scope's owner.
func (s Scope) noun() string {
	if s.Kind == Sender {
		return "person"
	}
	return "chat"
}

// shown returns a file's text for a prompt, empty if it does not exist.
func shown(root *os.Root, name string) string {
	content, err := head(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return fmt.Sprintf("(%s could not be read: %v)", name, err)
	case len(content) > Limit:
		return fmt.Sprintf("%s\n\n(cut: the first %d KB of %s)", text.Cut(content, Limit), Limit>>10, name)
	}
	return content
}

// head returns the start of a file's text, longer than Limit if the file is.
func head(root *os.Root, name string) (string, error) {
	f, _, err := openRegular(root, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, 2*Limit))
	return clean(content), err
}
