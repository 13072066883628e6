package slack_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

// zw is what keeps a call of everybody from being one.
const zw = "\u200b"

func TestMarkdown(t *testing.T) {
	t.Parallel()
	same := "\x00" // the block has the text as it is
	tests := []struct{ name, text, mrkdwn, block string }{
		{"plain", "hello", "hello", same},
		{"emphasis", "**b** __b__ *i* _i_ ***both*** ~~s~~", "*b* *b* _i_ _i_ _*both*_ ~s~", same},
		{"emphasis over lines", "**one\ntwo** x", "*one*\n*two* x", same},
		{"code", "run `a < b && c`", "run `a &lt; b &amp;&amp; c`", same},
		{"code with backticks", "``a`b``", "`aˋb`", same},
		{"a heading is bold once", "# The **big** `one`", "*The big `one`*", same},
		{"escapes", `\*no\* &amp; &lt;x&gt; a\_b`, "*no* &amp; &lt;x&gt; a_b", same},
		{"paragraphs and breaks", "one\ntwo  \nthree\n\nfour", "one\ntwo\nthree\n\nfour", same},
		{"links", "[l](https://a.b/?x=1&y=2) https://c.d/e_f", "<https://a.b/?x=1&amp;y=2|l> <https://c.d/e_f>", same},
		{"auto links", "<https://a.b> <a@b.c>", "<https://a.b> a@b.c", "https://a.b a@b.c"},
		{"a relative link", "[l](./a.go)", "l (./a.go)", same},
		{"an image", "![alt](https://a.b/c.png)", "<https://a.b/c.png|alt>", same},
		{"a link that is a mention", "[x](!channel) [x](<!channel>)", "x (!channel) x (!channel)", "[x](!channel) [x](&lt;!channel>)"},
		{"a link with a bar", "<https://evil.example|good.example>", "<https://evil.example%7Cgood.example|https://evil.example¦good.example>", "&lt;https://evil.example|good.example>"},
		{"lists", "- a\n  - b\n    1. c\n    2. d\n- e", "• a\n    • b\n        1. c\n        2. d\n• e", same},
		{"a loose list", "3. a\n\n   b\n4. c", "3. a\n\n    b\n\n4. c", same},
		{"a task list", "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b", "- ☐ a\n- ☑ b"},
		{"a quote", "> a\n> b\n>\n> - c", "> a\n> b\n>\n> • c", same},
		{"a rule", "a\n\n---\n\nb", "a\n\n──────────\n\nb", same},
		{"a code block", "x\n\n```go\nif a < b {\n}\n```", "x\n\n```\nif a &lt; b {\n}\n```", same},
		{"an indented code block", "x\n\n    a <b>", "x\n\n```\na &lt;b&gt;\n```", same},
		{"code that ends its fence", "~~~\n```\n~~~", "```\n`" + zw + "`" + zw + "`\n```", same},
		{"an open fence", "```\na", "```\na\n```", same},
		{"HTML", "a <b>c</b> <br>", "a &lt;b&gt;c&lt;/b&gt; &lt;br&gt;", "a &lt;b>c&lt;/b> &lt;br>"},
		{"an HTML block", "<div>\na & b\n</div>", "&lt;div&gt;\na &amp; b\n&lt;/div&gt;", "&lt;div>\na & b\n&lt;/div>"},
		{"comparisons", "a < b > c", "a &lt; b &gt; c", "a &lt; b > c"},
		{"mentions of one", "<@U123> in <#C123>, not <@U1|x> <@abc>", "<@U123> in <#C123>, not &lt;@U1|x&gt; &lt;@abc&gt;", "<@U123> in <#C123>, not &lt;@U1|x> &lt;@abc>"},
		{"mentions of all", "<!channel> <!here|x> <!subteam^S1>", "&lt;!channel&gt; &lt;!here|x&gt; &lt;!subteam^S1&gt;", "&lt;!channel> &lt;!here|x> &lt;!subteam^S1>"},
		{"escaped mentions of all", `\<!channel> &lt;!here&gt;`, "&lt;!channel&gt; &lt;!here&gt;", "&lt;!channel> &lt;!here&gt;"},
		{"mentions of all in words", "@channel, @Here! (@everyone) a@here.b @hereby", "@" + zw + "channel, @" + zw + "Here! (@" + zw + "everyone) a@here.b @hereby", "@" + zw + "channel, @" + zw + "Here! (@" + zw + "everyone) a@here.b @hereby"},
		{"mentions of all in code", "`<!channel> @here`", "`&lt;!channel&gt; @here`", "`<" + zw + "!channel> @here`"},
		{"mentions of all in a code block", "```\n<!channel>\n```", "```\n&lt;!channel&gt;\n```", "```\n<" + zw + "!channel>\n```"},
		{
			"a table", "before\n\n| a | b | c |\n|:--|--:|:-:|\n| **1** | 22222 | [x](http://a) |\n| long cell | 3 | 日本 |\n\nafter",
			"before\n\n```\n| a         |     b |  c   |\n|-----------|-------|------|\n| 1         | 22222 |  x   |\n| long cell |     3 | 日本 |\n```\n\nafter",
			"before\n\n```\n| a         |     b |  c   |\n|-----------|-------|------|\n| 1         | 22222 |  x   |\n| long cell |     3 | 日本 |\n```\n\nafter",
		},
		{
			"a table without edges, and rows of other lengths", "a | b\n--|--\n1\n1 | 2 | 3",
			"```\n| a | b |\n|---|---|\n| 1 |   |\n| 1 | 2 |\n```", "```\n| a | b |\n|---|---|\n| 1 |   |\n| 1 | 2 |\n```",
		},
		{
			"tables in a list and a quote", "- x\n\n  | a |\n  |---|\n  | 1<br>2 |\n- | h |\n  |---|\n\n> | a |\n> |---|\n> | ``` |",
			"• x\n    ```\n    | a   |\n    |-----|\n    | 1 2 |\n    ```\n• ```\n    | h |\n    |---|\n    ```\n\n> ```\n> | a   |\n> |-----|\n> | `" + zw + "`" + zw + "` |\n> ```",
			"- x\n\n  ```\n  | a   |\n  |-----|\n  | 1 2 |\n  ```\n- ```\n  | h |\n  |---|\n  ```\n\n> ```\n> | a   |\n> |-----|\n> | `" + zw + "`" + zw + "` |\n> ```",
		},
		{"mentions in a table", "| a |\n|---|\n| <!here> |", "```\n| a       |\n|---------|\n| &lt;!here&gt; |\n```", "```\n| a       |\n|---------|\n| <" + zw + "!here> |\n```"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.mrkdwn, slack.Mrkdwn(tt.text))
			if tt.block == same {
				tt.block = tt.text
			}
			require.Equal(t, tt.block, slack.BlockText(tt.text))
		})
	}
}

func TestLongMarkdownIsCut(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat("words ", 5000), strings.Repeat("<", 5000), strings.Repeat("[l](https://a.b) ", 2000),
		"```\n" + strings.Repeat("code\n", 5000) + "```", strings.Repeat("é", 20000),
	} {
		fallback, block := slack.Mrkdwn(text), slack.BlockText(text)
		require.LessOrEqual(t, utf8.RuneCountInString(fallback), 4000)
		require.LessOrEqual(t, utf8.RuneCountInString(block), 12_000)
		require.Contains(t, fallback, "…")
		require.Zero(t, strings.Count(fallback, "```")%2)
		require.Equal(t, strings.Count(fallback, "<"), strings.Count(fallback, ">"))
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# a\n\n| a | b |\n|---|---|\n| <!here> | `x` |\n\n- [ ] <@U123> @here\n\n```go\n<!channel>\n```")
	f.Add("> - | a |\n>   |---|\n> 1. [x](<!channel>) <https://a|b>\n\n[r]: <!here>")
	f.Add("\\<!here> `<!here> ``<!here>\n~~~\n<!everyone>")
	f.Fuzz(func(t *testing.T, text string) {
		for _, out := range []string{slack.Mrkdwn(text), slack.BlockText(text)} {
			require.NotContains(t, out, "<!")
			require.LessOrEqual(t, utf8.RuneCountInString(out), 12_000)
		}
	})
}
