package telegram_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"plain & <simple> \"text\"":                 "plain &amp; &lt;simple&gt; &quot;text&quot;",
		"**bold *and italic*** ~~gone~~":            "<b>bold <i>and italic</i></b> <s>gone</s>",
		"# A *title*\ntext":                         "<b>A <i>title</i></b>\n\ntext",
		"`a < b`":                                   "<code>a &lt; b</code>",
		"```go\na := \"<b>\"\n```":                  "<pre><code class=\"language-go\">a := &quot;&lt;b&gt;&quot;</code></pre>",
		"```\nplain\n```":                           "<pre>plain</pre>",
		"    indented":                              "<pre>indented</pre>",
		"[a & b](https://a.example/?x=1&y=\"2\")":   "<a href=\"https://a.example/?x=1&amp;y=&quot;2&quot;\">a &amp; b</a>",
		"[here](docs/a.md)":                         "here (docs/a.md)",
		"[x](javascript:alert(1))":                  "x (javascript:alert(1))",
		"https://a.example":                         "<a href=\"https://a.example\">https://a.example</a>",
		"![a cat](https://a.example/cat.png)":       "<a href=\"https://a.example/cat.png\">a cat</a>",
		"- one\n- two\n  - three":                   "• one\n• two\n    • three",
		"2. one\n3. two":                            "2. one\n3. two",
		"- [x] done\n- [ ] open":                    "• ☑ done\n• ☐ open",
		"> said\n> > by another":                    "<blockquote>said\n\nby another</blockquote>",
		"a\n\n---\n\nb":                             "a\n\n──────────\n\nb",
		"| a | b |\n|---|--:|\n| **x** | <1> |":     "<pre>| a |   b |\n|---|-----|\n| x | &lt;1&gt; |</pre>",
		"<b>not ours</b>\n\n<div>\nneither\n</div>": "&lt;b&gt;not ours&lt;/b&gt;\n\n&lt;div&gt;\nneither\n&lt;/div&gt;",
		"line\nbreak":                               "line\nbreak",
	} {
		require.Equal(t, want, telegram.Render(markdown), markdown)
	}
}

// FuzzHTML checks that Telegram understands all that is written, and that its length is known.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{"**a** `b` ~~c~~", "```go\n<&>\n```\n> a\n> > b", "| a |\n|---|\n| [b](https://c) |", "[a](<b \"c\">)", long()[:3000]} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, markdown string) {
		rendered := telegram.Render(markdown)
		text, err := telegramtest.Text(rendered)
		require.NoError(t, err)
		require.Equal(t, text, telegram.PlainOf(rendered))
		require.Equal(t, telegramtest.Units(text), telegram.Width(markdown))
		for _, m := range []chat.Message{{Text: markdown}, {Text: markdown, Note: "runs exec: <go test>"}, {Text: markdown, Note: "x", Draft: true}} {
			formatted, plain := telegram.Content(m)
			text, err := telegramtest.Text(formatted)
			require.NoError(t, err)
			require.LessOrEqual(t, telegramtest.Units(text), 4096)
			require.LessOrEqual(t, telegramtest.Units(plain), 4096)
		}
	})
}

func TestWhatHasNoTextIsSentAsItIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"[a]: http://b": "[a]: http://b", " ": "…", "": "…"} {
		_, plain := telegram.Content(chat.Message{Text: text})
		require.Equal(t, want, plain)
	}
	_, plain := telegram.Content(chat.Message{Note: "is thinking…"})
	require.Equal(t, "is thinking…", plain)
}

func TestWhatIsTooLongIsCut(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("🦆", 3000) + " end"
	_, draft := telegram.Content(chat.Message{Text: text, Draft: true, Note: "runs exec"})
	require.True(t, strings.HasPrefix(draft, "…🦆"))
	require.True(t, strings.HasSuffix(draft, " end\n\nruns exec"))
	require.Greater(t, telegramtest.Units(draft), 4090)
	_, question := telegram.Content(chat.Message{Text: text, Note: "Approved"})
	require.True(t, strings.HasPrefix(question, "🦆"))
	require.True(t, strings.HasSuffix(question, "🦆…\n\nApproved"))
}
