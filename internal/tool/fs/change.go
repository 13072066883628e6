package fs

import (
	"context"
	"errors"
	"os"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// change is a call's change to a file.
type change struct {
	before  string // current hash; empty if the file does not exist or is unreadable
	content []byte
	remove  bool        // delete the file; content is ignored
	mode    os.FileMode // of a new file; 0 for any
	refusal error       // why it cannot be done
}

// intent returns the journal entry for the change of p.
func (c change) intent(p place) intent {
	switch {
	case c.refusal != nil:
		return intent{Path: p.name, Refused: c.refusal.Error()}
	case c.remove:
		return intent{Path: p.name, Before: c.before}
	default:
		return intent{Path: p.name, Before: c.before, After: hash(c.content)}
	}
}

// apply makes a change once across all attempts of a call, and reports whether an
// earlier attempt made it. It also journals refusals: a file that was already
// changed may refuse the same change.
func (p place) apply(ctx context.Context, call tool.Call, c change) (earlier bool, err error) {
	if errors.Is(c.refusal, tool.ErrRetry) {
		return false, c.refusal
	}
	noted, fresh, err := note(ctx, call.Journal, c.intent(p))
	if err != nil {
		return false, err
	}
	return p.settle(ctx, call.Key, c, noted, fresh)
}

// settle makes the journalled change unless an earlier attempt did. noted and fresh
// are the results of [note].
func (p place) settle(ctx context.Context, key string, c change, noted intent, fresh bool) (earlier bool, err error) {
	want := c.intent(p)
	switch {
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
	switch {
	case c.remove:
		err = p.remove(ctx, want)
	case p.memoryPath() != "":
		err = p.replaceMemory(ctx, c, want)
	default:
		err = p.replace(ctx, key, c, want)
	}
	if known := errors.Is(err, tool.ErrRetry) || errors.Is(err, tool.ErrOutcomeUnknown); err != nil && !known {
		err = explain(p.show(p.name), err)
	}
	return false, err
}

// doneEarlier returns a remark if an earlier attempt made the change.
func doneEarlier(earlier bool) string {
	if earlier {
		return " (done by an earlier attempt of this call)"
	}
	return ""
}
