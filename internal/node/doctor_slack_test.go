package node_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// slackEnviron is the environment of a home where nothing else is wrong, with a Slack
// at url in which everybody is answered.
func slackEnviron(t *testing.T, url string, more ...string) []string {
	return doctorHome(t.TempDir(), append([]string{
		"HOLDFAST_CHANNELS_SLACK_ENABLED=true", "HOLDFAST_CHANNELS_SLACK_API_URL=" + url,
		"SLACK_BOT_TOKEN=" + slacktest.BotToken, "SLACK_APP_TOKEN=" + slacktest.AppToken, "SLACK_SIGNING_SECRET=" + slacktest.SigningSecret,
		"HOLDFAST_CHANNELS_SLACK_LISTEN=127.0.0.1:0",
		"HOLDFAST_CHANNELS_SLACK_ALLOW_USERS=*", "HOLDFAST_CHANNELS_SLACK_ALLOW_CHANNELS=*",
	}, more...)...)
}

// onSlack are the lines of out about Slack.
func onSlack(t *testing.T, out string) string {
	t.Helper()
	for _, secret := range []string{slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret} {
		require.NotContains(t, out, secret)
	}
	var lines []string
	about := false
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] != "fix:" {
			about = fields[1] == "slack"
		}
		if about {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

func TestDoctorOnAWorkingSlack(t *testing.T) {
	t.Parallel()

	t.Run("that is off", func(t *testing.T) {
		t.Parallel()
		out, failed := examine(t, doctorHome(t.TempDir()))
		require.False(t, failed, out)
		require.Empty(t, onSlack(t, out))
		out, failed = examine(t, slackEnviron(t, "http://127.0.0.1:1/api/", "HOLDFAST_CHANNELS_SLACK_ENABLED=false"))
		require.False(t, failed, out)
		require.Equal(t, "ok    slack       disabled (channels.slack.enabled), although a bot token is set\n", onSlack(t, out))
	})

	t.Run("over Socket Mode", func(t *testing.T) {
		t.Parallel()
		server := slacktest.Start(t)
		out, failed := examine(t, slackEnviron(t, server.APIURL()))
		require.False(t, failed, out)
		require.Equal(t, "ok    slack       connected as @holdfast (U0BOT) to the workspace Holdfast (T0TEAM), mode socket\n"+
			"ok    slack       the app has all 15 scopes\n"+
			"ok    slack       Socket Mode is available\n"+
			"ok    slack       answers all people, in direct messages and in all channels it is invited to\n", onSlack(t, out))
		require.Zero(t, server.Connections())
		require.Empty(t, server.Calls("link"), "it takes no messages from who is connected")
	})

	t.Run("over HTTP", func(t *testing.T) {
		t.Parallel()
		server := slacktest.Start(t)
		out, failed := examine(t, slackEnviron(t, server.APIURL(), "HOLDFAST_CHANNELS_SLACK_MODE=http", "SLACK_APP_TOKEN="))
		require.False(t, failed, out)
		require.Contains(t, onSlack(t, out), "127.0.0.1:0 is free to listen on, path /slack for Slack's requests\n")
		require.Empty(t, server.Calls("apps.connections.open"))
	})

	t.Run("over HTTP, while it runs", func(t *testing.T) {
		t.Parallel()
		server := slacktest.Start(t)
		settings := config.Default("").Channels.Slack
		settings.Mode, settings.APIURL, settings.Listen = slack.ModeHTTP, server.APIURL(), "127.0.0.1:0"
		settings.BotToken, settings.SigningSecret = slacktest.BotToken, slacktest.SigningSecret
		channel, err := slack.New(node.SlackOptions(settings, slog.New(slog.DiscardHandler)))
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = channel.Run(ctx, channeltest.NewBackend(nil)) })
		t.Cleanup(running.Wait)
		t.Cleanup(stop)
		require.Eventually(t, func() bool { return channel.Addr() != nil }, time.Minute, time.Millisecond)
		out, failed := examine(t, slackEnviron(t, server.APIURL(), "HOLDFAST_CHANNELS_SLACK_MODE=http",
			"HOLDFAST_CHANNELS_SLACK_LISTEN="+channel.Addr().String()))
		require.False(t, failed, out)
		require.Contains(t, onSlack(t, out), "holdfast answers at "+channel.Addr().String()+", path /slack\n")
	})

	t.Run("for direct messages only", func(t *testing.T) {
		t.Parallel()
		out, failed := examine(t, slackEnviron(t, slacktest.Start(t).APIURL(),
			"HOLDFAST_CHANNELS_SLACK_ALLOW_USERS=U0ANA", "HOLDFAST_CHANNELS_SLACK_ALLOW_CHANNELS="))
		require.False(t, failed, out)
		require.Contains(t, onSlack(t, out), "answers 1 person, only in direct messages since allow_channels is empty")
	})
}

func TestDoctorFindsOnSlack(t *testing.T) {
	t.Parallel()
	failing := func(method, code string) func(*testing.T, *slacktest.Server) []string {
		return func(_ *testing.T, s *slacktest.Server) []string {
			s.Fail(method, slacktest.Always, slacktest.Fault{Error: code})
			return nil
		}
	}
	set := func(environ ...string) func(*testing.T, *slacktest.Server) []string {
		return func(*testing.T, *slacktest.Server) []string { return environ }
	}
	at := func(handler http.HandlerFunc, start func(http.Handler) *httptest.Server) func(*testing.T, *slacktest.Server) []string {
		return func(t *testing.T, _ *slacktest.Server) []string {
			server := start(handler)
			t.Cleanup(server.Close)
			return []string{"HOLDFAST_CHANNELS_SLACK_API_URL=" + server.URL + "/api/"}
		}
	}
	refuse := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusProxyAuthRequired) }
	portal := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>Sign in to the Wi-Fi</html>"))
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, s *slacktest.Server) (environ []string)
		level string
		want  []string
	}{
		{"a bot token that Slack does not know", set("SLACK_BOT_TOKEN=xoxb-2-other"), "fail", []string{"unknown bot token (invalid_auth)", "fix: copy it again", "OAuth & Permissions", "SLACK_BOT_TOKEN"}},
		{"a bot token that was revoked", failing("auth.test", "token_revoked"), "fail", []string{"was revoked", "(token_revoked)", "fix: reinstall the app"}},
		{"an app that was removed", failing("auth.test", "account_inactive"), "fail", []string{"was removed", "fix: reinstall the app"}},
		{"a bot token that has expired", failing("auth.test", "token_expired"), "fail", []string{"has expired", "fix: turn off token rotation"}},
		{"a workspace that refuses", failing("auth.test", "org_login_required"), "fail", []string{"rejects the bot token (org_login_required)", "an administrator"}},
		{"an app-level token that Slack does not know", set("SLACK_APP_TOKEN=xapp-2-other"), "fail", []string{"unknown app-level token (invalid_auth)", "App-Level Tokens", "SLACK_APP_TOKEN"}},
		{"an app-level token without its scope", failing("apps.connections.open", "missing_scope"), "fail", []string{"the app-level token lacks a scope", "connections:write"}},
		{"a token of another kind", failing("apps.connections.open", "not_allowed_token_type"), "fail", []string{"wrong type of token"}},
		{"no network", set("HOLDFAST_CHANNELS_SLACK_API_URL=http://u:secret@127.0.0.1:1/api/"), "fail", []string{"http://u:xxxxx@127.0.0.1:1/api/ does not answer like Slack", "HTTPS_PROXY", "firewall"}},
		{"a proxy that refuses", at(refuse, httptest.NewServer), "fail", []string{"something between here and", "407", "HTTPS_PROXY"}},
		{"a page to sign in", at(portal, httptest.NewServer), "fail", []string{"does not answer like Slack"}},
		{"a proxy that reads along", at(portal, httptest.NewTLSServer), "fail", []string{"a certificate that this machine does not trust", "SSL_CERT_FILE"}},
		{"an address that is taken", func(t *testing.T, _ *slacktest.Server) []string {
			return []string{"HOLDFAST_CHANNELS_SLACK_MODE=http", "HOLDFAST_CHANNELS_SLACK_LISTEN=127.0.0.1:" + takenPort(t)}
		}, "fail", []string{"it cannot listen on 127.0.0.1:", "channels.slack.listen"}},
		{"a scope without which nothing works", func(_ *testing.T, s *slacktest.Server) []string {
			s.SetScopes("files:write")
			return nil
		}, "fail", []string{"lacks 14 of 15 scopes", "; chat:write (the bot cannot answer)", "holdfast slack manifest", "install the app again"}},
		{"scopes without which less works", func(_ *testing.T, s *slacktest.Server) []string {
			s.SetScopes(slices.DeleteFunc(slices.Clone(slacktest.AllScopes), func(scope string) bool { return strings.HasPrefix(scope, "files:") })...)
			return nil
		}, "warn", []string{"lacks 2 of 15 scopes: files:read (attached files cannot be read); files:write (files cannot be sent)", "holdfast slack manifest"}},
		{"an installation with few of the scopes", func(_ *testing.T, s *slacktest.Server) []string {
			s.SetScopes("chat:write", "app_mentions:read")
			return nil
		}, "warn", []string{"lacks 13 of 15 scopes: channels:history (", "install the app again"}},
		{"no scopes at all", func(_ *testing.T, s *slacktest.Server) []string {
			s.SetScopes()
			return nil
		}, "warn", []string{"does not say which scopes the app has"}},
		{"too many calls", func(_ *testing.T, s *slacktest.Server) []string {
			s.RateLimit("auth.test", slacktest.Always, time.Minute)
			return nil
		}, "warn", []string{"rate limited by Slack"}},
		{"nobody who is allowed", set("HOLDFAST_CHANNELS_SLACK_ALLOW_USERS=", "HOLDFAST_CHANNELS_SLACK_ALLOW_CHANNELS="), "warn", []string{"only people allowed by pairing are answered", "allow_users and allow_channels are empty", "Copy member ID", "holdfast pairing approve CODE"}},
		{"channels without people", set("HOLDFAST_CHANNELS_SLACK_ALLOW_USERS="), "warn", []string{"only people allowed by pairing are answered", "allow_users is empty", "holdfast pairing approve CODE"}},
		{"a process that does not listen", func(t *testing.T, _ *slacktest.Server) []string {
			dir := t.TempDir()
			write(t, dir, "data/run.json", `{"pid": 1, "temporal": "127.0.0.1:`+takenPort(t)+`"}`)
			return []string{"HOLDFAST_HOME=" + dir, "HOLDFAST_CHANNELS_SLACK_MODE=http"}
		}, "warn", []string{"process 1 is running but does not listen on 127.0.0.1:0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t)
			environ := tt.spoil(t, server)
			out, failed := examine(t, append(slackEnviron(t, server.APIURL()), environ...))
			found := onSlack(t, out)
			require.Contains(t, found, tt.level+"  slack  ")
			for _, want := range tt.want {
				require.Contains(t, found, want)
			}
			if tt.level == "fail" {
				require.True(t, failed)
			} else {
				require.NotContains(t, found, "fail")
			}
			require.NotContains(t, out, "secret")
			require.Contains(t, out, "clock", "it looks at all the rest too")
		})
	}

	t.Run("swapped tokens", func(t *testing.T) {
		t.Parallel()
		out, failed := examine(t, slackEnviron(t, slacktest.Start(t).APIURL(), "SLACK_BOT_TOKEN="+slacktest.AppToken, "SLACK_APP_TOKEN="+slacktest.BotToken))
		require.True(t, failed, out)
		require.Empty(t, onSlack(t, out))
		require.Contains(t, out, "channels.slack.bot_token: must be the Bot User OAuth Token, which begins with xoxb-")
		require.Contains(t, out, "channels.slack.app_token: must be the app-level token, which begins with xapp-")
	})
}
