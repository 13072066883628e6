package mattermost_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := faulty.Echo(t, func(_, received string) (int, any) {
		return http.StatusUnauthorized, map[string]any{"id": "api.context.session_expired.app_error", "message": received}
	})
	channel, err := mattermost.New(mattermost.Options{Token: mattermosttest.Token, URL: s.URL()})
	require.NoError(t, err)
	_, err = channel.Identify(t.Context())
	require.ErrorContains(t, err, "[redacted]")
	require.NotContains(t, err.Error(), mattermosttest.Token)
}

func TestClosedConnectionsDoNotRepeatTheToken(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		text := websocket.FormatCloseMessage(websocket.ClosePolicyViolation, "wrong: "+r.Header.Get("Authorization"))
		_ = conn.WriteControl(websocket.CloseMessage, text, time.Now().Add(deadline))
		_, _, _ = conn.ReadMessage()
	}))
	t.Cleanup(server.Close)
	channel, err := mattermost.New(mattermost.Options{Token: mattermosttest.Token, URL: server.URL})
	require.NoError(t, err)
	require.ErrorContains(t, mattermost.Listen(t.Context(), channel), "wrong: Bearer [redacted]")
}
