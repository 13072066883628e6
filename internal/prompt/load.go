package prompt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// fileLimit bounds each file, in bytes.
const fileLimit = 64 << 10

// bootstrapFiles are read in this order.
var bootstrapFiles = [...]string{"AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md"}

// Load reads the workspace's bootstrap files for the system prompt, in order. It
// skips missing files, cuts large ones, and replaces unreadable ones by a note, so
// that the agent can report it. It fails only if the workspace cannot be opened.
func Load(workspace string) ([]File, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	var files []File
	for _, name := range bootstrapFiles {
		if text := read(root, name); text != "" {
			files = append(files, File{Name: name, Text: text})
		}
	}
	return files, nil
}

func read(root *os.Root, name string) string {
	text, err := readBounded(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if err != nil {
		return fmt.Sprintf("(%s could not be read: %v)", name, err)
	}
	return text
}

func readBounded(root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	// Opening a pipe would block.
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err != nil {
		return "", err
	}
	if len(data) <= fileLimit {
		return strings.TrimSpace(text.Clean(string(data))), nil
	}
	head := strings.TrimSpace(text.Clean(string(data[:text.Boundary(data, fileLimit)])))
	return fmt.Sprintf("%s\n\n… (cut: the first %d KB of %s)", head, fileLimit>>10, name), nil
}
