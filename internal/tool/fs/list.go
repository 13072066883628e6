package fs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const listDescription = `List a directory (default: the workspace), with file sizes.`

const (
	listLimit = 500    // entries to show
	scanLimit = 10_000 // entries to read and sort
)

type listArgs struct {
	Path string `json:"path,omitempty"`
}

func (t tree) listDir(_ context.Context, _ tool.Call, args listArgs) (tool.Result, error) {
	p, err := t.at(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()
	shown := p.show(p.name)
	info, err := p.root.Stat(p.name)
	if err != nil {
		return tool.Result{}, explain(shown, err)
	}
	if !info.IsDir() {
		return tool.Result{}, fmt.Errorf("%s is not a directory; use read_file", shown)
	}
	entries, err := safefile.ReadDir(p.root, p.name, scanLimit)
	if err != nil {
		return tool.Result{}, explain(shown, err)
	}
	if len(entries) == 0 {
		return tool.Result{Text: shown + " is empty"}, nil
	}

	var out strings.Builder
	for i, entry := range entries {
		line := p.describe(entry) + "\n"
		if i == listLimit || out.Len()+len(line) > resultLimit {
			count := strconv.Itoa(len(entries))
			if len(entries) == scanLimit {
				count = fmt.Sprintf("at least %d", scanLimit)
			}
			fmt.Fprintf(&out, "[%d of %s entries; use find_files with a pattern]", i, count)
			break
		}
		out.WriteString(line)
	}
	return tool.Result{Text: out.String()}, nil
}

func (p place) describe(entry os.DirEntry) string {
	name := strings.ToValidUTF8(entry.Name(), "\uFFFD")
	switch {
	case entry.IsDir():
		return name + "/"
	case entry.Type()&os.ModeSymlink != 0:
		target, err := p.root.Readlink(filepath.Join(p.name, entry.Name()))
		if err != nil {
			target = "?"
		}
		return name + " -> " + strings.ToValidUTF8(target, "\uFFFD")
	case !entry.Type().IsRegular():
		return name + " (not a regular file)"
	}
	info, err := entry.Info()
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s (%d bytes)", name, info.Size())
}
