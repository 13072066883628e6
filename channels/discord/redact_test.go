package discord_test

import (
	"net/http"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	s := faulty.Echo(t, func(_, received string) (int, any) {
		return http.StatusUnauthorized, map[string]any{"message": received}
	})
	channel, err := discord.New(discord.Options{Token: discordtest.Token, APIURL: s.URL()})
	require.NoError(t, err)
	_, err = channel.Identify(t.Context())
	require.ErrorContains(t, err, "[redacted]")
	require.NotContains(t, err.Error(), discordtest.Token)
}

func TestClosedConnectionsDoNotRepeatTheToken(t *testing.T) {
	t.Parallel()
	b := newBot(t, settings{})
	for _, code := range []int{4000, 4004, 4012, 4014} {
		err := b.channel.Closed(&websocket.CloseError{Code: code, Text: "wrong: " + discordtest.Token})
		require.ErrorContains(t, err, "wrong: [redacted]", code)
	}
}
