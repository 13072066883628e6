package fs

import (
	"context"
	"errors"
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

// doneEarlier is the remark on a change that an interrupted attempt had made.
func doneEarlier(earlier bool) string {
	if earlier {
		return " (done by an earlier attempt at this call)"
	}
	return ""
}

// change is what a call wants to make of a file.
type change struct {
	before  string // the file's hash as it is now; empty for none, or none that can be read
	content []byte
	refusal error // why it cannot be done
}

// apply makes a change take effect once, whichever of a call's attempts makes
// it, and reports whether an earlier one did. A refusal is noted like a change,
// because a file that was changed already may well refuse the same change.
func (p place) apply(ctx context.Context, call tool.Call, c change) (earlier bool, err error) {
	if errors.Is(c.refusal, tool.ErrRetry) {
		return false, c.refusal
	}
	want := intent{Path: p.name, Before: c.before, After: hash(c.content)}
	if c.refusal != nil {
		want = intent{Path: p.name, Refused: c.refusal.Error()}
	}
	noted, fresh, err := note(ctx, call.Journal, want)
	switch {
	case err != nil:
		return false, err
	case noted.Refused != "":
		return false, errors.New(noted.Refused)
	case fresh:
	case noted.Path != p.name:
		return false, tool.ErrOutcomeUnknown
	case noted.After == c.before:
		return true, nil
	case noted != want:
		return false, tool.ErrOutcomeUnknown
	}
	err = p.replace(call.Key, c.content, want)
	if known := errors.Is(err, tool.ErrRetry) || errors.Is(err, tool.ErrOutcomeUnknown); err != nil && !known {
		err = explain(p.show(p.name), err)
	}
	return false, err
}
