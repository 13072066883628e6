package markdown_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "",
		"# Title\n\nsome **bold** and _thin_ `code`":   "Title\n\nsome bold and thin code",
		"- one\n- [x] two\n  1. three\n":               "• one\n• ☑ two\n  1. three",
		"> said\n> so":                                 "> said\n> so",
		"```go\nfunc main() {\n\tx()\n}\n```\nafter":   "func main() {\n\tx()\n}\n\nafter",
		"| a | b |\n|---|--:|\n| **1** | 2 |":          "a | b\n1 | 2",
		"[page](https://e.com) https://e.com <a@b.de>": "page (https://e.com) https://e.com a@b.de",
		"![plot](https://e.com/p.png)":                 "plot (https://e.com/p.png)",
		"a * b < c & d\\_e":                            "a * b < c & d_e",
		"one\n***\ntwo":                                "one\n\n──────────\n\ntwo",
	} {
		require.Equal(t, want, markdown.Plain(text), text)
	}
	long := strings.Repeat("**x** ", 3000)
	require.Equal(t, long, markdown.Plain(long), "what is too long to parse stays as it is")
}
