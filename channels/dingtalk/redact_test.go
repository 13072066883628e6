package dingtalk_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	const accessToken = "t-access-token"
	for _, issued := range []bool{false, true} {
		s := faulty.Echo(t, func(path, received string) (int, any) {
			if issued && path == "/v1.0/oauth2/accessToken" {
				return http.StatusOK, map[string]any{"accessToken": accessToken, "expireIn": 7200}
			}
			return http.StatusUnauthorized, map[string]any{"code": "Forbidden", "message": received}
		})
		channel, err := dingtalk.New(dingtalk.Options{ClientID: dingtalktest.ClientID, ClientSecret: dingtalktest.ClientSecret, APIURL: s.URL(), UploadURL: s.URL()})
		require.NoError(t, err)
		_, err = channel.Send(t.Context(), reply("m1", dingtalktest.Group, "hello"))
		require.ErrorContains(t, err, "[redacted]")
		require.NotContains(t, err.Error(), accessToken)
		require.NotContains(t, err.Error(), dingtalktest.ClientSecret)
	}
}
