package discord_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// deliver sends a message as Deliver does: again with the same key, or after a search if that
// has expired, until it is there.
func (b *bot) deliver(msg domain.Outbound, expired bool) {
	b.t.Helper()
	for claimed := false; ; {
		require.NoError(b.t, b.ctx.Err())
		if claimed && expired {
			b.Forget()
			found, err := b.channel.Find(b.ctx, msg)
			if err == nil && found.Posted {
				return
			}
			require.NoError(b.t, err)
		}
		if !claimed {
			msg.FirstClaimedAt = time.Now()
		}
		claimed = true
		if _, err := b.channel.Send(b.ctx, msg); err == nil {
			return
		} else if failed := remote.As(err); failed == nil || failed.Permanent() {
			require.NoError(b.t, err)
		}
	}
}

func TestLostAnswersDoubleNothing(t *testing.T) {
	t.Parallel()
	for name, expired := range map[string]bool{"while Discord knows the nonce": false, "after it has forgotten it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBot(t, settings{})
			asked := b.Say(discordtest.Ana, discordtest.General, "do something")
			for i := range 100 {
				msg := outgoing(fmt.Sprint("o", i), "done")
				msg.ReplyTo = asked.ID
				if i%10 == 0 {
					msg.File, msg.Content = "a.txt", []byte("hi")
				}
				b.LoseAnswers("POST", "/messages", 1)
				b.deliver(msg, expired)
			}
			require.Len(t, b.Ours(discordtest.General), 100)
		})
	}
}

func TestAReply(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	asked := b.Say(discordtest.Ana, discordtest.General, "do something")
	msg := outgoing("o1", "@everyone <@"+discordtest.Ana+"> <@&"+discordtest.BotRole+"> done: https://example.com")
	msg.ReplyTo = asked.ID
	b.send(msg)
	posted := b.Ours(discordtest.General)[0]
	require.Equal(t, asked.ID, posted.Reference.MessageID)
	require.False(t, posted.Pinged, "the model notifies nobody")
	require.Equal(t, 1<<2, posted.Flags|1<<2)
	body := b.Calls("POST", "/messages")[0].Body
	require.Contains(t, body, `"allowed_mentions":{"parse":[]}`)
	require.Contains(t, body, `"fail_if_not_exists":false`)
	require.Contains(t, body, `"enforce_nonce":true`)
	require.Regexp(t, `"nonce":"[0-9a-f]{25}"`, body)

	msg.ID, msg.Part = "o2", 2
	b.send(msg)
	require.Nil(t, b.Ours(discordtest.General)[1].Reference, "only the first part refers to it")
	msg.ID, msg.Part, msg.ReplyTo = "o3", 1, "1234567890"
	b.send(msg)
	require.Nil(t, b.Ours(discordtest.General)[2].Reference, "it was deleted")
	msg.ID, msg.ReplyTo = "o4", "command-77"
	b.send(msg)

	thread := b.OpenThread(discordtest.Ana, discordtest.General, "", "t")
	msg.ID, msg.Thread = "o5", thread
	b.send(msg)
	require.Len(t, b.Ours(thread), 1)
	direct := b.Direct(discordtest.Ana)
	b.send(domain.Outbound{ID: "o6", Chat: "@me/" + direct, Text: "psst", ReplyTo: b.Say(discordtest.Ana, direct, "hi").ID})
	require.Nil(t, b.Ours(direct)[0].Reference)
}

// long is an answer with 30,000 characters, code and a table.
func long() string {
	var text strings.Builder
	for i := 0; text.Len() < 30_000; i++ {
		fmt.Fprintf(&text, "## Part %d\n\n%s\n\n| a | b |\n|---|--:|\n| x%d | %d |\n\n```go\n%s```\n\n", i,
			strings.Repeat("Some words, and *more* of them. ", 12), i, i, strings.Repeat(fmt.Sprintf("fmt.Println(%d)\n", i), 20))
	}
	return text.String()
}

var fence = regexp.MustCompile("(?m)^```")

func TestALongAnswer(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{}, discordtest.Limited(5, 30*time.Millisecond))
	parts := b.channel.Split(long())
	require.Greater(t, len(parts), 14)
	for i, part := range parts {
		msg := outgoing(fmt.Sprint("o1.", i+1), part.Text)
		msg.Part = i + 1
		if part.File != "" {
			msg.File, msg.Content, msg.Text = part.File, []byte(part.Text), ""
		}
		b.send(msg)
	}
	posted := b.Ours(discordtest.General)
	require.Len(t, posted, len(parts))
	code := 0
	for _, m := range posted {
		require.LessOrEqual(t, len([]rune(m.Content)), 2000)
		require.Zero(t, len(fence.FindAllString(m.Content, -1))%2, "fences are whole:\n%s", m.Content)
		code += strings.Count(m.Content, "fmt.Println")
	}
	require.Equal(t, strings.Count(long(), "fmt.Println"), code)
	for _, call := range b.Calls("POST", "/messages") {
		require.Equal(t, 200, call.Status, "it waits before it is refused")
	}
	require.Equal(t, parts, b.channel.Split(long()))
}

func TestLongCodeIsAFile(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	parts := b.channel.Split("Here:\n\n```python\n" + strings.Repeat("print('a long line of code')\n", 200) + "```\n\nThat is it.")
	require.Len(t, parts, 3)
	require.Equal(t, "snippet-1.py", parts[1].File)
}

func TestTextIsShownAsDiscordKnowsIt(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"# Title\n\n#### Small\n\ntext":  "# Title\n\n**Small**\n\ntext",
		"![a cat](https://x.y/z.png)":    "[a cat](https://x.y/z.png)",
		"one\n\n---\n\ntwo":              "one\n\n──────────\n\ntwo",
		"- [x] done\n- [ ] open":         "- ☑ done\n- ☐ open",
		"```md\n#### as it is\n---\n```": "```md\n#### as it is\n---\n```",
	} {
		require.Equal(t, want, discord.Render(markdown))
	}
	require.Contains(t, discord.Render("| a | b |\n|---|---|\n| 1 | 2 |"), "```\n")
	require.Equal(t, `\<\@1\> \*b\* \[x\]\(y\)`, discord.Escape("<@1> *b* [x](y)"))
	cut := discord.Cut("```\n"+strings.Repeat("👍", 3000), 2000)
	require.LessOrEqual(t, chat.UTF16(cut), 2000)
	require.True(t, strings.HasSuffix(cut, "…\n```"))
}

func TestWhenAChatIsGone(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*bot){
		"deleted":          func(b *bot) { b.Remove(discordtest.General) },
		"no access":        func(b *bot) { b.Refuse(discordtest.General, "*", 50001) },
		"no right to post": func(b *bot) { b.Refuse(discordtest.General, "post", 50013) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBot(t, settings{})
			lose(b)
			_, err := b.channel.Send(b.ctx, outgoing("o1", "hi"))
			require.ErrorIs(t, err, channels.ErrGone)
			require.True(t, remote.As(err).Permanent())
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault discordtest.Fault
		check func(t *testing.T, err *remote.Error)
	}{
		"a limit": {discordtest.Fault{Status: 429, Wait: 7 * time.Second}, func(t *testing.T, err *remote.Error) {
			require.Equal(t, 7*time.Second, err.RetryAfter)
		}},
		"an error of Discord": {discordtest.Fault{Status: 502, Body: "<html>"}, func(t *testing.T, err *remote.Error) {
			require.False(t, err.Permanent())
		}},
		"a proxy": {discordtest.Fault{Status: 403, Body: "<html>blocked</html>"}, func(t *testing.T, err *remote.Error) {
			require.False(t, err.Permanent())
			require.False(t, errors.Is(err, channels.ErrGone))
		}},
		"a redirect": {discordtest.Fault{Status: 302, Body: "elsewhere"}, func(t *testing.T, err *remote.Error) {
			require.False(t, err.Permanent())
		}},
		"the token": {discordtest.Fault{Status: 401}, func(t *testing.T, err *remote.Error) {
			require.False(t, err.Permanent(), "replies wait until the operator has fixed it")
			require.ErrorContains(t, err, "channels.discord.token")
		}},
		"the content": {discordtest.Fault{Status: 400, Code: 50035}, func(t *testing.T, err *remote.Error) {
			require.True(t, err.Permanent())
			require.False(t, errors.Is(err, channels.ErrGone))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBot(t, settings{})
			test.fault.Times, test.fault.Method, test.fault.Path = 1, "POST", "/messages"
			b.Inject(test.fault)
			_, err := b.channel.Send(b.ctx, outgoing("o1", "hi"))
			require.NotContains(t, err.Error(), discordtest.Token)
			test.check(t, remote.As(err))
			require.Empty(t, b.Ours(discordtest.General))
		})
	}
}

func TestAGlobalLimitHoldsEveryCall(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.Inject(discordtest.Fault{Status: 429, Times: 1, Wait: time.Hour, Global: true})
	_, err := b.channel.Send(b.ctx, outgoing("o1", "hi"))
	require.Error(t, err)
	_, err = b.channel.Send(b.ctx, domain.Outbound{ID: "o2", Chat: "1/" + discordtest.Ops, Text: "hi"})
	require.Equal(t, 429, remote.As(err).Status)
	require.Len(t, b.Calls("POST", "/messages"), 1, "the second call was not made")
}

func TestTooManyInvalidCallsAreNotMade(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	b.Refuse(discordtest.General, "*", 50001)
	b.channel.Invalid(5_000)
	_, err := b.channel.Send(b.ctx, outgoing("o1", "hi"))
	require.Equal(t, 429, remote.As(err).Status)
	require.Empty(t, b.Calls("POST", "/messages"))
}

func TestEditsAndDeletes(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	at := chat.Place{Chat: generalChat}
	id, err := b.channel.Post(b.ctx, at, chat.Message{ID: "o1", Draft: true, Text: "half", Note: "runs *exec*"})
	require.NoError(t, err)
	require.Equal(t, "half\n-# runs \\*exec\\*", discord.Unmarked(b.Ours(discordtest.General)[0].Content))
	found, err := b.channel.Find(b.ctx, outgoing("o1", "whole"))
	require.NoError(t, err)
	require.Equal(t, channels.Found{PlatformID: id}, found, "a draft is not the message")
	for range 3 {
		require.NoError(t, b.channel.Edit(b.ctx, at, id, chat.Message{ID: "o1", Text: "whole"}))
	}
	found, err = b.channel.Find(b.ctx, outgoing("o1", "whole"))
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)
	other := b.Say(discordtest.Ana, discordtest.General, "mine").ID
	require.ErrorIs(t, b.channel.Edit(b.ctx, at, other, chat.Message{ID: "o1", Text: "x"}), chat.ErrNoMessage)
	for range 2 {
		require.NoError(t, b.channel.Delete(b.ctx, at, id))
	}
	require.ErrorIs(t, b.channel.Edit(b.ctx, at, id, chat.Message{ID: "o1", Text: "x"}), chat.ErrNoMessage)
	b.Remove(discordtest.General)
	require.NoError(t, b.channel.Delete(b.ctx, at, id))
}

func TestASentFile(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	msg := outgoing("o1", "The *report*:")
	msg.File, msg.Content = `we"ird näme.csv`, []byte("a,b\n")
	b.send(msg)
	posted := b.Ours(discordtest.General)[0]
	require.Equal(t, "The *report*:", discord.Unmarked(posted.Content))
	require.Equal(t, msg.Content, posted.Attachments[0].Content)
	require.Equal(t, msg.File, posted.Attachments[0].Filename)
	msg.ID, msg.Text, msg.Content = "o2", "", nil
	b.send(msg)
	require.Len(t, b.Ours(discordtest.General), 2)
}
