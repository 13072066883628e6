package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
)

func TestWeChatLogin(t *testing.T) {
	t.Parallel()
	wechat := wechattest.Start(t)
	wechat.Expire()
	go func() {
		if wechat.Await(t.Context(), func() bool { return wechat.Code() != nil }) == nil {
			wechat.Code().Confirm(wechattest.Ana)
		}
	}()
	environ := []string{"HOLDFAST_HOME=" + t.TempDir(), "HOLDFAST_CHANNELS_WECHAT_API_URL=" + wechat.URL()}
	out, err := runCommand(t, environ, "wechat", "login")
	require.NoError(t, err)
	require.Contains(t, out, "██ ▄▄▄▄▄ █")
	require.Contains(t, out, "https://liteapp.weixin.qq.com/q/"+wechat.Code().ID)
	require.Contains(t, out, "Logged in as "+wechattest.BotID+".\n"+wechattest.Ana+" may use the bot; ")
	require.NotContains(t, out, wechat.Token())

	out, err = runCommand(t, environ, "pairing", "list")
	require.NoError(t, err)
	require.Contains(t, out, wechattest.Ana)
}
