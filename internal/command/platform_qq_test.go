package command

import (
	"context"
	"testing"

	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveQQ is QQ over its gateway.
func liveQQ(t *testing.T) livePlatform {
	server := qqtest.Start(t)
	opened := 0
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_QQ_ENABLED=true", "HOLDFAST_CHANNELS_QQ_API_URL=" + server.URL(), "HOLDFAST_CHANNELS_QQ_TOKEN_URL=" + server.TokenURL(),
			"QQ_APP_ID=" + qqtest.AppID, "QQ_SECRET=" + qqtest.Secret, "HOLDFAST_CHANNELS_QQ_ALLOW_USERS=*",
		},
		ready: func(ctx context.Context) error {
			err := server.AwaitConnections(ctx, opened+1)
			opened = server.Connections()
			return err
		},
		say: func(text string) { server.Say(qqtest.AnaChat, qqtest.Ana, text) },
		seen: func() (texts []string) {
			for _, m := range server.Sent() {
				texts = append(texts, m.Text)
			}
			return texts
		},
		backlog: 5,
	}
}
