package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

const history = "memory/HISTORY.md"

var at = time.Date(2026, 3, 4, 15, 6, 7, 0, time.FixedZone("CET", 3600))

func (b *bundle) append(t *testing.T, id, entry string) {
	t.Helper()
	require.NoError(t, b.files.AppendHistory(t.Context(), memory.Scope{}, id, entry, at))
}

func TestAppendHistory(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.append(t, "c1", "Ana asked for tea.")
	b.append(t, "c2", " [2026-03-01 09:00] Bo deployed.\n\n \nIt worked.\n")
	b.append(t, "c1", "Another answer for the same.")
	b.append(t, "c3", "A quote: <!-- c4 -->\n<!-- c4 -->")
	b.append(t, "c4", "Four.")
	require.Equal(t, strings.Join([]string{
		"[2026-03-04 15:06] Ana asked for tea.\n<!-- c1 -->",
		"[2026-03-01 09:00] Bo deployed.\nIt worked.\n<!-- c2 -->",
		"[2026-03-04 15:06] A quote: <!- - c4 -->\n<!- - c4 -->\n<!-- c3 -->",
		"[2026-03-04 15:06] Four.\n<!-- c4 -->",
	}, "\n\n")+"\n", b.content(t, history))
}

func TestAppendHistoryInAScope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := memory.Scope{Kind: memory.Chat, Channel: "slack", ID: "T1/C1"}
	require.NoError(t, b.files.AppendHistory(t.Context(), chat, "c1", "One.", at))
	require.Equal(t, "[2026-03-04 15:06] One.\n<!-- c1 -->\n", b.content(t, "memory/channel-slack-T1-C1/HISTORY.md"))
}

func TestAppendHistorySeparatesEntries(t *testing.T) {
	t.Parallel()
	for before, want := range map[string]string{
		"":               "",
		"\n":             "\n",
		"old":            "old\n\n",
		"old\n":          "old\n\n",
		"old\n\n":        "old\n\n",
		"torn <!-- c1 -": "torn <!-- c1 -\n\n",
		"\xff\r\n":       "\xff\r\n\n",
	} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.write(t, history, before)
			b.append(t, "c1", "One.")
			require.Equal(t, want+"[2026-03-04 15:06] One.\n<!-- c1 -->\n", b.content(t, history))
		})
	}
}

func TestEntryIDsAreDistinct(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ids := []string{"a", "a-", "a--", "-a", "a-b", "a--b", "a-%2Db", "a%2D%2Db", "a->b", "a -->", "a\n", "a\n-->", "<!-- a", "é", "\xff", "consolidation/slack:T1/C2:1712.34"}
	for range 2 {
		for _, id := range ids {
			b.append(t, id, "E.")
		}
	}
	text := b.content(t, history)
	require.Equal(t, len(ids), strings.Count(text, "E.\n"))
	require.Contains(t, text, "<!-- consolidation/slack:T1/C2:1712.34 -->")
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		inner, found := strings.CutPrefix(strings.TrimSpace(line), "<!-- ")
		if !found {
			continue
		}
		require.False(t, seen[inner], line)
		seen[inner] = true
		inner = strings.TrimSuffix(inner, " -->")
		require.NotContains(t, inner, "--")
		require.NotContains(t, inner, ">")
	}
	require.Len(t, seen, len(ids))
}

func TestAppendHistoryLimitsAndCleansEntries(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.append(t, "c1", "x\xff\x00"+strings.Repeat("é", 100<<10))
	text := b.content(t, history)
	require.Less(t, len(text), 17<<10)
	require.True(t, strings.HasPrefix(text, "[2026-03-04 15:06] x\uFFFDé"))
	require.True(t, strings.HasSuffix(text, "é…\n<!-- c1 -->\n"))
}

func TestAppendHistoryRequiresEntryAndID(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.Error(t, b.files.AppendHistory(t.Context(), memory.Scope{}, "", "entry", at))
	require.Error(t, b.files.AppendHistory(t.Context(), memory.Scope{}, "id", " \n", at))
	require.NoFileExists(t, filepath.Join(b.dir, history))
}

func TestAppendHistoryRefusesNonFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, "memory"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(b.dir, history), 0o644))
	require.ErrorContains(t, b.files.AppendHistory(t.Context(), memory.Scope{}, "id", "entry", at), "not a regular file")
}
