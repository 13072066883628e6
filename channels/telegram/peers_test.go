//go:build peers

package telegram_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// emulated is a Telegram by somebody else (npm telegram-test-api). It knows text messages,
// buttons and edits, and no offsets, long polls or files.
type emulated struct {
	t     *testing.T
	url   string
	token string
}

func startEmulated(t *testing.T) emulated {
	t.Helper()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	cmd := exec.CommandContext(t.Context(), "node", "testdata/server.js", port)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	e := emulated{t, "http://127.0.0.1:" + port, "123:abc"}
	require.Eventually(t, func() bool {
		response, err := http.Get(e.url + "/bot" + e.token + "/getMe")
		return err == nil && response.StatusCode == http.StatusOK
	}, deadline, 50*time.Millisecond)
	return e
}

// ask makes a call as a person's client would.
func (e emulated) ask(path string, arguments map[string]any, answer any) {
	e.t.Helper()
	body, err := json.Marshal(arguments)
	require.NoError(e.t, err)
	response, err := http.Post(e.url+path, "application/json", bytes.NewReader(body))
	require.NoError(e.t, err)
	defer response.Body.Close()
	require.NoError(e.t, json.NewDecoder(response.Body).Decode(answer))
}

var person = map[string]any{"id": 1, "first_name": "Ana", "username": "ana", "is_bot": false}

func (e emulated) say(text string) {
	e.t.Helper()
	var answer struct{ OK bool }
	e.ask("/sendMessage", map[string]any{
		"botToken": e.token, "from": person, "date": time.Now().UnixMilli(), "text": text,
		"chat": map[string]any{"id": 1, "type": "private", "first_name": "Ana"},
	}, &answer)
	require.True(e.t, answer.OK)
}

type emulatedMessage struct {
	MessageID int `json:"messageId"`
	Message   struct {
		Text      string `json:"text"`
		ParseMode string `json:"parse_mode"`
		Markup    struct {
			Rows [][]struct {
				Data string `json:"callback_data"`
			} `json:"inline_keyboard"`
		} `json:"reply_markup"`
		ChatID string `json:"chat_id"`
	} `json:"message"`
}

// posted are the messages of the bot.
func (e emulated) posted() (ours []emulatedMessage) {
	var answer struct{ Result []emulatedMessage }
	e.ask("/getUpdatesHistory", map[string]any{"token": e.token}, &answer)
	for _, m := range answer.Result {
		if m.Message.ChatID != "" {
			ours = append(ours, m)
		}
	}
	return ours
}

func TestPeerServer(t *testing.T) {
	t.Parallel()
	e := startEmulated(t)
	c, err := telegram.New(telegram.Options{Token: e.token, APIURL: e.url, Options: chat.Options{ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: everyone}}}})
	require.NoError(t, err)
	backend := channeltest.NewBackend(nil)
	go func() { _ = c.Run(t.Context(), backend) }()
	accepted := func(n int) []domain.Inbound {
		require.NoError(t, backend.Await(t.Context(), func(c channeltest.Counts) bool { return c.Accepted == n }))
		return backend.Accepted()
	}
	e.say("hello")
	require.Equal(t, "hello", accepted(1)[0].Text)
	require.Equal(t, "1", accepted(1)[0].Sender)
	e.say("/start")
	require.Equal(t, "/help", accepted(2)[1].Text)

	var outbox outbox
	sent, err := outbox.attempt(t.Context(), c, domain.Outbound{ID: "o1", Chat: "1", Text: "**Run** `git push`?", Approval: "abcdefgh"})
	require.NoError(t, err)
	require.Len(t, e.posted(), 1)
	asked := e.posted()[0]
	require.Equal(t, sent.PlatformID, chatID(int64(asked.MessageID)))
	require.Equal(t, "<b>Run</b> <code>git push</code>?", asked.Message.Text)
	require.Equal(t, "HTML", asked.Message.ParseMode)
	var answer struct{ OK bool }
	e.ask("/sendCallback", map[string]any{
		"botToken": e.token, "from": person, "data": asked.Message.Markup.Rows[0][0].Data,
		"message": map[string]any{"message_id": asked.MessageID, "chat": map[string]any{"id": 1, "type": "private"}},
	}, &answer)
	require.Equal(t, "/approve abcdefgh", accepted(3)[2].Text)
	_, err = c.Send(t.Context(), domain.Outbound{ID: "o1", Chat: "1", Text: "again", Draft: sent.PlatformID})
	require.NoError(t, err)
	require.Len(t, e.posted(), 1)
}
