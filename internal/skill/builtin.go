package skill

import (
	"bytes"
	"crypto/rand"
	"embed"
	"fmt"
	"os"
	"path"
	"sync"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

//go:embed builtin
var embedded embed.FS

// builtinFolder holds the files of the built-in skills in the workspace.
const builtinFolder = ".holdfast/skills"

// builtin is a built-in skill's file and its content.
type builtin struct {
	file
	content []byte
}

// parsed returns the built-in skills.
var parsed = sync.OnceValue(func() []builtin {
	entries, _ := embedded.ReadDir("builtin") // embedded: cannot fail
	found := make([]builtin, len(entries))
	for i, entry := range entries {
		name := entry.Name()
		content, _ := embedded.ReadFile(path.Join("builtin", name, fileName)) // embedded: cannot fail
		f := file{name: name, path: path.Join(builtinFolder, name, fileName), builtin: true}
		f.front, f.body = parse(string(content))
		found[i] = builtin{f, content}
	}
	return found
})

// builtins returns the built-in skills and installs their files.
func builtins(root *os.Root, install func(root *os.Root, name string, content []byte) error) []file {
	found := make([]file, len(parsed()))
	for i, b := range parsed() {
		found[i] = b.file
		found[i].err = install(root, b.path, b.content)
	}
	return found
}

// install writes content to a file unless it is there. It may run concurrently.
func install(root *os.Root, name string, content []byte) error {
	if same(root, name, content) {
		return nil
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write it: %w", err)
	}
	temp := path.Join(path.Dir(name), "."+rand.Text()+".tmp")
	err := root.WriteFile(temp, content, 0o644)
	if err == nil {
		err = root.Rename(temp, name)
	}
	if err != nil {
		_ = root.Remove(temp) // may not exist
		return fmt.Errorf("write it: %w", err)
	}
	return nil
}

func same(root *os.Root, name string, content []byte) bool {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	have, err := safefile.Read(root, name, len(content))
	return err == nil && bytes.Equal(have, content)
}
