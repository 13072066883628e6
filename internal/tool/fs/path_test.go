package fs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/fs"
)

// everyTool calls each tool on a path.
func everyTool(t *testing.T, b *bundle, path string, check func(t *testing.T, text string, err error)) {
	t.Helper()
	calls := map[string]args{
		"read_file":   {"path": path},
		"list_dir":    {"path": path},
		"find_files":  {"path": path, "pattern": "*"},
		"grep":        {"path": path, "pattern": "."},
		"write_file":  {"path": path, "content": "overwritten"},
		"edit_file":   {"path": path, "old_text": "secret", "new_text": "overwritten"},
		"apply_patch": {"patch": envelope("*** Update File: "+path, "-secret", "+overwritten")},
	}
	for name, arguments := range calls {
		t.Run(name, func(t *testing.T) {
			text, err := b.run(t, name, arguments)
			check(t, text, err)
		})
	}
}

func TestPathsOutsideWorkspaceAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	secret := filepath.Join(b.outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(b.outside, filepath.Join(b.dir, "absolute-link")))
	require.NoError(t, os.Symlink("../outside", filepath.Join(b.dir, "relative-link")))
	require.NoError(t, os.Symlink(secret, filepath.Join(b.dir, "file-link")))

	tests := []struct{ name, path, says string }{
		{"parent", "../outside/secret.txt", "outside the workspace"},
		{"parent in the middle", "a/../../outside/secret.txt", "outside the workspace"},
		{"absolute", secret, "outside the workspace"},
		{"environment of the process", "/proc/self/environ", "outside the workspace"},
		{"directory behind an absolute link", "absolute-link/secret.txt", ""},
		{"directory behind a relative link", "relative-link/secret.txt", ""},
		{"file behind a link", "file-link", ""},
		{"prefix of the workspace's name", b.dir + "-other", "outside the workspace"},
		{"NUL", "a\x00b", "NUL"},
		{"very long path", strings.Repeat("a/", 3000), "too long"},
		{"very long name", strings.Repeat("a", 3000), "too long"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			everyTool(t, b, tt.path, func(t *testing.T, text string, err error) {
				require.Error(t, err)
				require.Contains(t, err.Error(), tt.says)
				require.NotContains(t, text+err.Error(), "HOME=")
				require.Less(t, len(err.Error()), 400)
				require.NotErrorIs(t, err, tool.ErrRetry)
				content, err := os.ReadFile(secret)
				require.NoError(t, err)
				require.Equal(t, "secret", string(content))
			})
		})
	}
}

func TestAbsolutePathsInsideTheWorkspaceAreAccepted(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	path := b.write(t, "dir/a.txt", "hello")
	require.Equal(t, "hello", b.must(t, "read_file", args{"path": path}))
	require.Equal(t, "dir/\n", b.must(t, "list_dir", args{"path": b.dir}))
	require.Contains(t, b.must(t, "edit_file", args{"path": path, "old_text": "hello", "new_text": "bye"}), "dir/a.txt")
	require.Equal(t, "bye", b.content(t, "dir/a.txt"))
}

func TestLinkedWorkspaceIsAcceptedUnderBothNames(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	path := b.write(t, "a.txt", "hello")
	link := filepath.Join(b.outside, "link")
	require.NoError(t, os.Symlink(b.dir, link))
	tools, err := fs.New(fs.Options{Workspace: link, Restrict: true})
	require.NoError(t, err)
	linked := &bundle{dir: link}
	require.NoError(t, linked.tools.Register(tools...))
	require.Equal(t, "hello", linked.must(t, "read_file", args{"path": path}))
	require.Equal(t, "hello", linked.must(t, "read_file", args{"path": filepath.Join(link, "a.txt")}))
}

func TestReadingFollowsLinksInWorkspace(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.write(t, "real/a.txt", "hello")
	require.NoError(t, os.Symlink("real", filepath.Join(b.dir, "link")))
	require.Equal(t, "hello", b.must(t, "read_file", args{"path": "link/a.txt"}))
	require.Equal(t, "link/a.txt", b.must(t, "find_files", args{"path": "link", "pattern": "*"}))

	b.must(t, "write_file", args{"path": "link/b.txt", "content": "new"})
	require.Equal(t, "new", b.content(t, "real/b.txt"))
}

func TestLinksAreNotOverwritten(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	b.write(t, "real.txt", "hello")
	require.NoError(t, os.Symlink("real.txt", filepath.Join(b.dir, "link.txt")))
	_, err := b.run(t, "write_file", args{"path": "link.txt", "content": "x"})
	require.ErrorContains(t, err, "link.txt is a symbolic link to real.txt")
	require.Equal(t, "hello", b.content(t, "real.txt"))
}

func TestLinkSwappedDuringCallCannotEscape(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	secret := filepath.Join(b.outside, "file")
	require.NoError(t, os.WriteFile(secret, []byte("secret"), 0o644))
	b.write(t, "real/file", "harmless")
	link := filepath.Join(b.dir, "link")
	require.NoError(t, os.Symlink("real", link))

	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			next := link + ".next"
			_ = os.Symlink([]string{"../outside", "real"}[i%2], next)
			_ = os.Rename(next, link)
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })

	for range 100 {
		text, err := b.run(t, "read_file", args{"path": "link/file"})
		require.NotContains(t, text, "secret", err)
		text, _ = b.run(t, "grep", args{"path": "link", "pattern": "secret"})
		require.NotContains(t, text, "link/file")
		_, _ = b.run(t, "write_file", args{"path": "link/file", "content": "harmless"})
	}
	content, err := os.ReadFile(secret)
	require.NoError(t, err)
	require.Equal(t, "secret", string(content))
	entries, err := os.ReadDir(b.outside)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.dir, "pipe"), 0o644))
	for _, name := range []string{"read_file", "write_file", "edit_file"} {
		_, err := b.run(t, name, args{"path": "pipe", "content": "x", "old_text": "a", "new_text": "b"}.only(name))
		require.ErrorContains(t, err, "pipe is a named pipe")
		_, err = b.run(t, name, args{"path": ".", "content": "x", "old_text": "a", "new_text": "b"}.only(name))
		require.ErrorContains(t, err, "is a directory")
	}
	require.Contains(t, b.must(t, "grep", args{"pattern": "x"}), "1 files could not be read")
	require.Equal(t, "pipe (not a regular file)\n", b.must(t, "list_dir", args{}))
}

// only keeps the arguments that the tool has.
func (a args) only(name string) args {
	kept := args{"path": a["path"]}
	switch name {
	case "write_file":
		kept["content"] = a["content"]
	case "edit_file":
		kept["old_text"], kept["new_text"] = a["old_text"], a["new_text"]
	}
	return kept
}

func TestWithoutRestriction(t *testing.T) {
	t.Parallel()

	t.Run("absolute paths elsewhere can be used", func(t *testing.T) {
		t.Parallel()
		b := setup(t, false)
		path := filepath.Join(b.outside, "new", "a.txt")
		require.Contains(t, b.must(t, "write_file", args{"path": path, "content": "hello"}), path)
		require.Equal(t, "hello", b.must(t, "read_file", args{"path": path}))
		require.Equal(t, path, b.must(t, "find_files", args{"path": b.outside, "pattern": "*.txt"}))
		require.Equal(t, "hello", b.must(t, "read_file", args{"path": "../outside/new/a.txt"}))
	})

	t.Run("relative paths are in the workspace", func(t *testing.T) {
		t.Parallel()
		b := setup(t, false)
		b.must(t, "write_file", args{"path": "a.txt", "content": "hello"})
		require.Equal(t, "hello", b.content(t, "a.txt"))
		require.Equal(t, "a.txt:1: hello", b.must(t, "grep", args{"pattern": "hello"}))
	})

	t.Run("links may be absolute and lead out", func(t *testing.T) {
		t.Parallel()
		b := setup(t, false)
		require.NoError(t, os.Symlink(b.outside, filepath.Join(b.dir, "link")))
		b.must(t, "write_file", args{"path": "link/a.txt", "content": "hello"})
		require.Equal(t, "hello", b.must(t, "read_file", args{"path": filepath.Join(b.outside, "a.txt")}))
	})

	t.Run("the kernel's trees stay refused", func(t *testing.T) {
		t.Parallel()
		b := setup(t, false)
		require.NoError(t, os.Symlink("/proc/self", filepath.Join(b.dir, "self")))
		for _, path := range []string{"/proc/self/environ", "self/environ", "/dev/zero", "/sys/kernel", "/proc/../proc/1/environ"} {
			everyTool(t, b, path, func(t *testing.T, text string, err error) {
				require.ErrorContains(t, err, "refused")
				require.Empty(t, text)
			})
		}
	})
}

func TestNewRefusesMissingWorkspace(t *testing.T) {
	t.Parallel()
	_, err := fs.New(fs.Options{Workspace: filepath.Join(t.TempDir(), "missing"), Restrict: true})
	require.ErrorContains(t, err, "workspace")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = fs.New(fs.Options{Workspace: file, Restrict: true})
	require.ErrorContains(t, err, "not a directory")
}

func TestToolKinds(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	for name, keyed := range map[string]bool{
		"read_file": false, "list_dir": false, "find_files": false, "grep": false, "write_file": true, "edit_file": true,
		"apply_patch": true,
	} {
		found, err := b.tools.Lookup(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, keyed, found.Kind == tool.Keyed, name)
		require.Equal(t, !keyed, found.ReadOnly, name)
	}
}
