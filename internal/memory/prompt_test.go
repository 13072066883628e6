package memory_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

var ana = memory.Scope{Kind: memory.Sender, Channel: "slack", ID: "T1/U2"}

func TestPrompt(t *testing.T) {
	t.Parallel()
	const own = "\n\n### Only for this person\n\nThis is memory/sender-slack-T1-U2/MEMORY.md. What concerns only this person belongs there, what concerns everybody into memory/MEMORY.md."
	shared, hers, notes := "shared \xff\n", "hers\n", "\uFEFFrain\n"
	tests := []struct {
		name  string
		files map[string]string
		scope memory.Scope
		want  string
	}{
		{"nothing", nil, memory.Scope{}, ""},
		{"facts only", map[string]string{facts: shared}, memory.Scope{}, "## Long-term Memory\n\nshared \uFFFD"},
		{"notes only", map[string]string{facts: " \n", "memory/2026-03-04.md": notes}, memory.Scope{}, "## Today's Notes\n\nrain"},
		{
			"the workspace's does not see a person's",
			map[string]string{facts: shared, "memory/sender-slack-T1-U2/MEMORY.md": hers, "memory/2026-03-03.md": "yesterday"},
			memory.Scope{},
			"## Long-term Memory\n\nshared \uFFFD",
		},
		{
			"a person's beside the shared one",
			map[string]string{facts: shared, "memory/sender-slack-T1-U2/MEMORY.md": hers, "memory/2026-03-04.md": notes},
			ana, "## Long-term Memory\n\nshared \uFFFD" + own + "\n\nhers\n\n## Today's Notes\n\nrain",
		},
		{"a person's that is empty", nil, ana, "## Long-term Memory\n\n" + strings.TrimSpace(own)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for name, text := range tt.files {
				b.write(t, name, text)
			}
			text, err := b.files.Prompt(tt.scope, at)
			require.NoError(t, err)
			require.Equal(t, tt.want, text)
		})
	}
}

func TestPromptTruncatesFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "x"+strings.Repeat("é", 100<<10))
	text, err := b.files.Prompt(memory.Scope{}, at)
	require.NoError(t, err)
	require.Less(t, len(text), 65<<10)
	require.True(t, strings.HasSuffix(text, "é\n\n… (cut: the first 64 KB of memory/MEMORY.md)"), text[len(text)-60:])
}

func TestPromptRequiresWorkspace(t *testing.T) {
	t.Parallel()
	files, err := memory.New(memory.Options{Workspace: filepath.Join(t.TempDir(), "none"), Versions: &versions{}})
	require.NoError(t, err)
	_, err = files.Prompt(memory.Scope{}, at)
	require.ErrorContains(t, err, "open workspace")
}
