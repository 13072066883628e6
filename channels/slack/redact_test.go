package slack_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(received string) any{
		"the error": func(received string) any { return map[string]any{"ok": false, "error": received} },
		"the missing scope": func(received string) any {
			return map[string]any{"ok": false, "error": "missing_scope", "needed": received}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := faulty.Echo(t, func(_, received string) (int, any) { return http.StatusOK, answer(received) })
			channel, err := slack.New(slack.Options{BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, APIURL: s.URL() + "/api"})
			require.NoError(t, err)
			_, err = channel.Identify(t.Context())
			require.ErrorContains(t, err, "[redacted]")
			require.NotContains(t, err.Error(), slacktest.BotToken)
		})
	}
}

func TestConnectionErrorsDoNotRepeatTheToken(t *testing.T) {
	t.Parallel()
	s := faulty.Echo(t, func(path, received string) (int, any) {
		if strings.HasSuffix(path, "auth.test") {
			return http.StatusOK, map[string]any{"ok": true, "team_id": slacktest.Team, "user_id": slacktest.BotUser, "bot_id": slacktest.Bot}
		}
		return http.StatusOK, map[string]any{"ok": false, "error": received}
	})
	log := &logbook{}
	ctx, cancel := context.WithCancel(t.Context())
	channel, err := slack.New(slack.Options{
		Mode: slack.ModeSocket, BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, APIURL: s.URL() + "/api",
		Logger: slog.New(slog.NewTextHandler(log, nil)),
	})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() { ended <- channel.Run(ctx, channeltest.NewBackend(nil)) }()
	require.Eventually(t, func() bool { return log.has("[redacted]") }, receivingDeadline, time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	require.False(t, log.has(slacktest.AppToken))
}
