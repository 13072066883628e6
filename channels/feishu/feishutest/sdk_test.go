//go:build peers

package feishutest_test

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

	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
)

const encryptKey, token = "encrypt-key", "verification-token"

// bot is a bot made with Lark's own library.
type bot struct {
	t     *testing.T
	ctx   context.Context
	lines chan string
}

// startBot runs the bot in testdata and waits until it takes events.
func startBot(t *testing.T, s *feishutest.Server, mode string) bot {
	t.Helper()
	dir := os.Getenv("HOLDFAST_PEERS")
	require.NotEmpty(t, dir, "run this with `make peers`")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "node", "testdata/bot.js", mode)
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"), "FEISHU_URL="+s.URL(),
		"FEISHU_APP_ID="+feishutest.AppID, "FEISHU_APP_SECRET="+feishutest.AppSecret, "FEISHU_ENCRYPT_KEY="+encryptKey, "FEISHU_TOKEN="+token)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	b := bot{t, ctx, make(chan string, 100)}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			b.lines <- lines.Text()
		}
	}()
	if port := b.says("ready"); port != "0" {
		s.PointAt("http://127.0.0.1:" + port + "/feishu")
		require.NoError(t, s.Challenge(ctx))
	}
	return b
}

// says waits until the bot says something and returns the rest of that line.
func (b bot) says(what string) string {
	b.t.Helper()
	for {
		select {
		case line := <-b.lines:
			if rest, is := strings.CutPrefix(line, what+" "); is {
				return rest
			}
		case <-b.ctx.Done():
			require.FailNow(b.t, "the bot does not say "+what)
		}
	}
}

// TestPeerLarkSDK runs a bot that uses Lark's own library against the server.
func TestPeerLarkSDK(t *testing.T) {
	t.Parallel()
	for mode, options := range map[string][]feishutest.Option{
		"socket": {feishutest.InPieces(300)}, "webhook": {feishutest.Webhook(encryptKey, token)},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := feishutest.Start(t, options...)
			b := startBot(t, s, mode)
			say := func(text string, more ...feishutest.SayOption) {
				t.Helper()
				require.NoError(t, s.Say(feishutest.Ana, feishutest.General, text, more...).Wait(b.ctx))
			}
			say("reply")
			replied := b.says("replied")
			require.True(t, strings.HasPrefix(replied, "[true,true,"), "%s: the second is the first", replied)
			require.Len(t, s.Posted(), 1)
			require.Equal(t, "**hello**", s.Posted()[0].Text())

			click := s.Click(feishutest.Ben, s.Posted()[0].ID, "Yes", "")
			require.NoError(t, click.Wait(b.ctx))
			require.Equal(t, `["yes","ou_ben"]`, b.says("clicked"))
			require.JSONEq(t, `{"toast":{"type":"info","content":"thanks"}}`, string(click.Reply))

			for task, want := range map[string][2]string{
				"create":  {"created", `[true,"app","{\"text\":\"to you\"}"]`},
				"edit":    {"edited", "true"},
				"react":   {"reacted", `[1,"app"]`},
				"people":  {"people", `["Ana Souza",2,"general"]`},
				"refused": {"refused", "230001"},
			} {
				say(task)
				require.Equal(t, want[1], b.says(want[0]))
			}

			say("stream")
			require.True(t, strings.HasPrefix(b.says("streamed"), "[300317,"), "a number that does not rise")
			posted := s.Posted()
			require.Contains(t, posted[len(posted)-1].Content, "abcd")

			key := s.AddFile(feishutest.File{Kind: "image", Type: "image/png", Content: []byte("\x89PNG\r\n\x1a\n")})
			say("", feishutest.As("image", `{"image_key":"`+key+`"}`))
			require.Equal(t, "8", b.says("files"))

			long := strings.Repeat("Grüße ", 500)
			say(long, feishutest.Mentioning(feishutest.Ben))
			require.Equal(t, `[3000,"ou_ana","Ben Okafor"]`, b.says("got"))
			if mode == "socket" {
				require.ErrorContains(t, s.Say(feishutest.Ana, "", "fail").Wait(b.ctx), "code 500")
				s.CutConnections()
			}
		})
	}
}
