//go:build peers

package discord_test

import (
	"bufio"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// twin is a Discord that somebody else wrote.
type twin struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader

	URL, Token, User, Channel, Guild, Bot string
}

func startTwin(t *testing.T) *twin {
	t.Helper()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	cmd := exec.CommandContext(t.Context(), "node", "testdata/twin.mjs")
	cmd.Env = append(os.Environ(), "TWIN="+filepath.Join(dir, "twin", "node_modules", "discord-digital-twin", "dist", "index.js"))
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	s := &twin{t: t, in: in, out: bufio.NewReader(out)}
	s.read(s)
	return s
}

// ask gives the twin a command and decodes its answer.
func (s *twin) ask(answer any, command map[string]string) {
	s.t.Helper()
	require.NoError(s.t, json.NewEncoder(s.in).Encode(command))
	s.read(answer)
}

func (s *twin) read(answer any) {
	s.t.Helper()
	for {
		line, err := s.out.ReadBytes('\n')
		require.NoError(s.t, err)
		if line[0] == '{' { // else it is a note
			require.NoError(s.t, json.Unmarshal(line, answer))
			return
		}
	}
}

// posted is a message of the bot.
type posted struct{ ID, Content string }

func (s *twin) posted() []posted {
	var answer struct{ Messages []posted }
	s.ask(&answer, map[string]string{"op": "messages"})
	return answer.Messages
}

func TestPeerTwin(t *testing.T) {
	t.Parallel()
	s := startTwin(t)
	o := discord.Options{Token: s.Token, APIURL: strings.TrimSuffix(s.URL, "/v10") + "/v10", Reactions: true}
	o.Users, o.Chats, o.Respond = []string{s.User}, []string{channels.Anyone}, chat.RespondMention
	b := &bot{t: t, backend: channeltest.NewBackend(nil), log: &logbook{}, ctx: t.Context()}
	o.Logger = slog.New(slog.NewTextHandler(b.log, nil))
	channel, err := discord.New(o)
	require.NoError(t, err)
	b.channel = channel
	channel.Hasten(time.Millisecond)
	b.run()
	at := s.Guild + "/" + s.Channel

	var said posted
	require.Eventually(t, func() bool { // it is not said when the bot is connected
		s.ask(&said, map[string]string{"op": "say", "text": "<@" + s.Bot + "> hello"})
		return len(b.backend.Accepted()) > 0
	}, deadline, 100*time.Millisecond, "%v", b.log)
	got := b.accepted(1)
	require.Equal(t, "hello", got.Text)
	require.Equal(t, at, got.Chat)
	require.Equal(t, s.User, got.Sender)

	reply := domain.Outbound{ID: "o1", Chat: at, Text: "**hi** there", ReplyTo: said.ID}
	found, err := channel.Find(t.Context(), reply)
	require.NoError(t, err)
	require.False(t, found.Posted)
	sent, err := channel.Send(t.Context(), reply)
	require.NoError(t, err)
	found, err = channel.Find(t.Context(), reply)
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: sent.PlatformID}, found)
	require.NoError(t, channel.Edit(t.Context(), chat.Place{Chat: at}, sent.PlatformID, chat.Message{ID: "o1", Text: "changed"}))
	require.Equal(t, "changed", discord.Unmarked(s.posted()[0].Content))

	before := len(b.backend.Accepted())
	question, err := channel.Send(t.Context(), domain.Outbound{ID: "o2", Chat: at, Text: "May I?", Approval: approval})
	require.NoError(t, err)
	var clicked posted
	s.ask(&clicked, map[string]string{"op": "click", "message": question.PlatformID, "id": "holdfast:approve:" + approval})
	require.Equal(t, "/approve "+approval, b.accepted(before+1).Text)
	s.ask(&clicked, map[string]string{"op": "command", "text": "status"})
	require.Equal(t, "/status", b.accepted(before+2).Text)
	require.NoError(t, channel.Delete(t.Context(), chat.Place{Chat: at}, sent.PlatformID))
	require.NotContains(t, s.posted(), posted{sent.PlatformID, "changed"})
}
