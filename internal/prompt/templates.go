package prompt

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

//go:embed templates
var templates embed.FS

// WriteTemplates creates dir if needed, accessible to this user only, and writes the files
// of a new workspace. It never overwrites a file. It returns the paths it wrote, relative to
// dir and with slashes, even if it fails.
func WriteTemplates(dir string) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	names, err := Templates()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		fresh, err := writeTemplate(root, name)
		if err != nil {
			return written, fmt.Errorf("write %s: %w", name, err)
		}
		if fresh {
			written = append(written, name)
		}
	}
	return written, nil
}

// Templates returns the paths that [WriteTemplates] writes, in the same order.
func Templates() ([]string, error) {
	var names []string
	err := fs.WalkDir(templates, "templates", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(name, "templates/"))
		}
		return err
	})
	return names, err
}

func writeTemplate(root *os.Root, name string) (fresh bool, err error) {
	data, err := templates.ReadFile(path.Join("templates", name))
	if err != nil {
		return false, err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return false, err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	return true, errors.Join(err, f.Close())
}
