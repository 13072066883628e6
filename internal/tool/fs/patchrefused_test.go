package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestPatchRefused(t *testing.T) {
	t.Parallel()
	before := files{"a": "def f():\n    x = 1\n    return x\ndef g():\n    return x\n", "b": "y\n", "dir/c": "z\n"}
	fits := []string{"*** Update File: b", "-y", "+new"}
	tests := []struct {
		name  string
		patch []string
		says  []string
	}{
		{"a line that is not there", []string{"*** Update File: a", "@@", " def f():", "-    x = 2", "+    x = 3"}, []string{
			"nothing was changed", "a: hunk 1 not found", "\n\tdef f():\n\t    x = 2\n", `most of them are at line 1, but line 2 is "    x = 1", not "    x = 2"`,
		}},
		{"a line that is much like one", []string{"*** Update File: a", "-    xx = 1", "+"}, []string{`the line most similar to the first is line 2: "    x = 1"`}},
		{"a line that is like none", []string{"*** Update File: a", "-completely different", "+"}, []string{"no line is similar"}},
		{"lines beyond the end", []string{"*** Update File: b", " y", " more", "+"}, []string{`but the file ends before "more"`}},
		{"a long hunk", []string{"*** Update File: a", "-1", "-2", "-3", "-4", "-5", "-6"}, []string{"\n\t4\n\t… and 2 more"}},
		{"several places", []string{"*** Update File: a", "-    return x", "+"}, []string{"hunk 1 matches at several lines: 3, 5", "@@"}},
		{"the same place twice", []string{"*** Update File: b", "-y", "+1", "@@", "-y", "+2"}, []string{"hunk 2", "line 1, but an earlier hunk changes that place"}},
		{"an addition below a line that is not there", []string{"*** Update File: a", "@@ nowhere", "+x"}, []string{`line "nowhere" not found`}},
		{"several things at once", []string{"*** Update File: a", "-no", "+", "@@", "-neither", "+", "*** Delete File: d"}, []string{
			"a: hunk 1", "hunk 2", "d does not exist",
		}},
		{"a change that is none", []string{"*** Update File: a", "-    x = 1", "+    x = 1"}, []string{"removes and adds the same lines"}},
		{"no file to update", []string{"*** Update File: d", "+x"}, []string{"d does not exist"}},
		{"no file to move", []string{"*** Update File: d", "*** Move to: e"}, []string{"d does not exist"}},
		{"a new file that is there", []string{"*** Add File: a", "+x"}, []string{"a already exists", "delete it first"}},
		{"a file in the way of a move", []string{"*** Update File: a", "*** Move to: dir/c"}, []string{"dir/c already exists; cannot move a there"}},
		{"a file that moved away", []string{"*** Update File: a", "*** Move to: d", "*** Update File: a", "+x"}, []string{"an earlier section moves it to d"}},
		{"a file that was deleted", []string{"*** Delete File: a", "*** Update File: a", "+x"}, []string{"a does not exist"}},
		{"a directory", []string{"*** Delete File: dir"}, []string{"dir is a directory"}},
		{"a path through a file", []string{"*** Add File: b/c", "+x"}, []string{"a part of the path is not a directory"}},

		{"no file", nil, []string{"names no file"}},
		{"nothing to do", []string{"*** Update File: a", "@@", " def f():"}, []string{"no changes for a"}},
		{"no path", []string{"*** Delete File: "}, []string{"has no path"}},
		{"lines before the first file", []string{"+x"}, []string{"precedes the first file"}},
		{"a new file without signs", []string{"*** Add File: d", "x"}, []string{`"x" does not start with +`}},
		{"lines for a file that goes", []string{"*** Delete File: a", "-x"}, []string{"cannot follow"}},
		{"a move too late", []string{"*** Update File: a", "-x", "*** Move to: d"}, []string{"must name a path and directly follow"}},
		{"a mark that there is not", []string{"*** Update File: a", "*** Rename: d"}, []string{`"*** Rename: d" is not a valid patch line`}},
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
			"*** Begin Patch\n*** Delete File: a\n": "was it truncated?",
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

func TestPatchStaysInWorkspace(t *testing.T) {
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
