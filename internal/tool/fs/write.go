package fs

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const writeDescription = `Writes a whole text file: creates it, and the directories it needs, or replaces
what is in it. To change a part of a file use edit_file.`

type writeArgs struct {
	Path    string `json:"path" jsonschema:"the file, relative to the workspace"`
	Content string `json:"content" jsonschema:"all of the new content"`
}

func (t tree) writeFile(ctx context.Context, call tool.Call, args writeArgs) (tool.Result, error) {
	p, err := t.at(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()
	c := change{content: []byte(args.Content)}
	c.before, err = fingerprint(p.root, p.name)
	if err != nil {
		c.refusal = explain(p.show(p.name), err)
	}
	earlier, err := p.apply(ctx, call, c)
	if err != nil {
		return tool.Result{}, err
	}
	text := fmt.Sprintf("wrote %d bytes to %s", len(args.Content), p.show(p.name))
	return tool.Result{Text: text + doneEarlier(earlier)}, nil
}
