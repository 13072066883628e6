package matrix_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/matrix"
	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := faulty.Echo(t, func(_, received string) (int, any) {
		return http.StatusUnauthorized, map[string]any{"errcode": "M_UNKNOWN_TOKEN", "error": received}
	})
	channel, err := matrix.New(matrix.Options{AccessToken: matrixtest.Token, Homeserver: s.URL()})
	require.NoError(t, err)
	_, err = channel.Identify(t.Context())
	require.ErrorContains(t, err, "[redacted]")
	require.NotContains(t, err.Error(), matrixtest.Token)
}
