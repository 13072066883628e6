package slack_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
)

// TestTokens checks that the token is in the header as well as in the form, which
// arrives whole.
func TestTokens(t *testing.T) {
	t.Parallel()
	type call struct{ path, token, form string }
	var mu sync.Mutex
	var calls []call
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, call{r.URL.Path, r.Header.Get("Authorization"), form.Get("token")})
		if r.URL.Path == "/moved/auth.test" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, `{"ok": true, "url": "wss://x", "user_id": "U1"}`)
	}))
	t.Cleanup(server.Close)
	for _, api := range []string{server.URL + "/api", server.URL + "/api/", server.URL + "/moved/"} {
		c, err := slack.New(slack.Options{BotToken: "xoxb-1", AppToken: "xapp-1", APIURL: api})
		require.NoError(t, err)
		_, err = c.Identify(t.Context())
		require.NoError(t, err)
		if api != server.URL+"/moved/" {
			require.NoError(t, slack.OpenConnection(t.Context(), c))
		}
	}
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, []call{
		{"/api/auth.test", "Bearer xoxb-1", "xoxb-1"},
		{"/api/apps.connections.open", "Bearer xapp-1", ""},
		{"/api/auth.test", "Bearer xoxb-1", "xoxb-1"},
		{"/api/apps.connections.open", "Bearer xapp-1", ""},
		{"/moved/auth.test", "Bearer xoxb-1", "xoxb-1"},
		{"/elsewhere", "", ""},
	}, calls)
}
