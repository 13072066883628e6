package markdown_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

func TestHTML(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"one\ntwo **b** `c < d`", "<p>one<br>\ntwo <strong>b</strong> <code>c &lt; d</code></p>\n"},
		{"a List<String> & <b>x</b>", "<p>a List&lt;String&gt; &amp; &lt;b&gt;x&lt;/b&gt;</p>\n"},
		{"<script>\nrun()\n</script>\n\nafter", "<p>&lt;script&gt;<br>\nrun()<br>\n&lt;/script&gt;</p>\n<p>after</p>\n"},
		{"<div>\nx\n</div>", "<p>&lt;div&gt;<br>\nx<br>\n&lt;/div&gt;</p>\n"},
		{"![a \"plot\"](https://example.com/p.png?a=1&b=2)", "<p><a href=\"https://example.com/p.png?a=1&amp;b=2\">a &quot;plot&quot;</a></p>\n"},
		{"![x](javascript:run) [y](javascript:run)", "<p>x <a href=\"\">y</a></p>\n"},
		{"- [x] done\n- [ ] open", "<ul>\n<li>☑ done</li>\n<li>☐ open</li>\n</ul>\n"},
		{"| a | b |\n|---|---|\n| 1 | 2 |", "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td>2</td>\n</tr>\n</tbody>\n</table>\n"},
	} {
		require.Equal(t, tt.want, markdown.HTML(tt.in), tt.in)
	}
}
