package slack_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

const directMessage = `{"type":"event_callback","team_id":"T0TEAM","event":{"type":"message","channel":"D0ANA","channel_type":"im","user":"U0ANA","ts":"1700000000.000100","text":"hi"}}`

// Edge case E23.
func TestSignatures(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeHTTP, receivingSetup{})
	body := []byte(directMessage)
	without := func(name string) http.Header {
		header := slacktest.Sign(slacktest.SigningSecret, time.Now(), body)
		header.Del(name)
		return header
	}
	with := func(name, value string) http.Header {
		header := slacktest.Sign(slacktest.SigningSecret, time.Now(), body)
		header.Set(name, value)
		return header
	}
	tests := []struct {
		name   string
		header http.Header
	}{
		{"none", http.Header{}},
		{"no signature", without("X-Slack-Signature")},
		{"no timestamp", without("X-Slack-Request-Timestamp")},
		{"another secret", slacktest.Sign("another", time.Now(), body)},
		{"no secret", slacktest.Sign("", time.Now(), body)},
		{"another body", slacktest.Sign(slacktest.SigningSecret, time.Now(), []byte("{}"))},
		{"another time", with("X-Slack-Request-Timestamp", "1")},
		{"not a time", with("X-Slack-Request-Timestamp", "now")},
		{"not hexadecimal", with("X-Slack-Signature", "v0=zz")},
		{"too short", with("X-Slack-Signature", "v0=00")},
		{"another version", with("X-Slack-Signature", "v1="+strings.Repeat("0", 64))},
		{"stale", slacktest.Sign(slacktest.SigningSecret, time.Now().Add(-6*time.Minute), body)},
		{"from the future", slacktest.Sign(slacktest.SigningSecret, time.Now().Add(6*time.Minute), body)},
	}
	for _, tt := range tests {
		status, answer := r.post(body, tt.header)
		require.Equal(t, 401, status, tt.name)
		require.Equal(t, "Unauthorized\n", answer, tt.name)
	}
	require.Empty(t, r.backend.Accepted())
	require.Equal(t, 1, r.log.count("request rejected"), "a flood does not fill the log")
	require.False(t, r.log.has(slacktest.SigningSecret))

	replay := slacktest.Sign(slacktest.SigningSecret, time.Now().Add(-4*time.Minute), body)
	for range 3 {
		status, _ := r.post(body, replay)
		require.Equal(t, 200, status)
	}
	require.Len(t, r.backend.Accepted(), 1, "a replay has no effect")
}

func TestTheEndpoint(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeHTTP, receivingSetup{})
	require.NoError(t, r.Challenge(r.ctx))
	signed := func(body string, contentType string) (int, string) {
		header := slacktest.Sign(slacktest.SigningSecret, time.Now(), []byte(body))
		header.Set("Content-Type", contentType)
		return r.post([]byte(body), header)
	}
	const form = "application/x-www-form-urlencoded"

	status, _ := signed("ssl_check=1&token=x", form)
	require.Equal(t, 200, status)
	for _, malformed := range []string{"", "{", "[]", `{"type":1}`, `{"type":"event_callback"}`, `{"type":"event_callback","event":"x"}`, strings.Replace(directMessage, `"ts"`, `"t"`, 1)} {
		status, _ = signed(malformed, "application/json")
		require.Equal(t, 400, status, malformed)
	}
	for _, malformed := range []string{"", "a=b", "payload=", "payload={", "command=%2Fholdfast", "payload=%ZZ"} {
		status, _ = signed(malformed, form)
		require.Equal(t, 400, status, malformed)
	}

	status, _ = signed(string(bytes.Repeat([]byte(" "), 1<<20+1)), "application/json")
	require.Equal(t, 413, status)

	r.backend.FailAccept(1)
	status, _ = signed(directMessage, "application/json")
	require.Equal(t, 503, status, "not durable")
	status, _ = signed(directMessage, "application/json")
	require.Equal(t, 200, status)

	get := func(method, path string) int {
		request, err := http.NewRequestWithContext(r.ctx, method, strings.TrimSuffix(r.url(), "/slack")+path, nil)
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	require.Equal(t, 200, get("GET", "/slack/health"))
	require.Equal(t, 405, get("GET", "/slack"))
	require.Equal(t, 404, get("POST", "/"))
	require.Equal(t, 404, get("POST", "/slack/../slack2"))
	require.True(t, r.log.has("listening for webhooks"))
	require.NoError(t, r.stop())
	require.Nil(t, r.channel.Addr())
}

func TestAnAddressInUse(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeHTTP, receivingSetup{})
	second, err := slack.New(slack.Options{Mode: slack.ModeHTTP, BotToken: "xoxb-1", SigningSecret: "s", Listen: r.channel.Addr().String(), APIURL: r.APIURL()})
	require.NoError(t, err)
	require.ErrorContains(t, second.Run(r.ctx, r.backend), "listen for slack")
}
