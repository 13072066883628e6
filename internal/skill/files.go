package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

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
		text, cut, err := read(root, f.path)
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
	dir, err := root.Open(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(scanLimit)
	if err != nil && !errors.Is(err, io.EOF) {
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
	slices.Sort(names)
	return names, nil
}

// read returns the text of a regular file, cut if it is large. It follows links within
// the workspace.
func read(root *os.Root, name string) (content string, cut bool, err error) {
	info, err := root.Stat(name)
	if err != nil {
		return "", false, err
	}
	// Opening a pipe would block.
	if !info.Mode().IsRegular() {
		return "", false, errors.New("not a regular file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err != nil {
		return "", false, err
	}
	if len(data) <= fileLimit {
		return cleanLines(string(data)), false, nil
	}
	content = text.Cut(cleanLines(string(data)), fileLimit)
	return fmt.Sprintf("%s\n\n(cut: the first %d KB of %s)", content, fileLimit>>10, name), true, nil
}

// cleanLines returns file content as valid text with \n line ends.
func cleanLines(content string) string { return strings.ReplaceAll(text.Clean(content), "\r\n", "\n") }

// oneLine returns text as one line of at most limit bytes.
func oneLine(s string, limit int) string {
	visible := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	return text.Cut(text.Line(visible), limit)
}
