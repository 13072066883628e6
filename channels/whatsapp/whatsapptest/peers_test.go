//go:build peers

package whatsapptest_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
)

// TestPeerBot runs a bot with a library by somebody else against the server.
func TestPeerBot(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := whatsapptest.Start(t)
	cmd := exec.CommandContext(ctx, "node", "testdata/bot.js")
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "WHATSAPP_URL="+s.URL(),
		"WHATSAPP_ACCESS_TOKEN="+whatsapptest.AccessToken, "WHATSAPP_PHONE_NUMBER_ID="+whatsapptest.PhoneNumberID,
		"WHATSAPP_APP_SECRET="+whatsapptest.AppSecret, "WHATSAPP_VERIFY_TOKEN="+whatsapptest.VerifyToken)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	said := make(chan string, 100)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said <- lines.Text()
		}
	}()
	until := func(prefix string) string {
		for {
			select {
			case line := <-said:
				t.Log(line)
				if rest, is := strings.CutPrefix(line, prefix); is {
					return rest
				}
			case <-ctx.Done():
				require.FailNow(t, "the bot never says "+prefix)
			}
		}
	}
	s.ServeEvents("http://127.0.0.1:" + until("ready ") + "/")
	require.NoError(t, s.Subscribe(ctx, whatsapptest.VerifyToken))

	answer := func(d whatsapptest.Delivery) whatsapptest.Sent {
		before := len(s.Sent())
		require.NoError(t, d.Wait(ctx))
		require.NoError(t, s.Await(ctx, func() bool { return len(s.Sent()) > before }))
		return s.Sent()[before]
	}
	require.Equal(t, "echo: hello", answer(s.Say(whatsapptest.Ana, "hello")).Text)
	until("status sent echo")
	question := answer(s.Say(whatsapptest.Ana, "buttons"))
	require.Len(t, question.Buttons, 2)
	require.Equal(t, "chosen: approve:a1", answer(s.Click(whatsapptest.Ana, question.Buttons[0])).Text)
	file := answer(s.Say(whatsapptest.Ana, "file"))
	require.Equal(t, []string{"document", "a.txt", "the file", "a,b\n1,2"}, []string{file.Type, file.FileName, file.Text, string(file.Content)})
	attached := whatsapptest.Attachment{Name: "n.txt", Type: "document", MIME: "text/plain", Content: []byte("remember")}
	require.Equal(t, "read: remember", answer(s.Say(whatsapptest.Ana, "", attached)).Text)
}
