package memory_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

// The environment of a process that these tests start.
const (
	envWorkspace = "HOLDFAST_TEST_MEMORY"
	envVersions  = "HOLDFAST_TEST_VERSIONS"
	envName      = "HOLDFAST_TEST_NAME"
)

const rounds = 25

func TestConcurrentProcessesLoseNoUpdate(t *testing.T) {
	if name := os.Getenv(envName); name != "" {
		consolidate(t, name)
		return
	}
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "- first\n")
	var running sync.WaitGroup
	names := []string{"a", "b", "c"}
	for _, name := range names {
		running.Go(func() {
			if _, err := b.process(t, name); err != nil {
				t.Error(err)
			}
		})
	}
	running.Go(func() { b.tool(t) })
	running.Wait()

	text := b.content(t, facts)
	history := b.content(t, "memory/HISTORY.md")
	for i := range rounds {
		require.Equal(t, 1, strings.Count(text, fmt.Sprintf("- tool %d\n", i)))
		for _, name := range names {
			require.Equal(t, 1, strings.Count(text, fmt.Sprintf("- %s %d\n", name, i)))
			require.Equal(t, 1, strings.Count(history, fmt.Sprintf("[2026-03-04 15:06] %s %d\n<!-- %[1]s/%[2]d -->\n", name, i)))
		}
	}
	require.Equal(t, rounds*len(names), len(strings.Split(history, "\n\n")))
	require.True(t, b.versions.has(t, facts, text))
}

func TestConsolidationKeepsEditorChanges(t *testing.T) {
	if name := os.Getenv(envName); name != "" {
		consolidate(t, name)
		return
	}
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "- first\n")
	var mu sync.Mutex
	var hashes []string
	var running sync.WaitGroup
	for _, name := range []string{"a", "b"} {
		running.Go(func() {
			bases, err := b.process(t, name)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			hashes = append(hashes, bases...)
		})
	}
	done := make(chan struct{})
	go func() {
		running.Wait()
		close(done)
	}()
	overwritten := b.edit(t, done)

	require.Len(t, hashes, 2*rounds)
	bases := map[string]bool{}
	for _, hash := range hashes {
		require.False(t, bases[hash], "two writers of ours replaced the same version")
		bases[hash] = true
		require.FileExists(t, b.versions.file(facts, hash), "what was replaced can be had back")
	}
	t.Logf("the editor was overwritten %d times", len(overwritten))
	require.NotEmpty(t, overwritten, "the editor's versions were replaced now and then")
	for _, text := range overwritten {
		require.True(t, b.versions.has(t, facts, text), "what the editor wrote can be had back")
	}
}

// process runs [consolidate] in a separate process, and returns the hashes of
// the versions that it replaced.
func (b *bundle) process(t *testing.T, name string) ([]string, error) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), envWorkspace+"="+b.dir, envVersions+"="+b.versions.dir, envName+"="+name)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var bases []string
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if base, ok := strings.CutPrefix(lines.Text(), "replaced "); ok {
			bases = append(bases, base)
		}
	}
	return bases, errors.Join(lines.Err(), cmd.Wait())
}

// consolidate adds a line to the facts and an entry to the history, again and again.
func consolidate(t *testing.T, name string) {
	files, err := memory.New(memory.Options{
		Workspace: os.Getenv(envWorkspace), Versions: &versions{dir: os.Getenv(envVersions)},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	at := time.Date(2026, 3, 4, 15, 6, 0, 0, time.UTC)
	for i := range rounds {
		for {
			text, base, err := files.Read(ctx, memory.Scope{})
			require.NoError(t, err)
			err = files.Update(ctx, memory.Scope{}, base, fmt.Sprintf("%s\n- %s %d", text, name, i))
			if err == nil {
				fmt.Println("replaced", base)
				break
			}
			require.ErrorIs(t, err, memory.ErrChanged)
		}
		for range 2 {
			require.NoError(t, files.AppendHistory(ctx, memory.Scope{}, fmt.Sprintf("%s/%d", name, i), fmt.Sprintf("%s %d", name, i), at))
		}
	}
}

// tool writes as the agent's write_file does.
func (b *bundle) tool(t *testing.T) {
	for i := 0; i < rounds; {
		old, err := os.ReadFile(filepath.Join(b.dir, facts))
		if err == nil {
			err = b.files.Replace(t.Context(), facts, hashOf(string(old)), fmt.Appendf(old, "- tool %d\n", i))
		}
		switch {
		case err == nil:
			i++
		case !errors.Is(err, memory.ErrChanged):
			t.Error(err)
			return
		}
	}
}

// edit writes like an editor, without taking the lock, until done is closed.
// It returns its versions that others replaced.
func (b *bundle) edit(t *testing.T, done <-chan struct{}) (overwritten []string) {
	path := filepath.Join(b.dir, facts)
	mine := ""
	for i := 0; ; i++ {
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		if mine != "" && string(now) != mine {
			overwritten = append(overwritten, mine)
		}
		select {
		case <-done:
			return overwritten
		case <-time.After(time.Duration(i%3) * time.Millisecond):
		}
		mine = fmt.Sprintf("%s- editor %d\n", now, i)
		require.NoError(t, replaceFile(path, mine))
		<-time.After(time.Duration(i%11) * time.Millisecond)
	}
}

func replaceFile(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// during calls do once, when a version with that content is saved.
type during struct {
	*versions
	content string
	do      func() error
	once    sync.Once
}

func (d *during) SaveVersion(ctx context.Context, path, hash string, content []byte) error {
	err := d.versions.SaveVersion(ctx, path, hash, content)
	if string(content) == d.content {
		d.once.Do(func() { err = errors.Join(err, d.do()) })
	}
	return err
}

func TestConcurrentEditorChangeWins(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		old  string // empty: there is no file
		edit func(path string) error
		want string
	}{
		{"replaces the file", "old\n", func(path string) error { return replaceFile(path, "edited") }, "edited"},
		{"writes into the file", "old\n", func(path string) error { return os.WriteFile(path, []byte("edited"), 0o644) }, "edited"},
		{"empties the file", "old\n", func(path string) error { return os.Truncate(path, 0) }, ""},
		{"creates the file", "", func(path string) error { return os.WriteFile(path, []byte("edited"), 0o644) }, "edited"},
		{"puts a link there", "old\n", func(path string) error {
			return errors.Join(os.WriteFile(path+".target", []byte("edited"), 0o644), os.Remove(path), os.Symlink("MEMORY.md.target", path))
		}, "edited"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			path := filepath.Join(b.dir, facts)
			require.NoError(t, os.Mkdir(filepath.Dir(path), 0o755))
			base := ""
			if tt.old != "" {
				b.write(t, facts, tt.old)
				base = hashOf(tt.old)
			}
			files, err := memory.New(memory.Options{
				Workspace: b.dir,
				Versions:  &during{versions: b.versions, content: "new\n", do: func() error { return tt.edit(path) }},
			})
			require.NoError(t, err)
			require.ErrorIs(t, files.Update(t.Context(), memory.Scope{}, base, "new"), memory.ErrChanged)
			require.Equal(t, tt.want, b.content(t, facts))
			require.True(t, b.versions.has(t, facts, "new\n"))
			require.NotContains(t, b.names(t), ".MEMORY.md.holdfast")
		})
	}

	t.Run("removes the file", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.write(t, facts, "old")
		path := filepath.Join(b.dir, facts)
		files, err := memory.New(memory.Options{
			Workspace: b.dir, Versions: &during{versions: b.versions, content: "new\n", do: func() error { return os.Remove(path) }},
		})
		require.NoError(t, err)
		require.ErrorIs(t, files.Update(t.Context(), memory.Scope{}, hashOf("old"), "new"), memory.ErrChanged)
		require.NoFileExists(t, path)
	})
}
