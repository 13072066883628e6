package fs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// numbered returns n numbered lines.
func numbered(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "line %d\n", i+1)
	}
	return text.String()
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 20_000)
	tests := []struct {
		name, content string
		args          args
		want          string
	}{
		{"a whole file as it is", "a\r\nb", args{}, "a\r\nb"},
		{"an empty file", "", args{}, "[the file is empty]"},
		{
			"the first lines", numbered(10),
			args{"limit": 2},
			"line 1\nline 2\n[lines 1 to 2; continue with offset 3]",
		},
		{
			"lines in the middle", numbered(10),
			args{"offset": 4, "limit": 2},
			"line 4\nline 5\n[lines 4 to 5; continue with offset 6]",
		},
		{"the last lines", numbered(10), args{"offset": 10, "limit": 5}, "line 10\n[lines 10 to 10, end of file]"},
		{"exactly all lines", numbered(3), args{"limit": 3}, numbered(3)},
		{"beyond the end", numbered(3), args{"offset": 9}, "[the file has 3 lines, fewer than offset 9]"},
		{"nonsense numbers", numbered(1), args{"offset": -5, "limit": -1}, numbered(1)},
		{
			"broken UTF-8", "ok\xff\xfe!\n",
			args{},
			"ok\uFFFD!\n[the file is not valid UTF-8; invalid bytes are shown as \uFFFD]",
		},
		{
			"a very long line", "x" + long + "\nend\n",
			args{},
			"x" + long[:14_998] + "\n[lines 1 to 1; continue with offset 2; line 1 is longer than 15000 bytes and was truncated]",
		},
		{"binary content", "\x7fELF\x00\x01", args{}, "a.txt is a binary file (application/octet-stream, 6 bytes) and is not shown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, true)
			b.write(t, "a.txt", tt.content)
			tt.args["path"] = "a.txt"
			require.Equal(t, tt.want, b.must(t, "read_file", tt.args))
		})
	}
}

func TestReadFilePagesThroughALargeFile(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	all := numbered(5000)
	b.write(t, "a.txt", all)
	var got strings.Builder
	offset := 1
	for range 100 {
		page := b.must(t, "read_file", args{"path": "a.txt", "offset": offset})
		require.Less(t, len(page), 16_000)
		text, note, found := strings.Cut(page, "[lines ")
		got.WriteString(text)
		if !found || strings.Contains(note, "end of file") {
			break
		}
		_, err := fmt.Sscanf(note[strings.Index(note, "offset"):], "offset %d]", &offset)
		require.NoError(t, err)
	}
	require.Equal(t, all, got.String())
}

func TestReadFileStreamsAHugeFile(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	path := b.write(t, "huge", numbered(3))
	// Sparse: 8 GB without a line break, of which only the start is needed.
	require.NoError(t, os.Truncate(path, 8<<30))
	require.Contains(t, b.must(t, "read_file", args{"path": "huge"}), "is a binary file")
	b.write(t, "text", strings.Repeat("x", 9000)+"\n")
	require.NoError(t, os.Truncate(filepath.Join(b.dir, "text"), 8<<30))
	require.Contains(t, b.must(t, "read_file", args{"path": "text", "limit": 1}), "continue with offset 2")
	_, err := b.run(t, "edit_file", args{"path": "text", "old_text": "x", "new_text": "y"})
	require.ErrorContains(t, err, "too large to edit")
}

func TestReadStopsWithContext(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.write(t, "a.txt", numbered(10))
	stopped := errors.New("the user stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for name, arguments := range map[string]string{
		"read_file": `{"path":"a.txt"}`, "find_files": `{"pattern":"*"}`, "grep": `{"pattern":"line"}`,
	} {
		found, err := b.tools.Lookup(t.Context(), name)
		require.NoError(t, err)
		_, err = found.Run(ctx, tool.Call{Arguments: []byte(arguments)})
		require.ErrorIs(t, err, stopped, name)
	}
}

func TestMissingFileIsReported(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	_, err := b.run(t, "read_file", args{"path": "missing.txt"})
	require.EqualError(t, err, "missing.txt does not exist; use find_files or list_dir")
}

func TestListDir(t *testing.T) {
	t.Parallel()

	t.Run("shows what each entry is, sorted", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		b.write(t, "dir/b.txt", "12345")
		b.write(t, "dir/a/x", "")
		b.write(t, "dir/broken\xff", "")
		require.NoError(t, os.Symlink("b.txt", filepath.Join(b.dir, "dir", "link")))
		require.Equal(t, "a/\nb.txt (5 bytes)\nbroken\uFFFD (0 bytes)\nlink -> b.txt\n", b.must(t, "list_dir", args{"path": "dir"}))
	})

	t.Run("says that a directory is empty", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, ". is empty", setup(t, true).must(t, "list_dir", args{}))
	})

	t.Run("bounds what it returns", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		for i := range 600 {
			b.write(t, fmt.Sprintf("%03d", i), "")
		}
		text := b.must(t, "list_dir", args{})
		require.Contains(t, text, "499 (0 bytes)\n[500 of 600 entries;")
	})

	t.Run("says that a file is not a directory", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		b.write(t, "a.txt", "")
		_, err := b.run(t, "list_dir", args{"path": "a.txt"})
		require.EqualError(t, err, "a.txt is not a directory; use read_file")
	})
}

func TestFindFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	for _, name := range []string{"main.go", "a/b/main_test.go", "a/x.md", ".git/config.go", "docs/y.md", "a-b.go"} {
		b.write(t, name, "")
	}
	tests := []struct {
		name string
		args args
		want string
	}{
		{"a name at any depth, .git left out", args{"pattern": "*.go"}, "a-b.go\na/b/main_test.go\nmain.go"},
		{"a path", args{"pattern": "a/*.md"}, "a/x.md"},
		{"any number of directories", args{"pattern": "**/*.md"}, "a/x.md\ndocs/y.md"},
		{"alternatives", args{"pattern": "{x,y}.md"}, "a/x.md\ndocs/y.md"},
		{"relative to a directory", args{"pattern": "b/*.go", "path": "a"}, "a/b/main_test.go"},
		{"nothing", args{"pattern": "*.rs"}, `no file matches "*.rs"`},
		{"a dot in front", args{"pattern": "./a/*.md"}, "a/x.md"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, b.must(t, "find_files", tt.args))
		})
	}
	_, err := b.run(t, "find_files", args{"pattern": "[a"})
	require.ErrorContains(t, err, "not a valid pattern")
	_, err = b.run(t, "find_files", args{"pattern": "*", "path": "missing"})
	require.ErrorContains(t, err, "does not exist")
}

func TestFindFilesLimitsResult(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	for i := range 250 {
		b.write(t, fmt.Sprintf("%03d.txt", i), "")
	}
	text := b.must(t, "find_files", args{"pattern": "*.txt"})
	require.Contains(t, text, "199.txt\n[more results;")
	require.NotContains(t, text, "200.txt")
}

func TestGrep(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.write(t, "a.go", "package a\n\nfunc One() {}\n\n\n\nfunc two() {}\n")
	b.write(t, "sub/b.txt", "Func three\r\n")
	b.write(t, ".git/c.go", "func hidden")
	b.write(t, "binary", "\x00func")
	b.write(t, "broken", "func \xff\n")
	tests := []struct {
		name string
		args args
		want string
	}{
		{"matches with path and line", args{"pattern": "func"}, "a.go:3: func One() {}\na.go:7: func two() {}\nbroken:1: func \uFFFD"},
		{"a regular expression", args{"pattern": `^func [A-Z]`}, "a.go:3: func One() {}"},
		{"without regard to case", args{"pattern": "FUNC T", "ignore_case": true}, "a.go:7: func two() {}\nsub/b.txt:1: Func three"},
		{"a glob", args{"pattern": "(?i)func", "glob": "*.txt"}, "sub/b.txt:1: Func three"},
		{"one file", args{"pattern": "One", "path": "a.go"}, "a.go:3: func One() {}"},
		{"one file that fits the glob", args{"pattern": "One", "path": "a.go", "glob": "*.go"}, "a.go:3: func One() {}"},
		{"one directory", args{"pattern": "three", "path": "sub"}, "sub/b.txt:1: Func three"},
		{
			"context",
			args{"pattern": "func", "context": 1, "glob": "*.go"},
			"a.go-2- \na.go:3: func One() {}\na.go-4- \n--\na.go-6- \na.go:7: func two() {}",
		},
		{
			"context that joins up",
			args{"pattern": "func", "context": 2, "glob": "*.go"},
			"a.go-1- package a\na.go-2- \na.go:3: func One() {}\na.go-4- \na.go-5- \na.go-6- \na.go:7: func two() {}",
		},
		{"nothing", args{"pattern": "nowhere"}, `no line matches "nowhere"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, b.must(t, "grep", tt.args))
		})
	}
	_, err := b.run(t, "grep", args{"pattern": "("})
	require.ErrorContains(t, err, "missing closing )")
	_, err = b.run(t, "grep", args{"pattern": "x", "glob": "{"})
	require.ErrorContains(t, err, "not a valid pattern")
}

func TestGrepLimitsResult(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	for i := range 20 {
		b.write(t, fmt.Sprintf("%d.txt", i), strings.Repeat(strings.Repeat("match ", 1000)+"\n", 20))
	}
	text := b.must(t, "grep", args{"pattern": "match", "context": 10})
	require.Less(t, len(text), 16_000)
	require.True(t, strings.HasSuffix(text, "[more results; narrow the search by path or pattern]"))
}

func TestEditFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		args          args
		says, after   string
	}{
		{"one place", "a\nb\nc\n", args{"old_text": "b", "new_text": "B"}, "edited a.txt: replaced once at line 2", "a\nB\nc\n"},
		{"several lines", "a\nb\nc\n", args{"old_text": "b\nc", "new_text": ""}, "edited a.txt: replaced once at line 2", "a\n\n"},
		{
			"all places", "a\nb\na\n",
			args{"old_text": "a", "new_text": "x", "replace_all": true},
			"edited a.txt: replaced 2 times at line 1, 3", "x\nb\nx\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, true)
			b.write(t, "a.txt", tt.content)
			tt.args["path"] = "a.txt"
			require.Equal(t, tt.says, b.must(t, "edit_file", tt.args))
			require.Equal(t, tt.after, b.content(t, "a.txt"))
		})
	}
}

func TestEditFileRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content string
		args          args
		says          []string
	}{
		{
			"text that is there twice", "a\nb\na\n",
			args{"old_text": "a", "new_text": "x"},
			[]string{"2 times", "lines 1, 3", "replace_all"},
		},
		{
			"text that differs in white space, showing it", "func a() {\n\treturn 1\n}\n",
			args{"old_text": "    return 1", "new_text": "x"},
			[]string{"was not found", `line 2: "\treturn 1"`},
		},
		{
			"text that is almost there, showing the closest", "alpha\nreturn total + 1\nomega\n",
			args{"old_text": "return total - 1", "new_text": "x"},
			[]string{`line 2: "return total + 1"`},
		},
		{"text that nothing is like", "alpha\n", args{"old_text": "zzzz", "new_text": "x"}, []string{"nor anything similar"}},
		{"text with other line ends", "a\r\nb\r\n", args{"old_text": "a\nb", "new_text": "x"}, []string{`\r\n`}},
		{"an empty old text", "a", args{"old_text": "", "new_text": "x"}, []string{"old_text is empty", "write_file"}},
		{"a change that is none", "a", args{"old_text": "a", "new_text": "a"}, []string{"the same"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, true)
			b.write(t, "a.txt", tt.content)
			tt.args["path"] = "a.txt"
			_, err := b.run(t, "edit_file", tt.args)
			for _, says := range tt.says {
				require.ErrorContains(t, err, says)
			}
			require.Equal(t, tt.content, b.content(t, "a.txt"))
		})
	}
	b := setup(t, true)
	_, err := b.run(t, "edit_file", args{"path": "missing", "old_text": "a", "new_text": "b"})
	require.ErrorContains(t, err, "missing does not exist")
}
