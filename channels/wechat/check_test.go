package wechat_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	s := openAt(t, wechattest.Start(t), channeltest.NewBackend(nil), nil)
	check := func() string {
		var lines []string
		for _, f := range s.channel.CheckSetup(s.ctx) {
			require.Equal(t, f.Level != chat.LevelOK, f.Fix != "")
			lines = append(lines, string(f.Level)+" "+f.Text)
		}
		out := strings.Join(lines, "\n")
		if token := s.Token(); token != "" {
			require.NotContains(t, out, token)
		}
		return out
	}
	require.Equal(t, "fail nobody has logged in\nok answers 2 people", check())
	s.logIn()
	require.Contains(t, check(), "ok logged in as bot1@im.bot since")
	s.asked()
	_, err := s.channel.Send(s.ctx, reply("o1", "hi"))
	require.NoError(t, err)
	require.Contains(t, check(), "ok 9 messages left for "+wechattest.Ana+", until ")
	require.NoError(t, wechat.Spend(s.ctx, s.channel, wechattest.Ana, 0))
	require.Contains(t, check(), "warn WeChat takes no messages for "+wechattest.Ana+" until they write again: all 10 are used up")
	require.NoError(t, wechat.Open(s.ctx, s.channel, wechattest.Ana, "old", time.Now().Add(-30*time.Hour)))
	require.Contains(t, check(), "warn WeChat takes no messages for "+wechattest.Ana+" until they write again: it was too long ago")
	s.Down()
	require.Contains(t, check(), "fail "+s.URL()+" does not answer like WeChat")
	s.Up()
	s.Expire()
	require.Equal(t, "fail the login of bot1@im.bot has expired\nok answers 2 people", check())

	s.channel.UseStore(nil)
	require.Contains(t, check(), "fail the login cannot be read: the channel has no store yet")
}
