package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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

// envelope wraps lines in the begin and end markers of a patch.
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
			"changes a line",
			files{"a": "one\ntwo\nthree\n"},
			files{"a": "one\n2\nthree\n"},
			patch("*** Update File: a", "@@", " one", "-two", "+2", " three"), "updated a, at line 2",
		},
		{
			"needs no @@ and no lines that stay",
			files{"a": "one\ntwo\n"},
			files{"a": "one\n2\n"},
			patch("*** Update File: a", "-two", "+2"), "updated a, at line 2",
		},
		{
			"changes several places in their order",
			files{"a": "1\n2\n3\n4\n5\n6\n"},
			files{"a": "1\ntwo\n3\n5\nfive and a half\n6\n"},
			patch("*** Update File: a", "@@", " 1", "-2", "+two", " 3", "@@", "-4", " 5", "+five and a half"), "updated a, at line 2, 4",
		},
		{
			"and in another order",
			files{"a": "1\n2\n3\n4\n5\n6\n"},
			files{"a": "one\n2\n3\n4\nfive\n6\n"},
			patch("*** Update File: a", "@@", "-5", "+five", "@@", "-1", "+one"), "updated a, at line 1, 5",
		},
		{
			"allows neighbours to share lines that stay",
			files{"a": "1\n2\n3\n"},
			files{"a": "one\n2\nthree\n"},
			patch("*** Update File: a", "@@", "-1", "+one", " 2", "@@", " 2", "-3", "+three"), "updated a, at line 1, 3",
		},
		{
			"finds the place below a line",
			files{"a": "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 1\n}\n"},
			files{"a": "func a() {\n\treturn 1\n}\nfunc b() {\n\treturn 2\n}\n"},
			patch("*** Update File: a", "@@ func b() {", "-\treturn 1", "+\treturn 2"), "updated a, at line 5",
		},
		{
			"below a line in something",
			files{"a": "A\n\tf\n\t\tx\nB\n\tf\n\t\tx\n\tg\n\t\tx\n"},
			files{"a": "A\n\tf\n\t\tx\nB\n\tf\n\t\tx\n\tg\n\t\ty\n"},
			patch("*** Update File: a", "@@ B", "@@ g", "-\t\tx", "+\t\ty"), "updated a, at line 8",
		},
		{
			"below a part of a line",
			files{"a": "class A(Base):\n  x\nclass B(Base):\n  x\n"},
			files{"a": "class A(Base):\n  x\nclass B(Base):\n  y\n"},
			patch("*** Update File: a", "@@ class B", "-  x", "+  y"), "updated a, at line 4",
		},
		{
			"with the line repeated",
			files{"a": "f:\n  x\ng:\n  x\n"},
			files{"a": "f:\n  x\ng:\n  y\n"},
			patch("*** Update File: a", "@@ g:", " g:", "-  x", "+  y"), "updated a, at line 4",
		},
		{
			"does without a line that is not there if there is one place only",
			files{"a": "x\ny\n"},
			files{"a": "x\nz\n"},
			patch("*** Update File: a", "@@ nowhere", "-y", "+z"), "hunk 1 does not follow the line that its @@ names",
		},
		{
			"finds the last place",
			files{"a": "x\ny\nx\n"},
			files{"a": "x\ny\nz\n"},
			patch("*** Update File: a", "@@", "-x", "+z", "*** End of File"), "updated a, at line 3",
		},
		{
			"adds below a line",
			files{"a": "x\ny\n"},
			files{"a": "x\nnew\ny\n"},
			patch("*** Update File: a", "@@ x", "+new"), "updated a, at line 2",
		},
		{
			"adds before a line that it changes",
			files{"a": "x\ny\n"},
			files{"a": "x\nnew\nz\n"},
			patch("*** Update File: a", "@@", "-y", "+z", "@@ x", "+new"), "updated a, at line 2, 3",
		},
		{
			"adds at the end",
			files{"a": "x\n"},
			files{"a": "x\nnew\n"},
			patch("*** Update File: a", "@@", "+new"), "hunk 1 has no context; its lines were added at the end",
		},
		{
			"fills an empty file",
			files{"a": ""},
			files{"a": "new\n"},
			patch("*** Update File: a", "+new"), "updated a, at line 1",
		},
		{
			"empties a file",
			files{"a": "x\n"},
			files{"a": ""},
			patch("*** Update File: a", "-x"), "updated a, at line 1",
		},
		{
			"leaves a file without a last newline so",
			files{"a": "x\ny"},
			files{"a": "x\nz\nlast"},
			patch("*** Update File: a", "-y", "+z", "+last"), "updated a, at line 2",
		},
		{
			"adds below a last line without a newline",
			files{"a": "x\ny"},
			files{"a": "x\ny\nlast"},
			patch("*** Update File: a", " y", "+last", "*** End of File"), "updated a, at line 3",
		},
		{
			"writes lines of CRLF into a file that has them",
			files{"a": "x\r\ny\r\nz\r\n"},
			files{"a": "x\r\n1\r\n2\r\nz\r\n"},
			patch("*** Update File: a", " x", "-y", "+1", "+2", " z"), "updated a, at line 2",
		},
		{
			"adds a file",
			files{},
			files{"new/a": "one\n\n  three\n"},
			patch("*** Add File: new/a", "+one", "+", "+  three"), "added new/a",
		},
		{
			"adds an empty file",
			files{},
			files{"a": ""},
			patch("*** Add File: a"), "added a",
		},
		{
			"deletes a file",
			files{"a": "x", "b": "y"},
			files{"b": "y"},
			patch("*** Delete File: a"), "deleted a",
		},
		{
			"replaces a whole file",
			files{"a": "x"},
			files{"a": "new\n"},
			patch("*** Delete File: a", "*** Add File: a", "+new"), "updated a",
		},
		{
			"moves a file",
			files{"a": "x\ny"},
			files{"dir/b": "x\ny"},
			patch("*** Update File: a", "*** Move to: dir/b"), "deleted a\nadded dir/b, moved from a",
		},
		{
			"moves and changes a file",
			files{"a": "x\ny\n"},
			files{"dir/b": "x\nz\n"},
			patch("*** Update File: a", "*** Move to: dir/b", "@@", "-y", "+z"), "deleted a\nadded dir/b, moved from a, at line 2",
		},
		{
			"moves a file twice",
			files{"a": "x\n"},
			files{"c": "z\n"},
			patch("*** Update File: a", "*** Move to: dir/b", "-x", "+y", "*** Update File: dir/b", "*** Move to: c", "-y", "+z"),
			"deleted a\nadded c, moved from dir/b, at line 1",
		},
		{
			"moves a file over one that it deletes",
			files{"a": "x\n", "b": "y\n"},
			files{"b": "x\n"},
			patch("*** Delete File: b", "*** Update File: a", "*** Move to: b"), "updated b, moved from a\ndeleted a",
		},
		{
			"moves a file to where it is",
			files{"a": "x\n"},
			files{"a": "y\n"},
			patch("*** Update File: a", "*** Move to: ./a", "-x", "+y"), "updated a, at line 1",
		},
		{
			"changes several files",
			files{"a": "x\n", "b": "y\n"},
			files{"a": "1\n", "c": "new\n"},
			patch("*** Update File: a", "-x", "+1", "*** Delete File: b", "*** Add File: c", "+new"), "updated a, at line 1\ndeleted b\nadded c",
		},
		{
			"names a file twice",
			files{"a": "x\ny\n"},
			files{"a": "1\n2\n"},
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
		{"without the sign of lines that stay", envelope(change[0], "def f():", change[3], change[4], " ", "    return x"), "leading and trailing white space"},
		{"without white space at the ends", envelope(change[0], change[2], `-    x = "a"`, change[4]), "hunk 1 matches only when ignoring trailing white space"},
		{"with another indentation", envelope(change[0], " def f():", "-\tx = \"a\"", change[4]), "hunk 1 matches only when ignoring leading and trailing white space"},
		{"with quotes that look alike", envelope(change[0], " def f():", "-    x\u00a0= “a”", change[4]), "the style of quotes, dashes and spaces"},
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
