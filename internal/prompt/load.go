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

// fileLimit bounds what is read of each file, in bytes.
const fileLimit = 64 << 10

// bootstrapFiles are read in this order.
var bootstrapFiles = [...]string{"AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md"}

// Load reads the workspace's bootstrap files for the system prompt, in order.
// Missing ones are left out, large ones cut. A file that is there and cannot be
// read is no error but a note in its place, so that the agent can tell. The error
// is for a workspace that cannot be opened.
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
	// Opening a pipe would wait for its writer.
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a file")
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
