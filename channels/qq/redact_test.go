package qq_test

import (
	"net/http"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	const accessToken = "t-access-token"
	for _, issued := range []bool{false, true} {
		s := faulty.Echo(t, func(path, received string) (int, any) {
			if issued && path == "/token" {
				return http.StatusOK, map[string]any{"access_token": accessToken, "expires_in": 7200}
			}
			return http.StatusUnauthorized, map[string]any{"code": 11244, "message": received}
		})
		channel, err := qq.New(qq.Options{Mode: qq.ModeSocket, AppID: qqtest.AppID, Secret: qqtest.Secret, APIURL: s.URL(), TokenURL: s.URL() + "/token"})
		require.NoError(t, err)
		_, err = channel.Identify(t.Context())
		require.ErrorContains(t, err, "[redacted]")
		require.NotContains(t, err.Error(), accessToken)
		require.NotContains(t, err.Error(), qqtest.Secret)
	}
}

func TestClosedConnectionsDoNotRepeatTheToken(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	for _, code := range []int{4004, 4006, 4914} {
		err := qq.Ended(b.channel, "t-access-token", &websocket.CloseError{Code: code, Text: "wrong: t-access-token"})
		require.ErrorContains(t, err, "wrong: [redacted]", code)
	}
}
