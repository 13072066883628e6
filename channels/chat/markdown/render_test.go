package markdown_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

func TestRender(t *testing.T) {
	t.Parallel()
	marks := markdown.Style{
		Bold: markdown.Around("*"), Italic: markdown.Around("_"), Strike: markdown.Around("~"), Code: markdown.Around("`"), Block: markdown.Fenced,
	}
	tests := []struct{ in, marked, plain string }{
		{"# A **title**", "*A title*", "A title"},
		{"**b** *i* ~~s~~ `c`", "*b* _i_ ~s~ `c`", "b i s c"},
		{"see [this](https://a.b/c) and <https://d.e>", "see this (https://a.b/c) and https://d.e", "see this (https://a.b/c) and https://d.e"},
		{"[](https://a.b)", "https://a.b", "https://a.b"},
		{"- one\n- two\n  - three", "• one\n• two\n  • three", "• one\n• two\n  • three"},
		{"3. one\n4. two", "3. one\n4. two", "3. one\n4. two"},
		{"> said\n> so", "> said\n> so", "> said\n> so"},
		{"```go\na ``` b\n```", "```\na `\u200b`\u200b` b\n```", "a ``` b"},
		{"| a | b |\n|---|---|\n| 1 | 2 |", "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```", "| a | b |\n|---|---|\n| 1 | 2 |"},
		{"a\n\nb", "a\n\nb", "a\n\nb"},
		{"- [x] done", "• ☑ done", "• ☑ done"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.marked, markdown.Render(tt.in, marks), tt.in)
		require.Equal(t, tt.plain, markdown.Render(tt.in, markdown.Style{}), tt.in)
	}
	long := strings.Repeat("**a** ", markdown.Limit)
	require.Equal(t, long, markdown.Render(long, marks))
}
