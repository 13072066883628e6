package fs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const patchDescription = `Change several places in one or more files; the whole patch applies, or nothing changes. Format:

*** Begin Patch
*** Update File: app.py
@@ def greet():
     name = user()
-    print("Hi")
+    print("Hi", name)
     return
*** Add File: new.md
+first line
*** Delete File: old.txt
*** Update File: a.txt
*** Move to: b.txt
*** End Patch

Lines of an update start with a space (unchanged), - (removed) or + (added). Surround each change with three
unchanged lines, exactly as in the file; if they repeat, put @@ and an earlier line first, such as the function's.
*** End of File after a change anchors it there.`

// patchFiles is how many files a patch may touch.
const patchFiles = 100

type patchArgs struct {
	Patch string `json:"patch"`
}

func (t tree) applyPatch(ctx context.Context, call tool.Call, args patchArgs) (tool.Result, error) {
	sections, err := parsePatch(args.Patch)
	if err != nil {
		return tool.Result{}, fmt.Errorf("nothing was changed: %w", err)
	}
	p := plan{tree: t}
	defer p.close()
	for _, s := range sections {
		if err := p.add(ctx, s); err != nil {
			return tool.Result{}, err
		}
	}
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx) // not for what a section says of it
	}
	if err := p.note(ctx, call.Journal); err != nil {
		return tool.Result{}, err
	}
	if err := p.carryOut(ctx, call.Key); err != nil {
		return tool.Result{}, err
	}
	return p.report()
}

// note notes what becomes of each file, of all before the first is changed. An
// error says that nothing is done, now or ever.
func (p *plan) note(ctx context.Context, journal tool.Journal) error {
	refusal := p.refusal()
	if errors.Is(refusal, tool.ErrRetry) {
		return refusal
	}
	for _, f := range p.files {
		want := f.change().intent(f.place)
		if refusal != nil {
			want = intent{Path: f.place.name, Refused: refusal.Error()}
		}
		var err error
		if f.noted, f.fresh, err = note(ctx, journal, want); err != nil {
			return err
		}
		if f.noted.Refused != "" {
			return errors.New(f.noted.Refused)
		}
	}
	return nil
}

// refusal says why the patch as a whole cannot be applied. An attempt that finds
// files changed by an earlier one has reasons too; then other things are noted.
func (p *plan) refusal() error {
	var errs []error
	for _, f := range p.files {
		if errors.Is(f.refusal, tool.ErrRetry) {
			return f.refusal
		}
		if f.refusal != nil {
			errs = append(errs, f.refusal)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return fmt.Errorf("nothing was changed, because the patch does not fit:\n%w", errors.Join(errs...))
}

// carryOut makes the changes: files are written before others are removed, so
// that a crash in between leaves a moved file twice and not at all. An error
// says that another attempt has to go on.
func (p *plan) carryOut(ctx context.Context, key string) error {
	for _, removals := range []bool{false, true} {
		for _, f := range p.files {
			if (f.noted.After == "") != removals {
				continue
			}
			if f.movedTo != nil && f.movedTo.failed != nil {
				f.failed = fmt.Errorf("%s was not removed, since %s was not written", f.shown(), f.movedTo.shown())
				continue
			}
			f.earlier, f.failed = f.place.settle(ctx, key, f.change(), f.noted, f.fresh)
			switch {
			case errors.Is(f.failed, tool.ErrRetry):
				return f.failed
			case errors.Is(f.failed, tool.ErrOutcomeUnknown):
				f.failed = fmt.Errorf("%s: %w", f.shown(), f.failed)
			}
		}
	}
	return nil
}

// report says what was done, and what could not be.
func (p *plan) report() (tool.Result, error) {
	var done []string
	var failed []error
	for _, f := range p.files {
		switch line := f.describe(); {
		case f.failed != nil:
			failed = append(failed, f.failed)
		case line != "":
			done = append(done, line)
		}
	}
	text := strings.Join(done, "\n")
	if len(failed) == 0 {
		return tool.Result{Text: text}, nil
	}
	return tool.Result{}, fmt.Errorf("the patch was not applied as a whole. Done:\n%s\nNot done:\n%w",
		cmp.Or(text, "nothing"), errors.Join(failed...))
}
