package command

import (
	"testing"

	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// liveTelegram is Telegram by long polling.
func liveTelegram(t *testing.T) livePlatform {
	server := telegramtest.Start(t)
	return livePlatform{
		promise: platformtest.StrayPlaceholder,
		environ: telegramEnviron(server),
		say:     func(text string) { server.Say(telegramtest.Ana, telegramtest.Ana, text) },
		seen: func() (texts []string) {
			for _, m := range server.Posted(telegramtest.Ana) {
				texts = append(texts, m.Text)
			}
			return texts
		},
		backlog: 5,
		inOrder: true,
	}
}
