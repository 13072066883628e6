package fs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

// crashing is a patch with all kinds of changes, and the state of an attempt
// when it crashed.
var crashing = struct {
	patch         args
	before, after files
	steps         []func(t *testing.T, b *bundle)
}{
	patch("*** Update File: a", "-x", "+y", "*** Update File: old", "*** Move to: dir/new", "-1", "+2",
		"*** Add File: added", "+added", "*** Delete File: gone", "*** Delete File: whole", "*** Add File: whole", "+new"),
	files{"a": "x\n", "old": "1\n", "gone": "g", "whole": "w\n"},
	files{"a": "y\n", "dir/new": "2\n", "added": "added\n", "whole": "new\n"},
	[]func(t *testing.T, b *bundle){
		func(*testing.T, *bundle) {},
		func(t *testing.T, b *bundle) { b.write(t, "a", "y\n") },
		func(t *testing.T, b *bundle) { b.write(t, "dir/new", "2\n") },
		func(t *testing.T, b *bundle) { b.write(t, "added", "added\n") },
		func(t *testing.T, b *bundle) { b.write(t, "whole", "new\n") },
		func(t *testing.T, b *bundle) { require.NoError(t, os.Remove(filepath.Join(b.dir, "old"))) },
		func(t *testing.T, b *bundle) { require.NoError(t, os.Remove(filepath.Join(b.dir, "gone"))) },
	},
}

// noted returns a workspace whose files are as before the patch, and a journal
// in which an attempt has recorded all its changes.
func noted(t *testing.T) (*bundle, *tooltest.Journal) {
	t.Helper()
	// Recorded by a run in another workspace, since an attempt does not stop there.
	elsewhere, journal := setup(t, true), tooltest.NewJournal()
	elsewhere.fill(t, crashing.before)
	_, err := elsewhere.attempt(t, journal, "apply_patch", crashing.patch)
	require.NoError(t, err)
	require.Equal(t, crashing.after, elsewhere.files(t))
	require.Len(t, journal.Intents(), 6)
	b := setup(t, true)
	b.fill(t, crashing.before)
	return b, journal
}

func TestPatchAfterACrash(t *testing.T) {
	t.Parallel()

	t.Run("between any two files is completed", func(t *testing.T) {
		t.Parallel()
		for died := range crashing.steps {
			b, journal := noted(t)
			for _, step := range crashing.steps[:died+1] {
				step(t, b)
			}
			text, err := b.attempt(t, journal, "apply_patch", crashing.patch)
			require.NoError(t, err, died)
			require.Equal(t, crashing.after, b.files(t), died)
			require.Equal(t, died, strings.Count(text, "earlier attempt"), text)

			again, err := b.attempt(t, journal, "apply_patch", crashing.patch)
			require.NoError(t, err)
			require.Equal(t, 6, strings.Count(again, "earlier attempt"), again)
			require.Equal(t, crashing.after, b.files(t))
		}
	})

	t.Run("while it stores its intent changes nothing, and the retry completes it", func(t *testing.T) {
		t.Parallel()
		for _, stored := range []bool{false, true} {
			b, journal := setup(t, true), tooltest.NewJournal()
			b.fill(t, crashing.before)
			away := errors.New("the store is away")
			journal.FailNext(away, stored)
			_, err := b.attempt(t, journal, "apply_patch", crashing.patch)
			require.ErrorIs(t, err, tool.ErrRetry)
			require.ErrorIs(t, err, away)
			require.Equal(t, crashing.before, b.files(t))

			text, err := b.attempt(t, journal, "apply_patch", crashing.patch)
			require.NoError(t, err)
			require.NotContains(t, text, "earlier attempt")
			require.Equal(t, crashing.after, b.files(t))
		}
	})

	t.Run("and another process's change in between leaves the rest applied and reported", func(t *testing.T) {
		t.Parallel()
		for name := range crashing.before {
			b, journal := noted(t)
			b.write(t, name, "by somebody else")
			_, err := b.attempt(t, journal, "apply_patch", crashing.patch)
			require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
			require.ErrorContains(t, err, name+": outcome unknown")
			want := files{name: "by somebody else"}
			for other, content := range crashing.after {
				if other != name && (name != "old" || other != "dir/new") {
					want[other] = content
				}
			}
			require.Equal(t, want, b.files(t), name)
		}
	})

	t.Run("and a change to what was moved leaves the old file", func(t *testing.T) {
		t.Parallel()
		b, journal := noted(t)
		b.write(t, "dir/new", "by somebody else")
		_, err := b.attempt(t, journal, "apply_patch", crashing.patch)
		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		require.ErrorContains(t, err, "old was not removed because dir/new was not written")
		require.Equal(t, "1\n", b.content(t, "old"))
	})

	t.Run("stays rejected after a rejection", func(t *testing.T) {
		t.Parallel()
		b, journal := setup(t, true), tooltest.NewJournal()
		b.write(t, "a", "x\n")
		wrong := patch("*** Update File: a", "-z", "+y", "*** Add File: b")
		_, first := b.attempt(t, journal, "apply_patch", wrong)
		require.ErrorContains(t, first, "hunk 1 not found")
		b.write(t, "a", "z\n")
		_, second := b.attempt(t, journal, "apply_patch", wrong)
		require.EqualError(t, second, first.Error())
		require.Equal(t, files{"a": "z\n"}, b.files(t))
	})

	t.Run("before all intents were stored is rejected if it no longer applies", func(t *testing.T) {
		t.Parallel()
		b, journal := setup(t, true), tooltest.NewJournal()
		b.fill(t, files{"a": "x\n", "b": "x\n"})
		both := patch("*** Update File: a", "-x", "+y", "*** Update File: b", "-x", "+y")
		journal.FailNext(errors.New("killed"), true)
		_, err := b.attempt(t, journal, "apply_patch", both)
		require.ErrorIs(t, err, tool.ErrRetry)
		b.write(t, "b", "z\n")
		for range 2 {
			_, err = b.attempt(t, journal, "apply_patch", both)
			require.ErrorContains(t, err, "nothing was changed")
			require.Equal(t, files{"a": "x\n", "b": "z\n"}, b.files(t))
		}
	})
}

func TestPatchFailsPartway(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.fill(t, files{"a": "x\n", "dir/b": "x\n"})
	// The temporary file cannot be created if its name is taken.
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "dir", ".holdfast-"+keyHash+".tmp"), 0o755))
	_, err := b.run(t, "apply_patch", patch("*** Update File: a", "-x", "+y", "*** Update File: dir/b", "*** Move to: dir/c", "-x", "+y"))
	require.ErrorContains(t, err, "Done:\nupdated a, at line 1\nNot done:\n")
	require.ErrorContains(t, err, "dir/b was not removed because dir/c was not written")
	require.Equal(t, files{"a": "y\n", "dir/b": "x\n"}, b.files(t))
}
