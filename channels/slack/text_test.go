package slack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

func TestReadable(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain", "hello", "hello"},
		{"nothing", "", ""},
		{"the mention it begins with", "<@U0BOT> hello", "hello"},
		{"with a label", " <@U0BOT|holdfast> hello", "hello"},
		{"with a colon", "<@U0BOT>: hello", "hello"},
		{"with a comma", "<@U0BOT>, hello", "hello"},
		{"and an emoji", "<@U0BOT> :wave: hello", ":wave: hello"},
		{"nothing but the mention", "<@U0BOT>", ""},
		{"only the first mention", "<@U0BOT> <@U0BOT> hello", "<@U0BOT> hello"},
		{"a mention within", "ask <@U0BOT> that", "ask <@U0BOT> that"},
		{"of somebody else first", "<@U0BOTTOM> hello", "<@U0BOTTOM> hello"},
		{"people lose their labels", "ask <@U1|ana>", "ask <@U1>"},
		{"a link with a label", "see <https://a.b/?x=1&amp;y=2|the page>", "see [the page](https://a.b/?x=1&y=2)"},
		{"a link without", "see <https://a.b/c>", "see https://a.b/c"},
		{"a link that Slack made", "see <http://a.b|a.b>", "see http://a.b"},
		{"mail", "<mailto:a@b.c|a@b.c> <mailto:a@b.c>", "a@b.c a@b.c"},
		{"phone", "<tel:+123|+1 23>", "+1 23"},
		{"channels", "in <#C1|general> or <#C2> or <#C3|>", "in #general or <#C2> or <#C3>"},
		{"groups", "<!subteam^S1|@team> <!subteam^S2>", "@team @S2"},
		{"everybody", "<!here> <!channel> <!everyone|everyone>", "@here @channel @everyone"},
		{"a date", "at <!date^1392734382^{date}|Feb 18>", "at Feb 18"},
		{"escapes", "a &lt;b&gt; &amp;amp; c &lt;@U1&gt;", "a <b> &amp; c <@U1>"},
		{"lone brackets", "a < b > c <", "a < b > c <"},
		{"control characters", "a\x00b\x07\tc\nd\u0085", "ab\tc\nd"},
		{"emoji and letters stay", "Grüße 👩‍👩‍👧 שלום", "Grüße 👩‍👩‍👧 שלום"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, slack.Readable(tt.text, "U0BOT"))
		})
	}
}

func FuzzReadable(f *testing.F) {
	f.Add("<@U0BOT>: see <https://a.b|x> &amp; <!date^1^{date}|then>")
	f.Add("<<@U0BOT>>|<#|>&lt;")
	f.Fuzz(func(t *testing.T, text string) {
		require.NotContains(t, slack.Readable(text, "U0BOT"), "\x00")
	})
}
