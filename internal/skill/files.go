package skill

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	folder    = "skills"
	fileName  = "SKILL.md"
	fileLimit = 64 << 10 // bytes of a SKILL.md
	scanLimit = 1000     // entries of the folder
)

// file is a SKILL.md.
type file struct {
	name    string // of its folder
	path    string // in the workspace, with slashes
	builtin bool
	front   frontMatter
	body    string
	cut     bool  // only the start was read
	err     error // why it cannot be used
}

// ofWorkspace returns the skills that people and the agent created.
func ofWorkspace(root *os.Root) []file {
	names, err := folders(root)
	if err != nil {
		return []file{{name: folder, path: folder, err: err}}
	}
	var found []file
	for _, name := range names {
		f := file{name: name, path: path.Join(folder, name, fileName)}
		text, cut, err := safefile.Text(root, f.path, fileLimit)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			continue
		}
		f.front, f.body = parse(text)
		f.cut, f.err = cut, err
		found = append(found, f)
	}
	return found
}

// folders returns the names of possible skills, sorted.
func folders(root *os.Root) ([]string, error) {
	entries, err := safefile.ReadDir(root, folder, scanLimit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		name := entry.Name()
		printable := utf8.ValidString(name) && !strings.ContainsFunc(name, unicode.IsControl)
		if printable && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names, nil
}

// oneLine returns text as one line of at most limit bytes.
func oneLine(s string, limit int) string {
	return text.Cut(text.Line(s), limit)
}
