package command

import (
	"context"
	"testing"

	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveMattermost is Mattermost. The program knows from when on to read once it was connected.
func liveMattermost(t *testing.T) livePlatform {
	server := mattermosttest.Start(t)
	listed := 0
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_MATTERMOST_ENABLED=true", "MATTERMOST_URL=" + server.URL(), "MATTERMOST_TOKEN=" + mattermosttest.Token,
			"HOLDFAST_CHANNELS_MATTERMOST_ALLOW_USERS=" + mattermosttest.Ana,
		},
		ready: func(ctx context.Context) error {
			err := server.Await(ctx, func() bool { return server.Calls(mattermosttest.Channels) > listed && server.Connected() })
			listed = server.Calls(mattermosttest.Channels)
			return err
		},
		say: func(text string) { server.Say(mattermosttest.Ana, mattermosttest.DM, text) },
		seen: func() (texts []string) {
			for _, p := range server.Ours(mattermosttest.DM) {
				texts = append(texts, p.Message)
			}
			return texts
		},
		backlog: 5,
		inOrder: true,
	}
}
