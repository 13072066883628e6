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

const patchFiles = 100 // maximum number of files in a patch

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
		return tool.Result{}, context.Cause(ctx) // sections may have failed because of it
	}
	if err := p.note(ctx, call.Journal); err != nil {
		return tool.Result{}, err
	}
	if err := p.carryOut(ctx, call.Key); err != nil {
		return tool.Result{}, err
	}
	return p.report()
}

// note journals the changes of all files before the first is made. An error means
// that no attempt changes anything.
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

// refusal returns why the patch does not apply. It may also be set because an
// earlier attempt changed files; the journal then has that attempt's intents.
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
	return fmt.Errorf("nothing was changed; the patch does not apply:\n%w", errors.Join(errs...))
}

// carryOut makes the changes. It writes files before it removes others, so that a
// crash leaves a moved file twice rather than not at all. An error asks for another
// attempt.
func (p *plan) carryOut(ctx context.Context, key string) error {
	for _, removals := range []bool{false, true} {
		for _, f := range p.files {
			if (f.noted.After == "") != removals {
				continue
			}
			if f.movedTo != nil && f.movedTo.failed != nil {
				f.failed = fmt.Errorf("%s was not removed because %s was not written", f.shown(), f.movedTo.shown())
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

// report returns what was done, and an error if something failed.
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
	return tool.Result{}, fmt.Errorf("the patch was applied only in part. Done:\n%s\nNot done:\n%w",
		cmp.Or(text, "nothing"), errors.Join(failed...))
}
