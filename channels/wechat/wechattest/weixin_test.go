//go:build peers

package wechattest_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// TestPeerWeixin runs a bot that uses Tencent's own modules against the server: its login,
// polls, messages, typing and files.
func TestPeerWeixin(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := wechattest.Start(t)
	s.Expire()

	cmd := exec.CommandContext(ctx, "node", "testdata/weixin.mjs")
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "PEERS="+dir, "WECHAT_URL="+s.URL(), "TMPDIR="+home, "HOME="+home)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := make(chan string, 100)
	go func() {
		for scanner := bufio.NewScanner(out); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	next := func(prefix string) string {
		for {
			select {
			case line := <-lines:
				if rest, is := strings.CutPrefix(line, prefix+" "); is {
					return rest
				}
			case <-ctx.Done():
				require.FailNow(t, "the bot does not say "+prefix)
			}
		}
	}

	shown := next("code")
	require.Equal(t, "https://liteapp.weixin.qq.com/q/"+s.Code().ID, shown)
	s.Code().Scan()
	s.Code().ScanElsewhere()
	s.Code().Confirm(wechattest.Ana)
	require.Equal(t, "true "+wechattest.BotID+" "+wechattest.Ana, next("login"))

	id := s.Say(wechattest.Ana, "Grüße")
	require.NoError(t, s.Await(ctx, func() bool { return len(s.Posts()) == 1 }))
	post := s.Posts()[0]
	require.Equal(t, id+": Grüße", post.Text, "the ID arrives as it was sent")
	require.Equal(t, post.ID, next("sent"))
	require.Equal(t, []wechattest.Typing{{To: wechattest.Ana, On: true}}, s.Typing())

	s.Say(wechattest.Ana, "", wechattest.Items(s.Store(4, "notes.txt", []byte("hello"))))
	require.NoError(t, s.Await(ctx, func() bool { return len(s.Posts()) == 2 }))
	require.Equal(t, "answer.txt", s.Posts()[1].File)
	require.Equal(t, "HELLO", string(s.Posts()[1].Content))

	s.Throttle(1)
	s.Say(wechattest.Ana, "again")
	require.Contains(t, next("refused"), "sendMessage ret=-2")
}
