//go:build peers

package slack_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// emulated is a Slack by somebody else, who takes the token from the header only and
// knows scopes.
type emulated struct {
	url     string
	channel *slack.Channel
}

const (
	emulatedToken = "xoxb-1-emulated"
	emulatedSeed  = `slack:
  strict_scopes: true
  users:
    - {name: ana, real_name: Ana Souza}
  channels:
    - {name: ops}
  tokens:
    - token: ` + emulatedToken + `
      type: bot
      user: ana
      scopes: [SCOPES]
`
)

func startEmulate(t *testing.T, scopes string) emulated {
	t.Helper()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())

	base := "http://127.0.0.1:" + port
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(seed, []byte(strings.Replace(emulatedSeed, "SCOPES", scopes, 1)), 0o600))
	bin := filepath.Join(dir, "node_modules", ".bin")
	cmd := exec.Command(filepath.Join(bin, "node"), filepath.Join(bin, "emulate"),
		"start", "--service", "slack", "--port", port, "--base-url", base, "--seed", seed)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	c, err := slack.New(slack.Options{BotToken: emulatedToken, APIURL: base + "/api", FileLimit: 1 << 20, Respond: chat.RespondMention})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := c.Identify(t.Context())
		return err == nil
	}, receivingDeadline, 50*time.Millisecond)
	return emulated{url: base, channel: c}
}

// ask makes a call as nobody of ours would.
func (e emulated) ask(t *testing.T, method string, arguments url.Values, answer any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.url+"/api/"+method, strings.NewReader(arguments.Encode()))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+emulatedToken)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.NoError(t, json.NewDecoder(response.Body).Decode(answer))
}

// ops is the ID of the channel of that name.
func (e emulated) ops(t *testing.T) string {
	t.Helper()
	var list struct{ Channels []struct{ ID, Name string } }
	e.ask(t, "conversations.list", url.Values{}, &list)
	for _, c := range list.Channels {
		if c.Name == "ops" {
			return c.ID
		}
	}
	require.Fail(t, "no channel")
	return ""
}

type emulatedMessage struct {
	TS, Text string
	Blocks   []struct{ Type, Text string }
	Metadata struct {
		Type    string            `json:"event_type"`
		Payload map[string]string `json:"event_payload"`
	}
	Files []struct{ Name, Title string }
}

func (e emulated) thread(t *testing.T, channel, ts string) []emulatedMessage {
	t.Helper()
	var answer struct{ Messages []emulatedMessage }
	e.ask(t, "conversations.replies", url.Values{"channel": {channel}, "ts": {ts}}, &answer)
	return answer.Messages
}

func TestEmulate(t *testing.T) {
	t.Parallel()
	e := startEmulate(t, "chat:write, channels:read, channels:history, users:read, files:read, files:write")
	ops := e.ops(t)
	self, err := e.channel.Identify(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, self.TeamID)

	root := domain.Outbound{ID: "o1", Chat: self.TeamID + "/" + ops, Text: "**Deployed** `main` & more"}
	posted, err := e.channel.Send(t.Context(), root)
	require.NoError(t, err)
	thread := posted.PlatformID
	found, err := e.channel.Find(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: posted.PlatformID}, found)

	reply := root
	reply.ID, reply.Thread, reply.Text = "o2", thread, "see [this](https://a.b)"
	ts, err := slack.PostDraft(t.Context(), e.channel, ops, thread, "o2")
	require.NoError(t, err)
	reply.Draft = ts
	found, err = e.channel.Find(t.Context(), reply)
	require.NoError(t, err)
	require.Equal(t, channels.Found{PlatformID: reply.Draft}, found)
	updated, err := e.channel.Send(t.Context(), reply)
	require.NoError(t, err)
	require.Equal(t, reply.Draft, updated.PlatformID)

	file := root
	file.ID, file.Thread, file.Text = "o3", thread, "the log"
	file.File, file.Content = "a.log", []byte("all is well\n")
	file.PlatformID, err = e.channel.Placeholder(t.Context(), file)
	require.NoError(t, err)
	file.Draft = file.PlatformID
	found, err = e.channel.Find(t.Context(), file)
	require.NoError(t, err)
	require.Zero(t, found, "it is only uploaded")
	uploaded, err := e.channel.Send(t.Context(), file)
	require.NoError(t, err)
	found, err = e.channel.Find(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: uploaded.PlatformID}, found)

	messages := e.thread(t, ops, thread)
	require.Len(t, messages, 3)
	require.Equal(t, "*Deployed* `main` &amp; more", messages[0].Text)
	require.Equal(t, "markdown", messages[0].Blocks[0].Type)
	require.Equal(t, root.Text, messages[0].Blocks[0].Text)
	require.Equal(t, "see <https://a.b|this>", messages[1].Text)
	require.Equal(t, map[string]string{"id": "o2"}, messages[1].Metadata.Payload)
	require.Equal(t, "a.log", messages[2].Files[0].Name)

	got, err := e.channel.Enrich(t.Context(), channels.Enrichment{Message: domain.Inbound{
		PlatformID: "9999999999.000100", Chat: root.Chat, Thread: thread, Sender: self.UserID, Text: "well, <@" + self.UserID + ">?",
	}})
	require.NoError(t, err)
	require.Equal(t, "well, @ana?", got.Text)
	require.Equal(t, "ana", got.SenderName)
	require.Len(t, got.Before, 1)

	_, err = e.channel.Resolve(t.Context(), self.UserID, ops)
	require.ErrorContains(t, err, "allow_channels does not include "+ops, "the bot and the sender are both members")

	gone := root
	gone.Chat = self.TeamID + "/C0NOWHERE"
	_, err = e.channel.Send(t.Context(), gone)
	require.ErrorIs(t, err, channels.ErrGone)
}

func TestEmulateWithoutScopes(t *testing.T) {
	t.Parallel()
	e := startEmulate(t, "channels:read")
	msg := domain.Outbound{ID: "o1", Chat: "T1/" + e.ops(t), Text: "hi"}
	_, err := e.channel.Send(t.Context(), msg)
	require.ErrorContains(t, err, "the app lacks the scope chat:write")
	require.False(t, remoteOf(err).Permanent())
	_, err = e.channel.Find(t.Context(), msg)
	require.ErrorContains(t, err, "the app lacks the scope channels:history")
}
