package fs

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const writeDescription = `Create or replace a whole text file, with missing directories. To change part of one use edit_file.`

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
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
