package discord_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// kept is what was saved, by name.
type kept map[string]string

func (k kept) save(name string, content io.Reader) (string, error) {
	data, err := io.ReadAll(content)
	k[name] = string(data)
	return "/media/" + name, err
}

func (b *bot) enrich(msg domain.Inbound) (channels.Enriched, kept) {
	b.t.Helper()
	saved := kept{}
	got, err := b.channel.Enrich(b.ctx, channels.Enrichment{Message: msg, Save: saved.save})
	require.NoError(b.t, err)
	return got, saved
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{FileLimit: 100})
	said := b.Say(discordtest.Ana, b.Direct(discordtest.Ana), "read these",
		discordtest.WithFile("a.txt", "text/plain; charset=utf-8", "one"), discordtest.WithFile("b.txt", "text/plain", "two"),
		discordtest.WithFile("big.txt", "text/plain", strings.Repeat("x", 101)))
	msg := b.accepted(1)
	got, saved := b.enrich(msg)
	require.Equal(t, kept{"a.txt": "one", "b.txt": "two"}, saved)
	require.Equal(t, "Ana", got.SenderName)
	require.Equal(t, []string{"big.txt (101 bytes) is larger than 100 bytes"}, got.Notes)

	b.Expire(said)
	_, saved = b.enrich(msg)
	require.Equal(t, kept{"a.txt": "one", "b.txt": "two"}, saved, "the message has new addresses")

	msg.Files[0].Size = 3
	said.Attachments[0].Content = []byte(strings.Repeat("x", 1000))
	got, _ = b.enrich(msg)
	require.Contains(t, got.Notes, "a.txt is larger than 100 bytes", "whatever was announced")

	require.NoError(t, b.channel.Delete(b.ctx, chat.Place{Chat: msg.Chat}, said.ID))
	got, _ = b.enrich(msg)
	require.Contains(t, got.Notes, "a.txt was deleted")
}

func TestFilesAreFetchedFromDiscordOnly(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	for _, address := range []string{
		"http://169.254.169.254/latest/meta-data", "https://evil.example/a.txt", "http://cdn.discordapp.com/a.txt", "https://cdn.discordapp.com.evil.example/a",
		"https://cdn.discordapp.com@evil.example/a", "file:///etc/passwd", "", "https://cdn.discordapp.com:8443/a",
	} {
		got, saved := b.enrich(domain.Inbound{Files: []domain.File{{Name: "a.txt", MIME: "text/plain", URL: address}}})
		require.Empty(t, saved, address)
		require.Equal(t, []string{"a.txt is not stored by Discord"}, got.Notes, address)
	}
}

func TestWhatWasSaidInAThreadBefore(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	starter := b.Say(discordtest.Bob, discordtest.General, "The build fails.")
	thread := b.OpenThread(discordtest.Bob, discordtest.General, starter.ID, "build")
	b.Say(discordtest.Bob, thread, "It is the linter.", discordtest.WithFile("log.txt", "text/plain", "x"))
	for i := range 150 {
		b.Say(discordtest.Bob, thread, fmt.Sprint("line ", i))
	}
	time.Sleep(tick) // a time is in milliseconds
	b.Say(discordtest.Ana, thread, discordtest.Mention+" fix it")
	got, _ := b.enrich(b.accepted(1))
	require.Len(t, got.Before, 50)
	require.Equal(t, "The build fails.", got.Before[0].Text)
	require.Equal(t, "Bob", got.Before[0].Name)
	require.True(t, got.Before[0].Stranger)
	require.Equal(t, "line 149", got.Before[49].Text)

	b.Refuse(discordtest.General, "read", 50001)
	b.Refuse(thread, "read", 50001)
	got, _ = b.enrich(b.accepted(1))
	require.Len(t, got.Notes, 1)
	require.Contains(t, got.Notes[0], "what was said in this thread before")
}

func TestDiscordIsAwayWhenAMessageIsRead(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	b.Say(discordtest.Ana, b.Direct(discordtest.Ana), "read this", discordtest.WithFile("a.txt", "text/plain", "one"))
	msg := b.accepted(1)
	b.Down()
	_, err := b.channel.Enrich(b.ctx, channels.Enrichment{Message: msg, Save: kept{}.save})
	require.False(t, remote.As(err).Permanent())
	b.Up()
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{AllowUsers: []string{discordtest.Ana}})
	for name, test := range map[string]struct {
		sender, to string
		want       string // of a chat, or of an error
	}{
		"a channel":                     {discordtest.Ana, "#general", generalChat},
		"its ID":                        {discordtest.Ana, discordtest.General, generalChat},
		"its whole ID":                  {discordtest.Ana, generalChat, generalChat},
		"as texts refer to it":          {discordtest.Ana, "<#" + discordtest.General + ">", generalChat},
		"none":                          {discordtest.Ana, "#nowhere", "the bot is not in a channel named nowhere"},
		"one that Ana cannot see":       {discordtest.Ana, "#secret", "the bot is not in a channel named secret"},
		"one that only the owner sees":  {discordtest.Owner, "#secret", discordtest.Guild + "/" + discordtest.Secret},
		"for somebody who is no member": {"999", "#general", "not in #general"},
		"a person":                      {discordtest.Ana, "@ana", "@me/" + "5" + discordtest.Ana[1:]},
		"a person's ID":                 {discordtest.Ana, "<@" + discordtest.Ana + ">", "@me/" + "5" + discordtest.Ana[1:]},
		"somebody else":                 {discordtest.Ana, "@Bob", "allow_users does not include " + discordtest.Bob},
		"nobody":                        {discordtest.Ana, "@zoe", "no one is called zoe"},
		"a bot":                         {discordtest.Ana, "@robot", "no one is called robot"},
		"a direct chat":                 {discordtest.Ana, "@me/123", "is a direct message"},
		"nothing":                       {discordtest.Ana, "", "neither a channel nor a person"},
	} {
		t.Run(name, func(t *testing.T) {
			chat, err := b.channel.Resolve(b.ctx, test.sender, test.to)
			if err != nil {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.Equal(t, test.want, chat)
		})
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	for in, want := range map[string]string{
		discordtest.General: generalChat, generalChat: generalChat, "@me/123": "@me/123", b.Direct(discordtest.Ana): "@me/" + b.Direct(discordtest.Ana),
	} {
		chat, err := b.channel.Locate(b.ctx, in, "")
		require.NoError(t, err)
		require.Equal(t, want, chat)
	}
	for _, in := range []string{"", "general", "#general", "x/123", "1/2/3", "-1", "123/"} {
		_, err := b.channel.Locate(b.ctx, in, "")
		require.ErrorAs(t, err, new(channels.MalformedError), in)
	}
	_, err := b.channel.Locate(b.ctx, generalChat, "a thread")
	require.ErrorContains(t, err, "thread")
}
