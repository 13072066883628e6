package prompt

import (
	"fmt"
	"os"

	"github.com/holdfast-ai/holdfast/internal/safefile"
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
		if text := safefile.Excerpt(root, name, fileLimit); text != "" {
			files = append(files, File{Name: name, Text: text})
		}
	}
	return files, nil
}
