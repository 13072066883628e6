package http_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestReplyTo(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{PushChannel: "webhook", Endpoints: []string{"ci"}}, func(domain.Inbound) *channeltest.Answer {
		return &channeltest.Answer{Reply: "pushed, too"}
	})
	status, _, body := s.do("POST", "/v1/messages", `{"session":"ops","id":"m1","text":"hi","reply_to":"ci"}`)
	require.Equal(t, 202, status, body)
	require.Contains(t, body, `"session":"webhook:ci:ops"`)
	got := s.backend.Accepted()[0]
	require.Equal(t, domain.Inbound{
		Channel: "webhook", PlatformID: "m1", Chat: "ci", Thread: "ops", Sender: http.DefaultSender, Text: "hi", Push: true,
	}, got)
	status, _, body = s.do("GET", "/v1/messages/m1", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, "pushed, too")
	status, _, body = s.do("GET", "/v1/messages/m1/events", "")
	require.Equal(t, 200, status)
	require.Contains(t, body, "event: done")

	for body, param := range map[string]string{
		`{"text":"hi","reply_to":"https://evil.example"}`: `"param":"reply_to"`,
		`{"text":"hi","reply_to":"other"}`:                `"param":"reply_to"`,
		`{"text":"hi","reply_to":"ci","wait":true}`:       `"param":"wait"`,
	} {
		status, _, answer := s.do("POST", "/v1/messages", body)
		require.Equal(t, 400, status)
		require.Contains(t, answer, param)
	}
	require.Len(t, s.backend.Accepted(), 1)

	none := start(t, http.Options{}, nil)
	status, _, _ = none.do("POST", "/v1/messages", `{"text":"hi","reply_to":"ci"}`)
	require.Equal(t, 400, status)
	require.Empty(t, none.backend.Accepted())
}
