package fs

import (
	"context"
	"errors"
	"os"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// change is what a call wants to make of a file.
type change struct {
	before  string // the file's hash as it is now; empty for none, or none that can be read
	content []byte
	remove  bool        // there is to be no such file; content means nothing
	mode    os.FileMode // of a file that is new; 0 for any
	refusal error       // why it cannot be done
}

// intent is what is noted of the change of p.
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

// apply makes a change take effect once, whichever of a call's attempts makes
// it, and reports whether an earlier one did. A refusal is noted like a change,
// because a file that was changed already may well refuse the same change.
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

// settle makes the change that was noted, unless an earlier attempt did. noted
// and fresh are what [note] returned.
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
		err = p.remove(want)
	case p.remembered() != "":
		err = p.remember(ctx, c, want)
	default:
		err = p.replace(key, c, want)
	}
	if known := errors.Is(err, tool.ErrRetry) || errors.Is(err, tool.ErrOutcomeUnknown); err != nil && !known {
		err = explain(p.show(p.name), err)
	}
	return false, err
}

// doneEarlier is the remark on a change that an interrupted attempt had made.
func doneEarlier(earlier bool) string {
	if earlier {
		return " (done by an earlier attempt at this call)"
	}
	return ""
}
