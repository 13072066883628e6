package command

import (
	"context"
	"testing"

	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveMatrix is a homeserver with a room in which Ana is alone with the bot.
func liveMatrix(t *testing.T) livePlatform {
	server := matrixtest.Start(t)
	room := server.Room(matrixtest.Ana)
	return livePlatform{
		promise: platformtest.Exactly,
		environ: []string{
			"HOLDFAST_CHANNELS_MATRIX_ENABLED=true", "HOLDFAST_CHANNELS_MATRIX_ALLOW_USERS=*",
			"MATRIX_HOMESERVER=" + server.URL(), "MATRIX_ACCESS_TOKEN=" + matrixtest.Token,
		},
		ready: func(ctx context.Context) error { return server.Await(ctx, func() bool { return server.Since() != "" }) },
		say:   func(text string) { server.Say(matrixtest.Ana, room, text) },
		seen: func() (texts []string) {
			for _, m := range server.Shown(room) {
				if m.Sender == matrixtest.Bot {
					texts = append(texts, m.Body)
				}
			}
			return texts
		},
		backlog: 5,
		inOrder: true,
	}
}
