package telegram_test

import (
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"
)

// knock posts to the webhook and returns the status.
func (b *bot) knock(secret, payload string) int {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.ctx, http.MethodPost, "http://"+b.channel.Addr().String()+"/telegram", strings.NewReader(payload))
	require.NoError(b.t, err)
	request.Header.Set("Content-Type", "application/json")
	if secret != "" {
		request.Header.Set("X-Telegram-Bot-Api-Secret-Token", secret)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(b.t, err)
	require.NoError(b.t, response.Body.Close())
	return response.StatusCode
}
