//go:build peers

package telegramtest_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// TestPeerLibraries has bots that other people's libraries make use the server: what they
// need works, and what it says they understand.
func TestPeerLibraries(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	for library, command := range map[string][]string{
		"grammy":              {"node", "testdata/bot.js", "grammy"},
		"telegraf":            {"node", "testdata/bot.js", "telegraf"},
		"python-telegram-bot": {"python3", "-W", "ignore", "testdata/bot.py"},
	} {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			s := telegramtest.Start(t)
			cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], s.URL(), telegramtest.Token)...)
			cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "PYTHONPATH="+filepath.Join(dir, "usr/lib/python3/dist-packages"))
			cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
			require.NoError(t, cmd.Start())
			t.Cleanup(func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			})
			peer(t, s)
		})
	}
}

func peer(t *testing.T, s *telegramtest.Server) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	posted := func(n int) telegramtest.Message {
		t.Helper()
		require.NoError(t, s.Await(ctx, func() bool { return len(s.Posted(telegramtest.Ana)) >= n }))
		return s.Posted(telegramtest.Ana)[n-1]
	}
	s.Say(telegramtest.Ana, telegramtest.Ana, "/start")
	welcome := posted(1)
	require.Equal(t, "Welcome & hello", welcome.Text)
	require.Equal(t, []telegramtest.Entity{{Type: "bold", Length: 7}}, welcome.Entities)

	click, err := s.Press(telegramtest.Ana, telegramtest.Ana, welcome.ID, "More")
	require.NoError(t, err)
	require.NoError(t, s.Await(ctx, func() bool { return s.Posted(telegramtest.Ana)[0].Text == "more of more" }))
	require.Equal(t, "here you are", s.ClickOf(click.ID).Answer)
	require.Empty(t, s.Posted(telegramtest.Ana)[0].Buttons())

	asked := s.Say(telegramtest.Ana, telegramtest.Ana, "Grüße 🦆")
	require.Equal(t, "echo: Grüße 🦆", posted(2).Text)
	require.Equal(t, asked.Message.ID, posted(2).ReplyTo.ID)

	content := []byte("a,b\n\x00\xff\n")
	s.Say(telegramtest.Ana, telegramtest.Ana, "the data", telegramtest.WithDocument("a.csv", "text/csv", content))
	again := posted(3)
	require.Equal(t, "again-a.csv", again.Document.Name)
	require.Equal(t, "the data", again.Caption)
	require.Equal(t, content, s.FileOf(again.Document.ID).Content)

	// Each polls again after an error, and confirms what it got.
	s.Fail("getUpdates", 1, telegramtest.Fault{Status: http.StatusBadGateway})
	s.TooMany("getUpdates", 1, 1)
	last := s.Say(telegramtest.Ana, telegramtest.Ana, "still here?")
	require.Equal(t, "echo: still here?", posted(4).Text)
	require.NoError(t, last.Wait(ctx))
}
