package fs_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

// files are contents by name, beneath the workspace.
type files map[string]string

func (b *bundle) files(t *testing.T) files {
	t.Helper()
	all := files{}
	require.NoError(t, filepath.WalkDir(b.dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.dir, path)
		all[filepath.ToSlash(rel)] = string(content)
		return err
	}))
	return all
}

func (b *bundle) fill(t *testing.T, all files) {
	t.Helper()
	for name, content := range all {
		b.write(t, name, content)
	}
}

// envelope puts lines between the first and the last of a patch.
func envelope(lines ...string) string {
	return "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
}

func patch(lines ...string) args { return args{"patch": envelope(lines...)} }

func TestApplyPatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		before, after files
		patch         args
		says          string
	}{
		{
			"changes a line", files{"a": "one\ntwo\nthree\n"}, files{"a": "one\n2\nthree\n"},
			patch("*** Update File: a", "@@", " one", "-two", "+2", " three"), "updated a, at line 2",
		},
		{
			"needs no @@ and no lines that stay", files{"a": "one\ntwo\n"}, files{"a": "one\n2\n"},
			patch("*** Update File: a", "-two", "+2"), "updated a, at line 2",
		},
		{
			"changes several places in their order", files{"a": "1\n2\n3\n4\n5\n6\n"}, files{"a": "1\ntwo\n3\n5\nfive and a half\n6\n"},
			patch("*** Update File: a", "@@", " 1", "-2", "+two", " 3", "@@", "-4", " 5", "+five and a half"), "updated a, at line 2, 4",
		},
		{
			"and in another order", files{"a": "1\n2\n3\n4\n5\n6\n"}, files{"a": "one\n2\n3\n4\nfive\n6\n"},
			patch("*** Update File: a", "@@", "-5", "+five", "@@", "-1", "+one"), "updated a, at line 1, 5",
		},
		{
			"allows neighbours to share lines that stay", files{"a": "1\n2\n3\n"}, files{"a": "one\n2\nthree\n"},
			patch("*** Update File: a", "@@", "-1", "+one", " 2", "@@", " 2", "-3", "+three"), "updated a, at line 1, 3",
		},
		{
			"finds the place below a line",
			files{"a": "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 1\n}\n"}, files{"a": "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 2\n}\n"},
			patch("*** Update File: a", "@@ func b() {", "-\treturn 1", "+\treturn 2"), "updated a, at line 5",
		},
		{
			"below a line in something", files{"a": "A\n\tf\n\t\tx\nB\n\tf\n\t\tx\n\tg\n\t\tx\n"}, files{"a": "A\n\tf\n\t\tx\nB\n\tf\n\t\tx\n\tg\n\t\ty\n"},
			patch("*** Update File: a", "@@ B", "@@ g", "-\t\tx", "+\t\ty"), "updated a, at line 8",
		},
		{
			"below a part of a line", files{"a": "class A(Base):\n  x\nclass B(Base):\n  x\n"}, files{"a": "class A(Base):\n  x\nclass B(Base):\n  y\n"},
			patch("*** Update File: a", "@@ class B", "-  x", "+  y"), "updated a, at line 4",
		},
		{
			"with the line repeated", files{"a": "f:\n  x\ng:\n  x\n"}, files{"a": "f:\n  x\ng:\n  y\n"},
			patch("*** Update File: a", "@@ g:", " g:", "-  x", "+  y"), "updated a, at line 4",
		},
		{
			"does without a line that is not there if there is one place only", files{"a": "x\ny\n"}, files{"a": "x\nz\n"},
			patch("*** Update File: a", "@@ nowhere", "-y", "+z"), "hunk 1 is not below the line that its @@ names",
		},
		{
			"finds the last place", files{"a": "x\ny\nx\n"}, files{"a": "x\ny\nz\n"},
			patch("*** Update File: a", "@@", "-x", "+z", "*** End of File"), "updated a, at line 3",
		},
		{
			"adds below a line", files{"a": "x\ny\n"}, files{"a": "x\nnew\ny\n"},
			patch("*** Update File: a", "@@ x", "+new"), "updated a, at line 2",
		},
		{
			"adds before a line that it changes", files{"a": "x\ny\n"}, files{"a": "x\nnew\nz\n"},
			patch("*** Update File: a", "@@", "-y", "+z", "@@ x", "+new"), "updated a, at line 2, 3",
		},
		{
			"adds at the end", files{"a": "x\n"}, files{"a": "x\nnew\n"},
			patch("*** Update File: a", "@@", "+new"), "hunk 1 names no place; its lines were added at the end",
		},
		{
			"fills an empty file", files{"a": ""}, files{"a": "new\n"},
			patch("*** Update File: a", "+new"), "updated a, at line 1",
		},
		{
			"empties a file", files{"a": "x\n"}, files{"a": ""},
			patch("*** Update File: a", "-x"), "updated a, at line 1",
		},
		{
			"leaves a file without a last newline so", files{"a": "x\ny"}, files{"a": "x\nz\nlast"},
			patch("*** Update File: a", "-y", "+z", "+last"), "updated a, at line 2",
		},
		{
			"adds below a last line without a newline", files{"a": "x\ny"}, files{"a": "x\ny\nlast"},
			patch("*** Update File: a", " y", "+last", "*** End of File"), "updated a, at line 3",
		},
		{
			"writes lines of CRLF into a file that has them", files{"a": "x\r\ny\r\nz\r\n"}, files{"a": "x\r\n1\r\n2\r\nz\r\n"},
			patch("*** Update File: a", " x", "-y", "+1", "+2", " z"), "updated a, at line 2",
		},
		{
			"adds a file", files{}, files{"new/a": "one\n\n  three\n"},
			patch("*** Add File: new/a", "+one", "+", "+  three"), "added new/a",
		},
		{
			"adds an empty file", files{}, files{"a": ""},
			patch("*** Add File: a"), "added a",
		},
		{
			"deletes a file", files{"a": "x", "b": "y"}, files{"b": "y"},
			patch("*** Delete File: a"), "deleted a",
		},
		{
			"replaces a whole file", files{"a": "x"}, files{"a": "new\n"},
			patch("*** Delete File: a", "*** Add File: a", "+new"), "updated a",
		},
		{
			"moves a file", files{"a": "x\ny"}, files{"dir/b": "x\ny"},
			patch("*** Update File: a", "*** Move to: dir/b"), "deleted a\nadded dir/b, moved from a",
		},
		{
			"moves and changes a file", files{"a": "x\ny\n"}, files{"dir/b": "x\nz\n"},
			patch("*** Update File: a", "*** Move to: dir/b", "@@", "-y", "+z"), "deleted a\nadded dir/b, moved from a, at line 2",
		},
		{
			"moves a file twice", files{"a": "x\n"}, files{"c": "z\n"},
			patch("*** Update File: a", "*** Move to: dir/b", "-x", "+y", "*** Update File: dir/b", "*** Move to: c", "-y", "+z"),
			"deleted a\nadded c, moved from dir/b, at line 1",
		},
		{
			"moves a file over one that it deletes", files{"a": "x\n", "b": "y\n"}, files{"b": "x\n"},
			patch("*** Delete File: b", "*** Update File: a", "*** Move to: b"), "updated b, moved from a\ndeleted a",
		},
		{
			"moves a file to where it is", files{"a": "x\n"}, files{"a": "y\n"},
			patch("*** Update File: a", "*** Move to: ./a", "-x", "+y"), "updated a, at line 1",
		},
		{
			"changes several files", files{"a": "x\n", "b": "y\n"}, files{"a": "1\n", "c": "new\n"},
			patch("*** Update File: a", "-x", "+1", "*** Delete File: b", "*** Add File: c", "+new"), "updated a, at line 1\ndeleted b\nadded c",
		},
		{
			"names a file twice", files{"a": "x\ny\n"}, files{"a": "1\n2\n"},
			patch("*** Update File: a", "-x", "+1", "*** Update File: ./a", "-y", "+2"), "updated a",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, true)
			b.fill(t, tt.before)
			require.Contains(t, b.must(t, "apply_patch", tt.patch), tt.says)
			require.Equal(t, tt.after, b.files(t))
		})
	}
}

func TestSloppyPatches(t *testing.T) {
	t.Parallel()
	const was = "def f():\n    x = \"a\"  \n\n    return x\n"
	const is = "def f():\n    x = 'b'\n\n    return x\n"
	change := []string{"*** Update File: a", "@@", " def f():", `-    x = "a"  `, `+    x = 'b'`, " ", "     return x"}
	tests := []struct{ name, patch, says string }{
		{"without a last newline", strings.TrimSuffix(envelope(change...), "\n"), ""},
		{"with blank lines around", "\n\n" + envelope(change...) + "\n \n", ""},
		{"in a fence", "```diff\n" + envelope(change...) + "```\n", ""},
		{"in a here-document", "apply_patch <<'EOF'\n" + envelope(change...) + "EOF\n", ""},
		{"with CRLF", strings.ReplaceAll(envelope(change...), "\n", "\r\n"), ""},
		{"with white space after its marks", strings.ReplaceAll(envelope(change...), "Patch\n", "Patch  \n"), ""},
		{"with blank lines between its parts", envelope("", change[0], "", "@@", change[2], change[3], change[4], "", ""), ""},
		{"with a blank line for a blank line", envelope(change[0], change[2], change[3], change[4], "", change[6]), ""},
		{"with line numbers", envelope(change[0], "@@ -1,4 +1,4 @@ def g():", change[2], change[3], change[4]), ""},
		{"with @@ twice in a line", envelope(change[0], "@@ def f(): @@", change[3], change[4]), ""},
		{"with the note of diff on the last newline", envelope(append(change, `\ No newline at end of file`)...), ""},
		{"without the sign of lines that stay", envelope(change[0], "def f():", change[3], change[4], " ", "    return x"), "white space around lines"},
		{"without white space at the ends", envelope(change[0], change[2], `-    x = "a"`, change[4]), "hunk 1 matches only without regard to white space at the ends of lines"},
		{"with another indentation", envelope(change[0], " def f():", "-\tx = \"a\"", change[4]), "hunk 1 matches only without regard to white space around lines"},
		{"with quotes that look alike", envelope(change[0], " def f():", "-    x\u00a0= “a”", change[4]), "how quotes, dashes and spaces are written"},
		{"with a hunk that changes nothing", envelope(change[0], "@@", " def f():", "@@", change[3], change[4]), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, true)
			b.write(t, "a", was)
			text := b.must(t, "apply_patch", args{"patch": tt.patch})
			require.Equal(t, is, b.content(t, "a"))
			if tt.says == "" {
				require.Equal(t, "updated a, at line 2", text)
			} else {
				require.Contains(t, text, tt.says)
			}
		})
	}
}

func TestPatchesThatDoNotFit(t *testing.T) {
	t.Parallel()
	before := files{"a": "def f():\n    x = 1\n    return x\ndef g():\n    return x\n", "b": "y\n", "dir/c": "z\n"}
	fits := []string{"*** Update File: b", "-y", "+new"}
	tests := []struct {
		name  string
		patch []string
		says  []string
	}{
		{"a line that is not there", []string{"*** Update File: a", "@@", " def f():", "-    x = 2", "+    x = 3"}, []string{
			"nothing was changed", "a: hunk 1 is not in the file", "\n\tdef f():\n\t    x = 2\n", `most of them are at line 1, but line 2 is "    x = 1", not "    x = 2"`,
		}},
		{"a line that is much like one", []string{"*** Update File: a", "-    xx = 1", "+"}, []string{`the closest to the first of them is line 2: "    x = 1"`}},
		{"a line that is like none", []string{"*** Update File: a", "-completely different", "+"}, []string{"nothing in it is like them"}},
		{"lines beyond the end", []string{"*** Update File: b", " y", " more", "+"}, []string{`but the file ends before "more"`}},
		{"a long hunk", []string{"*** Update File: a", "-1", "-2", "-3", "-4", "-5", "-6"}, []string{"\n\t4\n\t… and 2 more"}},
		{"several places", []string{"*** Update File: a", "-    return x", "+"}, []string{"hunk 1 could be at several lines: 3, 5", "@@"}},
		{"the same place twice", []string{"*** Update File: b", "-y", "+1", "@@", "-y", "+2"}, []string{"hunk 2", "line 1, but an earlier hunk changes that place"}},
		{"an addition below a line that is not there", []string{"*** Update File: a", "@@ nowhere", "+x"}, []string{`there is no line "nowhere"`}},
		{"several things at once", []string{"*** Update File: a", "-no", "+", "@@", "-neither", "+", "*** Delete File: d"}, []string{
			"a: hunk 1", "hunk 2", "d does not exist",
		}},
		{"a change that is none", []string{"*** Update File: a", "-    x = 1", "+    x = 1"}, []string{"adds the same lines that it removes"}},
		{"no file to update", []string{"*** Update File: d", "+x"}, []string{"d does not exist"}},
		{"no file to move", []string{"*** Update File: d", "*** Move to: e"}, []string{"d does not exist"}},
		{"a new file that is there", []string{"*** Add File: a", "+x"}, []string{"a exists already", "delete it first"}},
		{"a file in the way of a move", []string{"*** Update File: a", "*** Move to: dir/c"}, []string{"dir/c exists already; a cannot be moved there"}},
		{"a file that moved away", []string{"*** Update File: a", "*** Move to: d", "*** Update File: a", "+x"}, []string{"the patch moves it to d before"}},
		{"a file that was deleted", []string{"*** Delete File: a", "*** Update File: a", "+x"}, []string{"a does not exist"}},
		{"a directory", []string{"*** Delete File: dir"}, []string{"dir is a directory"}},
		{"a path through a file", []string{"*** Add File: b/c", "+x"}, []string{"a part of the path is a file"}},

		{"no file", nil, []string{"names no file"}},
		{"nothing to do", []string{"*** Update File: a", "@@", " def f():"}, []string{"no changes for a"}},
		{"no path", []string{"*** Delete File: "}, []string{"has no path"}},
		{"lines before the first file", []string{"+x"}, []string{"before the first file"}},
		{"a new file without signs", []string{"*** Add File: d", "x"}, []string{`"x" does not begin with +`}},
		{"lines for a file that goes", []string{"*** Delete File: a", "-x"}, []string{"does not belong below"}},
		{"a move too late", []string{"*** Update File: a", "-x", "*** Move to: d"}, []string{"must name a path, directly below"}},
		{"a mark that there is not", []string{"*** Update File: a", "*** Rename: d"}, []string{`"*** Rename: d" is no line of a patch`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, lines := range map[string][]string{"alone": tt.patch, "with one that fits": append(tt.patch, fits...)} {
				if tt.patch == nil && name != "alone" {
					continue
				}
				b := setup(t, true)
				b.fill(t, before)
				_, err := b.run(t, "apply_patch", patch(lines...))
				require.Error(t, err)
				for _, says := range tt.says {
					require.ErrorContains(t, err, says)
				}
				require.NotErrorIs(t, err, tool.ErrRetry)
				require.Equal(t, before, b.files(t), name)
			}
		})
	}

	t.Run("no patch at all", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		b.fill(t, before)
		for patch, says := range map[string]string{
			"": `no line "*** Begin Patch"`, "--- a\n+++ a\n@@ -1 +1 @@\n-y\n+z\n": `no line "*** Begin Patch"`,
			"*** Begin Patch\n*** Delete File: a\n": "was it cut off?",
		} {
			_, err := b.run(t, "apply_patch", args{"patch": patch})
			require.ErrorContains(t, err, says)
		}
		require.Equal(t, before, b.files(t))
	})

	t.Run("too many files", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		_, err := b.run(t, "apply_patch", patch(manyFiles(101)))
		require.ErrorContains(t, err, "more than 100 files")
		require.Empty(t, b.files(t))
	})
}

func manyFiles(n int) string {
	var lines strings.Builder
	for i := range n {
		lines.WriteString("*** Add File: " + strings.Repeat("x", i+1) + "\n+x\n")
	}
	return lines.String()
}

func TestPatchesStayInside(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	secret := filepath.Join(b.outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret\n"), 0o644))
	require.NoError(t, os.Symlink("../outside", filepath.Join(b.dir, "link")))
	require.NoError(t, os.Symlink("../outside/secret", filepath.Join(b.dir, "file-link")))
	b.write(t, "a", "x\n")
	b.write(t, "real", "x\n")
	require.NoError(t, os.Symlink("real", filepath.Join(b.dir, "inside-link")))

	paths := []string{"../outside/secret", "x/../../outside/secret", secret, "link/secret", "file-link", "/proc/self/environ", "a\x00b", strings.Repeat("long/", 1000)}
	for _, path := range paths {
		for name, lines := range map[string][]string{
			"update": {"*** Update File: " + path, "-secret", "+overwritten"},
			"delete": {"*** Delete File: " + path},
			"add":    {"*** Add File: " + path + "-new", "+x"},
			"move":   {"*** Update File: a", "*** Move to: " + path + "-new"},
			"take":   {"*** Update File: " + path, "*** Move to: b"},
		} {
			if path == "file-link" && (name == "add" || name == "move") {
				continue // that is a name like any other
			}
			_, err := b.run(t, "apply_patch", patch(lines...))
			require.Error(t, err, "%s %s", name, path)
			require.NotErrorIs(t, err, tool.ErrRetry)
		}
	}
	_, err := b.run(t, "apply_patch", patch("*** Update File: inside-link", "-x", "+y"))
	require.ErrorContains(t, err, "is a symbolic link to real")

	content, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "secret\n", string(content))
	entries, err := os.ReadDir(b.outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.ElementsMatch(t, []string{"a", "real", "link", "file-link", "inside-link"}, b.names(t))
}

func TestPatchKeepsModes(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	for _, name := range []string{"run.sh", "move.sh"} {
		require.NoError(t, os.Chmod(b.write(t, name, "x\n"), 0o750))
	}
	b.must(t, "apply_patch", patch("*** Update File: run.sh", "-x", "+y", "*** Update File: move.sh", "*** Move to: bin/moved.sh"))
	for _, name := range []string{"run.sh", "bin/moved.sh"} {
		info, err := os.Stat(filepath.Join(b.dir, name))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o750), info.Mode().Perm(), name)
	}
}

// crashing is a patch of all kinds of changes, and how far an attempt at it was
// when it died.
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
// in which an attempt has noted all that it will do.
func noted(t *testing.T) (*bundle, *tooltest.Journal) {
	t.Helper()
	// Learned from a run elsewhere, since an attempt that notes all goes on.
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

	t.Run("while it notes what it will do changes nothing, and is made good", func(t *testing.T) {
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

	t.Run("and a change by somebody else does the rest and says so", func(t *testing.T) {
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
		require.ErrorContains(t, err, "old was not removed, since dir/new was not written")
		require.Equal(t, "1\n", b.content(t, "old"))
	})

	t.Run("stays refused if it was", func(t *testing.T) {
		t.Parallel()
		b, journal := setup(t, true), tooltest.NewJournal()
		b.write(t, "a", "x\n")
		wrong := patch("*** Update File: a", "-z", "+y", "*** Add File: b")
		_, first := b.attempt(t, journal, "apply_patch", wrong)
		require.ErrorContains(t, first, "hunk 1 is not in the file")
		b.write(t, "a", "z\n")
		_, second := b.attempt(t, journal, "apply_patch", wrong)
		require.EqualError(t, second, first.Error())
		require.Equal(t, files{"a": "z\n"}, b.files(t))
	})

	t.Run("before all was noted is refused if it no longer fits", func(t *testing.T) {
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

func TestPatchThatFailsInTheMiddle(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.fill(t, files{"a": "x\n", "dir/b": "x\n"})
	// Nothing can be put into a directory whose temporary name is taken.
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "dir", ".holdfast-"+keyHash+".tmp"), 0o755))
	_, err := b.run(t, "apply_patch", patch("*** Update File: a", "-x", "+y", "*** Update File: dir/b", "*** Move to: dir/c", "-x", "+y"))
	require.ErrorContains(t, err, "Done:\nupdated a, at line 1\nNot done:\n")
	require.ErrorContains(t, err, "dir/b was not removed, since dir/c was not written")
	require.Equal(t, files{"a": "y\n", "dir/b": "x\n"}, b.files(t))
}

func FuzzApplyPatch(f *testing.F) {
	f.Add("x\ny\n", envelope("*** Update File: a", "@@ x", "-y", "+z", "*** End of File"))
	f.Add("x\r\n\r\ny", envelope("*** Update File: a", "*** Move to: b", "", "-y", "+z", "@@", "@@ x", "+1"))
	f.Add("", envelope("*** Add File: ../outside/x", "+x", "*** Delete File: link/secret"))
	f.Add("x", envelope("*** Delete File: a", "*** Add File: a", "+", "*** Update File: a", "*** Move to: link/x"))
	f.Add("x\nx\n", "```\n"+envelope("*** Update File: a", "x", "+y", "\\ No newline", "-x"))
	f.Fuzz(requireHarmless)
}

// TestRandomPatches goes where a fuzzer's bytes seldom lead: to patches that are
// nearly right.
func TestRandomPatches(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"*** Update File: a", "*** Update File: b", "*** Move to: b", "*** Move to: link/x", "*** Add File: b", "*** Add File: ../outside/x",
		"*** Delete File: a", "*** Delete File: link/secret", "*** End of File", "@@", "@@ x", "@@ y", "", " ", " x", " y", "-x", "-y", "-", "+x", "+z", "+", "x",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		lines := []string{pieces[random.IntN(2)]}
		for range random.IntN(12) {
			lines = append(lines, pieces[random.IntN(len(pieces))])
		}
		var content strings.Builder
		for range random.IntN(8) {
			content.WriteString([]string{"x\n", "y\n", "\n", "z\r\n", "  x\n", "y"}[random.IntN(6)])
		}
		requireHarmless(t, content.String(), envelope(lines...))
	}
}

// requireHarmless applies a patch to the file a, twice as after a crash.
func requireHarmless(t *testing.T, content, patch string) {
	b := setup(t, true)
	secret := filepath.Join(b.outside, "secret")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	require.NoError(t, os.Symlink("../outside", filepath.Join(b.dir, "link")))
	b.write(t, "a", content)
	before, journal := b.files(t), tooltest.NewJournal()

	text, err := b.attempt(t, journal, "apply_patch", args{"patch": patch})
	after := b.files(t)
	if err != nil {
		require.Equal(t, before, after, "%v\n%s", err, patch)
	}
	again, errAgain := b.attempt(t, journal, "apply_patch", args{"patch": patch})
	require.Equal(t, err == nil, errAgain == nil, "%q %v, then %q %v\n%s", text, err, again, errAgain, patch)
	require.Equal(t, after, b.files(t), patch)

	kept, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "secret", string(kept))
	entries, err := os.ReadDir(b.outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
