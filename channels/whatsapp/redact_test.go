package whatsapp_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := faulty.Echo(t, func(_, received string) (int, any) {
		return http.StatusUnauthorized, map[string]any{"error": map[string]any{"code": 190, "message": received}}
	})
	channel, err := whatsapp.New(whatsapp.Options{
		PhoneNumberID: whatsapptest.PhoneNumberID, AccessToken: whatsapptest.AccessToken, AppSecret: whatsapptest.AppSecret, VerifyToken: whatsapptest.VerifyToken,
		APIURL: s.URL(), Listen: "127.0.0.1:0", Path: "/whatsapp",
	})
	require.NoError(t, err)
	_, err = channel.Identify(t.Context())
	require.ErrorContains(t, err, "[redacted]")
	require.NotContains(t, err.Error(), whatsapptest.AccessToken)
}
