package slack_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	lib "github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func remoteOf(err error) *remote.Error { return remote.As(err) }

func TestFailure(t *testing.T) {
	t.Parallel()
	said := func(code string) error { return lib.SlackErrorResponse{Err: code} }
	tests := []struct {
		name   string
		err    error
		status int
		wait   time.Duration
		text   string
	}{
		{"no answer", io.ErrUnexpectedEOF, 0, 0, "slack: unexpected EOF"},
		{"rate limit", &lib.RateLimitedError{RetryAfter: 7 * time.Second}, 429, 7 * time.Second, ""},
		{"rate limit in words", said("ratelimited"), 429, 0, ""},
		{"server error", lib.StatusCodeError{Code: 503, Status: "503"}, 503, 0, ""},
		{"something in between refuses", lib.StatusCodeError{Code: 403, Status: "403"}, 502, 30 * time.Second, ""},
		{"of the moment", said("internal_error"), 503, 0, "slack: status 503: internal_error"},
		{"the token is not valid", said("invalid_auth"), 503, 30 * time.Second, "slack: status 503: invalid_auth: the bot token is not valid"},
		{
			"a scope is missing",
			lib.SlackErrorResponse{Err: "missing_scope", Needed: "files:write", Provided: "chat:write"},
			503, 30 * time.Second,
			"slack: status 503: missing_scope: the app lacks the scope files:write: add it and install the app again",
		},
		{"too long", said("msg_too_long"), 400, 0, "slack: status 400: msg_too_long"},
		{"not known", said("surprise"), 400, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := slack.Failure(tt.err)
			failed := remoteOf(err)
			require.NotNil(t, failed)
			require.Equal(t, "slack", failed.Service)
			require.Equal(t, tt.status, failed.Status)
			require.Equal(t, tt.wait, failed.RetryAfter)
			require.NotErrorIs(t, err, channels.ErrGone)
			if tt.text != "" {
				require.EqualError(t, err, tt.text)
			}
		})
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"channel_not_found", "is_archived", "not_in_channel", "restricted_action_read_only_channel"} {
		err := slack.Failure(fmt.Errorf("chat.postMessage: %w", lib.SlackErrorResponse{Err: code}))
		require.ErrorIs(t, err, channels.ErrGone)
		require.True(t, remoteOf(err).Permanent())
		_, is := errors.AsType[lib.SlackErrorResponse](err)
		require.True(t, is)
		require.EqualError(t, err, "slack: status 400: the chat cannot be written to: chat.postMessage: "+code)
	}
	require.Equal(t, http.StatusBadRequest, remoteOf(slack.Failure(lib.SlackErrorResponse{Err: "is_archived"})).Status)
}
