package markdown_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

func TestCutTables(t *testing.T) {
	t.Parallel()
	const table = "| a | b |\n|---|---|\n| 1 | 2 |"
	tests := []struct {
		name, text string
		n          int
		want       []string
	}{
		{"no table", "one\n\ntwo", 1, []string{"one\n\ntwo"}},
		{"as many as there may be", table + "\n\n" + table, 2, []string{table + "\n\n" + table}},
		{"before the second", "one\n\n" + table + "\n\ntwo\n\n" + table + "\n\nthree", 1, []string{"one\n\n" + table + "\n\ntwo", table + "\n\nthree"}},
		{"with its heading", table + "\n\n## Two\n\n" + table, 1, []string{table, "## Two\n\n" + table}},
		{"each", table + "\n\n" + table + "\n\n" + table, 1, []string{table, table, table}},
		{"in code", "```\n" + table + "\n```\n\n" + table, 1, []string{"```\n" + table + "\n```\n\n" + table}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, markdown.CutTables(tt.text, tt.n))
		})
	}
	long := strings.Repeat("A sentence.\n\n", 2*markdown.Limit/13)
	require.Len(t, markdown.CutTables(long, 1), 2)
	require.Empty(t, markdown.CutTables("", 1))
}
