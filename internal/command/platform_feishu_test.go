package command

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func liveFeishu(t *testing.T) livePlatform {
	server := feishutest.Start(t, feishutest.RetryDelays(slices.Repeat([]time.Duration{200 * time.Millisecond}, 1000)...))
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_FEISHU_ENABLED=true", "HOLDFAST_CHANNELS_FEISHU_API_URL=" + server.URL(),
			"FEISHU_APP_ID=" + feishutest.AppID, "FEISHU_APP_SECRET=" + feishutest.AppSecret, "HOLDFAST_CHANNELS_FEISHU_ALLOW_USERS=*",
		},
		ready: func(ctx context.Context) error {
			return server.Await(ctx, func() bool { return server.Connections() > 0 })
		},
		say: func(text string) { server.Say(feishutest.Ana, "", text) },
		seen: func() (texts []string) {
			for _, m := range server.Posted() {
				texts = append(texts, m.Text())
			}
			return texts
		},
		backlog: 5,
	}
}
