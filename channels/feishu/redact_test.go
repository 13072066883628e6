package feishu_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	const accessToken = "t-access-token"
	for _, issued := range []bool{false, true} {
		s := faulty.Echo(t, func(path, received string) (int, any) {
			if issued && path == "/open-apis/auth/v3/tenant_access_token/internal" {
				return http.StatusOK, map[string]any{"tenant_access_token": accessToken, "expire": 7200}
			}
			return http.StatusUnauthorized, map[string]any{"code": 99991663, "msg": received}
		})
		channel, err := feishu.New(feishu.Options{Mode: feishu.ModeSocket, AppID: feishutest.AppID, AppSecret: feishutest.AppSecret, APIURL: s.URL()})
		require.NoError(t, err)
		_, err = channel.Identify(t.Context())
		require.ErrorContains(t, err, "[redacted]")
		require.NotContains(t, err.Error(), accessToken)
		require.NotContains(t, err.Error(), feishutest.AppSecret)
	}
}
