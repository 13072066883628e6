package fs_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

func TestWriteFile(t *testing.T) {
	t.Parallel()

	t.Run("creates the file and its directories", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		require.Equal(t, "wrote 5 bytes to a/b/c.txt", b.must(t, "write_file", args{"path": "a/b/c.txt", "content": "hello"}))
		require.Equal(t, "hello", b.content(t, "a/b/c.txt"))
	})

	t.Run("replaces content, keeps the mode, leaves nothing behind", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		path := b.write(t, "run.sh", "old and longer")
		require.NoError(t, os.Chmod(path, 0o750))
		b.must(t, "write_file", args{"path": "run.sh", "content": "new"})
		require.Equal(t, "new", b.content(t, "run.sh"))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o750), info.Mode().Perm())
		require.Equal(t, []string{"run.sh"}, b.names(t))
	})

	t.Run("writes an empty file", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		b.must(t, "write_file", args{"path": "empty", "content": ""})
		require.Empty(t, b.content(t, "empty"))
	})

	t.Run("reports a path component that is not a directory", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		b.write(t, "file", "x")
		_, err := b.run(t, "write_file", args{"path": "file/a.txt", "content": "x"})
		require.ErrorContains(t, err, "a part of the path is not a directory")
	})

	t.Run("notes what it is about to do, before doing it", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		b.write(t, "a.txt", "old")
		journal := tooltest.NewJournal()
		_, err := b.attempt(t, journal, "write_file", args{"path": "a.txt", "content": "new"})
		require.NoError(t, err)
		var noted map[string]string
		require.NoError(t, json.Unmarshal(journal.Intents()["a.txt"], &noted))
		require.Equal(t, map[string]string{
			"path":   "a.txt",
			"before": "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4",
			"after":  "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437",
		}, noted)
	})

	t.Run("keeps the names of intents short", func(t *testing.T) {
		t.Parallel()
		b := setup(t, true)
		journal := tooltest.NewJournal()
		_, err := b.attempt(t, journal, "write_file", args{"path": strings.Repeat("long/", 100) + "a.txt", "content": "x"})
		require.NoError(t, err)
		for part := range journal.Intents() {
			require.Less(t, len(part), 250)
		}
	})
}

// changes are the calls whose replays are tested, and the file before and after.
var changes = []struct {
	name, tool    string
	args          args
	before, after string
}{
	{"write_file over a file", "write_file", args{"path": "a.txt", "content": "new"}, "old", "new"},
	{"write_file with the content it has", "write_file", args{"path": "a.txt", "content": "old"}, "old", "old"},
	{"edit_file", "edit_file", args{"path": "a.txt", "old_text": "old", "new_text": "new"}, "the old one", "the new one"},
	{"edit_file that could be done again", "edit_file", args{"path": "a.txt", "old_text": "old", "new_text": "older"}, "old", "older"},
}

func TestReplayAfterACrash(t *testing.T) {
	t.Parallel()
	for _, tt := range changes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			t.Run("before the intent was stored", func(t *testing.T) {
				t.Parallel()
				b, journal := setup(t, true), tooltest.NewJournal()
				b.write(t, "a.txt", tt.before)
				away := errors.New("the store is away")
				journal.FailNext(away, false)
				_, err := b.attempt(t, journal, tt.tool, tt.args)
				require.ErrorIs(t, err, tool.ErrRetry)
				require.ErrorIs(t, err, away)
				require.Equal(t, tt.before, b.content(t, "a.txt"))

				_, err = b.attempt(t, journal, tt.tool, tt.args)
				require.NoError(t, err)
				require.Equal(t, tt.after, b.content(t, "a.txt"))
			})

			t.Run("between the intent and the write", func(t *testing.T) {
				t.Parallel()
				b, journal := setup(t, true), tooltest.NewJournal()
				b.write(t, "a.txt", tt.before)
				journal.FailNext(errors.New("killed"), true)
				_, err := b.attempt(t, journal, tt.tool, tt.args)
				require.ErrorIs(t, err, tool.ErrRetry)
				require.Equal(t, tt.before, b.content(t, "a.txt"))

				_, err = b.attempt(t, journal, tt.tool, tt.args)
				require.NoError(t, err)
				require.Equal(t, tt.after, b.content(t, "a.txt"))
			})

			t.Run("between the write and the record of its result", func(t *testing.T) {
				t.Parallel()
				b, journal := setup(t, true), tooltest.NewJournal()
				path := b.write(t, "a.txt", tt.before)
				_, err := b.attempt(t, journal, tt.tool, tt.args)
				require.NoError(t, err)
				done, err := os.Stat(path)
				require.NoError(t, err)

				text, err := b.attempt(t, journal, tt.tool, tt.args)
				require.NoError(t, err)
				require.Contains(t, text, "earlier attempt")
				require.Equal(t, tt.after, b.content(t, "a.txt"))
				again, err := os.Stat(path)
				require.NoError(t, err)
				require.True(t, os.SameFile(done, again), "the file was written twice")
			})

			t.Run("and another process's change in between", func(t *testing.T) {
				t.Parallel()
				b, journal := setup(t, true), tooltest.NewJournal()
				b.write(t, "a.txt", tt.before)
				_, err := b.attempt(t, journal, tt.tool, tt.args)
				require.NoError(t, err)
				b.write(t, "a.txt", "old, by somebody else")

				_, err = b.attempt(t, journal, tt.tool, tt.args)
				require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
				require.Equal(t, "old, by somebody else", b.content(t, "a.txt"))
			})

			t.Run("and the removal of the file meanwhile", func(t *testing.T) {
				t.Parallel()
				b, journal := setup(t, true), tooltest.NewJournal()
				path := b.write(t, "a.txt", tt.before)
				_, err := b.attempt(t, journal, tt.tool, tt.args)
				require.NoError(t, err)
				require.NoError(t, os.Remove(path))

				_, err = b.attempt(t, journal, tt.tool, tt.args)
				require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
				require.Empty(t, b.names(t))
			})
		})
	}
}

func TestReplayOfCreatedFile(t *testing.T) {
	t.Parallel()
	b, journal := setup(t, true), tooltest.NewJournal()
	create := args{"path": "new/a.txt", "content": "hello"}
	journal.FailNext(errors.New("killed"), true)
	_, err := b.attempt(t, journal, "write_file", create)
	require.ErrorIs(t, err, tool.ErrRetry)
	require.Empty(t, b.names(t))
	for _, says := range []string{"wrote 5 bytes to new/a.txt", "wrote 5 bytes to new/a.txt (done by an earlier attempt of this call)"} {
		text, err := b.attempt(t, journal, "write_file", create)
		require.NoError(t, err)
		require.Equal(t, says, text)
	}
}

func TestRefusedChangeStaysRefused(t *testing.T) {
	t.Parallel()
	b, journal := setup(t, true), tooltest.NewJournal()
	b.write(t, "a.txt", "something")
	edit := args{"path": "a.txt", "old_text": "missing", "new_text": "new"}
	_, first := b.attempt(t, journal, "edit_file", edit)
	require.ErrorContains(t, first, "old_text was not found")
	b.write(t, "a.txt", "missing")
	_, second := b.attempt(t, journal, "edit_file", edit)
	require.EqualError(t, second, first.Error())
	require.Equal(t, "missing", b.content(t, "a.txt"))
}

func TestTemporaryFileOfCrashedAttemptIsReused(t *testing.T) {
	t.Parallel()
	b := setup(t, true)
	// The name is an implementation detail of the tool, learned here from a
	// write that cannot finish because its target became a directory.
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, ".holdfast-"+keyHash+".tmp"), 0o755))
	_, err := b.run(t, "write_file", args{"path": "a.txt", "content": "x"})
	require.Error(t, err, "the temporary file's name does not derive from the key")
	require.NoError(t, os.Remove(filepath.Join(b.dir, ".holdfast-"+keyHash+".tmp")))

	b.write(t, ".holdfast-"+keyHash+".tmp", "half of what an attempt wrote before it was killed")
	b.must(t, "write_file", args{"path": "a.txt", "content": "x"})
	require.Equal(t, "x", b.content(t, "a.txt"))
	require.Equal(t, []string{"a.txt"}, b.names(t))
}

// keyHash is the part of the temporary file's name that derives from "m1.1.0".
const keyHash = "919574f2f52eaa3df5d1"

func TestConcurrentAttemptsWriteOnce(t *testing.T) {
	t.Parallel()
	b, journal := setup(t, true), tooltest.NewJournal()
	content := strings.Repeat("all or nothing\n", 10_000)
	b.write(t, "a.txt", "old")
	stop, watched := make(chan struct{}), make(chan string, 1)
	go func() {
		defer close(watched)
		for {
			select {
			case <-stop:
				return
			default:
			}
			seen, err := os.ReadFile(filepath.Join(b.dir, "a.txt"))
			if err != nil || (string(seen) != "old" && string(seen) != content) {
				watched <- "a reader saw a file that was neither the old nor the new one"
				return
			}
		}
	}()

	errs := make([]error, 8)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for range 100 {
				_, errs[i] = b.attempt(t, journal, "write_file", args{"path": "a.txt", "content": content})
				if !errors.Is(errs[i], tool.ErrRetry) {
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	require.Empty(t, <-watched)
	require.Equal(t, content, b.content(t, "a.txt"))
	require.Equal(t, []string{"a.txt"}, b.names(t))
	for _, err := range errs {
		if err != nil {
			require.ErrorIs(t, err, tool.ErrRetry)
		}
	}
}
