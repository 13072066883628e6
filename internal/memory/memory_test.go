package memory_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

const facts = "memory/MEMORY.md"

func TestNewRequiresOptions(t *testing.T) {
	t.Parallel()
	_, err := memory.New(memory.Options{Workspace: t.TempDir()})
	require.Error(t, err)
	_, err = memory.New(memory.Options{Versions: &versions{}})
	require.Error(t, err)
}

func TestReadReturnsTextAndVersion(t *testing.T) {
	t.Parallel()
	b := setup(t)
	text, version, err := b.files.Read(t.Context(), memory.Scope{})
	require.NoError(t, err)
	require.Empty(t, text+version)

	raw := "\uFEFF# Facts\n\n- té\n"
	b.write(t, facts, raw)
	text, version, err = b.files.Read(t.Context(), memory.Scope{})
	require.NoError(t, err)
	require.Equal(t, "# Facts\n\n- té", text)
	require.Equal(t, hashOf(raw), version)
	require.True(t, b.versions.has(t, facts, raw), "what was seen can be had back")
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	b := setup(t)
	update := func(base, text string) error { return b.files.Update(t.Context(), memory.Scope{}, base, text) }

	require.NoError(t, update("", "one"))
	require.Equal(t, "one\n", b.content(t, facts))
	require.ErrorIs(t, update("", "two"), memory.ErrChanged)
	require.NoError(t, update(hashOf("one\n"), " two \n"))
	require.NoError(t, update(hashOf("one\n"), "two"), "done again it is no change")
	require.NoError(t, update(hashOf("two\n"), " \n"), "a blank text forgets nothing")
	require.Equal(t, "two\n", b.content(t, facts))

	b.write(t, facts, "edited")
	require.ErrorIs(t, update(hashOf("two\n"), "three"), memory.ErrChanged)
	require.Equal(t, "edited", b.content(t, facts))
	require.NoError(t, update("", "edited"), "the same text is written by nobody")
	require.Equal(t, "edited", b.content(t, facts))
	require.NoError(t, update(hashOf("edited"), "three"))

	for _, version := range []string{"one\n", "two\n", "edited", "three\n"} {
		require.True(t, b.versions.has(t, facts, version), version)
	}
	require.Equal(t, []string{".lock", "MEMORY.md"}, b.names(t), "nothing is left behind")
}

func TestUpdateIgnoresPlaceholders(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, said := range []string{"(empty)", "(Empty)\n", "empty", "<memory>\n(empty)\n</memory>", "<memory>\n</memory>", " \n"} {
		require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, "", said))
		require.NoFileExists(t, filepath.Join(b.dir, facts), said)
		_, update, err := memory.ParseAnswer(encode(t, map[string]string{"history_entry": "They said hello.", "memory_update": said}))
		require.NoError(t, err)
		require.Empty(t, update)
	}
	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, "", "- the (empty) bottle"))
	require.Equal(t, "- the (empty) bottle\n", b.content(t, facts))
	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("- the (empty) bottle\n"), "(empty)"))
	require.Equal(t, "- the (empty) bottle\n", b.content(t, facts), "to forget everything is left to people")
}

func TestUpdateLeavesUnusableFactsAlone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("- a fact\n", 8<<10)
	for name, c := range map[string]struct {
		raw  string
		want string
	}{
		"Latin-1":  {"- la t\xeate de M\xfcller\n", "save it as UTF-8"},
		"UTF-16":   {"-\x00 \x00t\x00\n\x00", "save it as UTF-8"},
		"too long": {long, "shorten it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.write(t, facts, c.raw)
			text, _, err := b.files.Read(t.Context(), memory.Scope{})
			require.ErrorIs(t, err, memory.ErrUnusable)
			require.ErrorContains(t, err, facts)
			require.ErrorContains(t, err, c.want)
			require.Empty(t, text)
			err = b.files.Update(t.Context(), memory.Scope{}, hashOf(c.raw), "something else")
			require.ErrorIs(t, err, memory.ErrUnusable)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.raw, b.content(t, facts), "it is as it was")
			shown, err := b.files.Prompt(memory.Scope{}, time.Now())
			require.NoError(t, err)
			require.Contains(t, shown, "## Long-term Memory\n\n-")
		})
	}
}

func TestUpdateKeepsFileMode(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "private")
	path := filepath.Join(b.dir, facts)
	require.NoError(t, os.Chmod(path, 0o600))
	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("private"), "still"))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func TestScopesHaveSeparateFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ana := memory.Scope{Kind: memory.Sender, Channel: "slack", ID: "T1/U2"}
	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, "", "shared"))
	require.NoError(t, b.files.Update(t.Context(), ana, "", "hers"))
	require.Equal(t, "shared\n", b.content(t, facts))
	require.Equal(t, "hers\n", b.content(t, "memory/sender-slack-T1-U2/MEMORY.md"))
	require.True(t, b.versions.has(t, "memory/sender-slack-T1-U2/MEMORY.md", "hers\n"))
	text, _, err := b.files.Read(t.Context(), ana)
	require.NoError(t, err)
	require.Equal(t, "hers", text)
}

func TestVersionsAreSavedBeforeReplacement(t *testing.T) {
	t.Parallel()
	away := errors.New("store away")
	for name, on := range map[string]string{"the old version": "old", "the new version": "new"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.write(t, facts, "old")
			b.versions.fail, b.versions.on = away, on
			require.ErrorIs(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("old"), "new"), away)
			require.Equal(t, "old", b.content(t, facts))
			require.ErrorIs(t, b.files.Replace(t.Context(), facts, hashOf("old"), []byte("new")), away)
			require.Equal(t, "old", b.content(t, facts))

			b.versions.fail = nil
			require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("old"), "new"))
			require.Equal(t, "new\n", b.content(t, facts))
		})
	}
}

func TestLeftoversOfKilledWriterAreSaved(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "now")
	b.write(t, "memory/.MEMORY.md.holdfast", "a version that nobody has read")
	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("now"), "next"))
	require.True(t, b.versions.has(t, facts, "a version that nobody has read"))
	require.Equal(t, []string{".lock", "MEMORY.md"}, b.names(t))
}

func TestNonFilesAreRefused(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	for name, make := range map[string]func(path string) error{
		"a link out":    func(path string) error { return os.Symlink(filepath.Join(outside, "secret"), path) },
		"a link inside": func(path string) error { return os.Symlink("other.md", path) },
		"a pipe":        func(path string) error { return syscall.Mkfifo(path, 0o644) },
		"a directory":   func(path string) error { return os.Mkdir(path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.write(t, "memory/other.md", "other")
			require.NoError(t, make(filepath.Join(b.dir, facts)))
			require.ErrorIs(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("other"), "new"), memory.ErrUnusable)
			_, _, err := b.files.Read(t.Context(), memory.Scope{})
			require.ErrorIs(t, err, memory.ErrUnusable, "no model is asked about what cannot be written")
			require.ErrorContains(t, err, facts)
			require.Equal(t, "other", b.content(t, "memory/other.md"))
			text, err := b.files.Prompt(memory.Scope{}, time.Now())
			require.NoError(t, err)
			require.Contains(t, text, "## Long-term Memory\n\n")
		})
	}
	require.NoFileExists(t, filepath.Join(outside, "secret"))
}

func TestMemoryFolderOutsideWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	b, outside := setup(t), t.TempDir()
	require.NoError(t, os.Symlink(outside, filepath.Join(b.dir, "memory")))
	require.ErrorIs(t, b.files.Update(t.Context(), memory.Scope{}, "", "text"), memory.ErrUnusable)
	require.ErrorIs(t, b.files.AppendHistory(t.Context(), memory.Scope{}, "id", "text", time.Now()), memory.ErrUnusable)
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestOversizedFileIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, facts, strings.Repeat("x", 16<<20+1))
	_, _, err := b.files.Read(t.Context(), memory.Scope{})
	require.ErrorContains(t, err, "larger than 16 MB")
	require.ErrorContains(t, b.files.Update(t.Context(), memory.Scope{}, "", "new"), "larger than 16 MB")
}

func TestReplaceAcceptsAnyMemoryFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, owned := range map[string]bool{
		facts: true, "./memory//sender-x/../MEMORY.md": true, "memory/2026-03-04.md": true, "memory/sender-x/History.MD": true,
		"memory": false, "memory.md": false, "memory/x.txt": false, "notes/MEMORY.md": false, "memory/../AGENTS.md": false, "../memory/MEMORY.md": false,
	} {
		require.Equal(t, owned, b.files.Owns(name), name)
		if !owned {
			require.Error(t, b.files.Replace(t.Context(), name, "", nil))
		}
	}
	note := "memory/sender-x/2026-03-04.md"
	require.NoError(t, b.files.Replace(t.Context(), note, "", []byte(" one\xff")))
	require.Equal(t, " one\xff", b.content(t, note))
	require.ErrorIs(t, b.files.Replace(t.Context(), note, "", []byte("two")), memory.ErrChanged)
	require.NoError(t, b.files.Replace(t.Context(), note, hashOf(" one\xff"), []byte(" one\xff \n")), "white space is a change")
	require.NoError(t, b.files.Replace(t.Context(), note, hashOf(" one\xff"), []byte(" one\xff \n")), "done again it is none")
	require.Equal(t, " one\xff \n", b.content(t, note))
	for _, version := range []string{" one\xff", " one\xff \n"} {
		require.True(t, b.versions.has(t, note, version))
	}
}

func TestWritersWaitForEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t)
	second, err := memory.New(memory.Options{Workspace: b.dir, Versions: b.versions})
	require.NoError(t, err)
	first, err := memory.New(memory.Options{Workspace: b.dir, Versions: &during{versions: b.versions, content: "first\n", do: func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		for _, err := range []error{
			second.Update(ctx, memory.Scope{}, "", "second"),
			second.Update(ctx, ana, "", "second"),
			second.Replace(ctx, "memory/2026-03-04.md", "", nil),
			second.AppendHistory(ctx, memory.Scope{}, "id", "entry", time.Now()),
		} {
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("it did not wait: %w", err)
			}
		}
		return nil
	}}})
	require.NoError(t, err)
	require.NoError(t, first.Update(t.Context(), memory.Scope{}, "", "first"))
	require.ErrorIs(t, second.Update(t.Context(), memory.Scope{}, "", "second"), memory.ErrChanged)
}

func TestRemovedLockFileIsRecreated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "old")
	first, err := memory.New(memory.Options{Workspace: b.dir, Versions: &during{versions: b.versions, content: "first\n", do: func() error {
		return errors.Join(os.Remove(filepath.Join(b.dir, "memory/.lock")),
			b.files.Update(t.Context(), memory.Scope{}, hashOf("old"), "second"))
	}}})
	require.NoError(t, err)
	require.ErrorIs(t, first.Update(t.Context(), memory.Scope{}, hashOf("old"), "first"), memory.ErrChanged)
	require.Equal(t, "second\n", b.content(t, facts))
}
