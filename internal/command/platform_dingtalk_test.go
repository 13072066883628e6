package command

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveDingTalk is DingTalk with cards. It delivers again what was not acknowledged.
func liveDingTalk(t *testing.T) livePlatform {
	server := dingtalktest.Start(t)
	server.Retry(t, 200*time.Millisecond)
	opened := 0
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_DINGTALK_ENABLED=true", "HOLDFAST_CHANNELS_DINGTALK_API_URL=" + server.URL(), "HOLDFAST_CHANNELS_DINGTALK_UPLOAD_URL=" + server.URL(),
			"HOLDFAST_CHANNELS_DINGTALK_ALLOW_USERS=*", "HOLDFAST_CHANNELS_DINGTALK_CARD_TEMPLATE=" + dingtalktest.Template,
			"DINGTALK_CLIENT_ID=" + dingtalktest.ClientID, "DINGTALK_CLIENT_SECRET=" + dingtalktest.ClientSecret,
		},
		ready: func(ctx context.Context) error {
			err := server.Await(ctx, func() bool { return server.Opened() > opened && server.Connections() == 1 })
			opened = server.Opened()
			return err
		},
		say: func(text string) { server.Say(dingtalktest.Ana, text) },
		seen: func() (texts []string) {
			for _, card := range server.Cards() {
				texts = append(texts, card.Text)
			}
			return texts
		},
	}
}
