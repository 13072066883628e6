package wechat_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	echo := faulty.Echo(t, func(_, received string) (int, any) {
		return http.StatusOK, map[string]any{"errcode": -1, "errmsg": received}
	})
	require.NoError(t, wechat.LogIn(s.ctx, s.channel, wechat.Account{BotID: wechattest.BotID, Token: s.Token(), BaseURL: echo.URL()}))
	_, err := s.channel.Send(s.ctx, reply("m1", "hello"))
	require.ErrorContains(t, err, "[redacted]")
	require.NotContains(t, err.Error(), s.Token())
}
