package memory

import (
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/safefile"
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
	facts := safefile.Excerpt(root, shared, Limit)
	if !scope.shared() {
		own := scope.Facts()
		facts += fmt.Sprintf("\n\n### Only for this %s\n\nThis is %s. What concerns only this %[1]s belongs there, what concerns everybody into %[3]s.\n\n%s",
			scope.noun(), own, shared, safefile.Excerpt(root, own, Limit))
	}
	notes := safefile.Excerpt(root, path.Join(folder, now.Format(time.DateOnly)+".md"), Limit)

	var sections []string
	for _, s := range []struct{ heading, text string }{{"## Long-term Memory", facts}, {"## Today's Notes", notes}} {
		if text := strings.TrimSpace(s.text); text != "" {
			sections = append(sections, s.heading+"\n\n"+text)
		}
	}
	return strings.Join(sections, "\n\n"), nil
}

// noun is the prompt's word for the scope's owner.
func (s Scope) noun() string {
	if s.Kind == Sender {
		return "person"
	}
	return "chat"
}
