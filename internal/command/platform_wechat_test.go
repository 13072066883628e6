package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveWeChat is WeChat, to which somebody has logged in.
func liveWeChat(t *testing.T) livePlatform {
	server := wechattest.Start(t)
	environ := []string{
		"HOLDFAST_CHANNELS_WECHAT_ENABLED=true", "HOLDFAST_CHANNELS_WECHAT_API_URL=" + server.URL(), "HOLDFAST_CHANNELS_WECHAT_CDN_URL=" + server.CDNURL(),
		"HOLDFAST_CHANNELS_WECHAT_PAUSE=1ms",
	}
	return livePlatform{
		promise: platformtest.AtLeastOnce,
		environ: environ,
		prepare: func(h *home) {
			server.Expire()
			go func() {
				if server.Await(t.Context(), func() bool { return server.Code() != nil }) == nil {
					server.Code().Confirm(wechattest.Ana)
				}
			}()
			_, err := runCommand(t, append(h.environ, environ...), "wechat", "login")
			require.NoError(t, err)
		},
		say: func(text string) { server.Say(wechattest.Ana, text) },
		seen: func() (texts []string) {
			for _, p := range server.Posts() {
				texts = append(texts, p.Text)
			}
			return texts
		},
		backlog: 5,
		inOrder: true,
	}
}
