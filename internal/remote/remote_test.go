package remote_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{name: "nothing said", want: 0},
		{name: "seconds", header: map[string]string{"Retry-After": "7"}, want: 7 * time.Second},
		{name: "fractions of a second", header: map[string]string{"Retry-After": " 0.25 "}, want: 250 * time.Millisecond},
		{name: "milliseconds win", header: map[string]string{"Retry-After": "7", "retry-after-ms": "1500"}, want: 1500 * time.Millisecond},
		{name: "a date", header: map[string]string{"Retry-After": "Sun, 01 Mar 2026 12:00:30 GMT"}, want: 30 * time.Second},
		{name: "a date in the past", header: map[string]string{"Retry-After": "Sun, 01 Mar 2026 11:00:00 GMT"}, want: 0},
		{name: "negative", header: map[string]string{"Retry-After": "-3"}, want: 0},
		{name: "nonsense", header: map[string]string{"Retry-After": "soon"}, want: 0},
		{name: "not a number", header: map[string]string{"Retry-After": "NaN"}, want: 0},
		{name: "far too long", header: map[string]string{"Retry-After": "1e300"}, want: 24 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := http.Header{}
			for key, value := range tt.header {
				h.Set(key, value)
			}
			require.Equal(t, tt.want, remote.RetryAfter(h, now))
		})
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	for status, permanent := range map[int]bool{
		0: false, 200: false, 400: true, 401: true, 404: true, 408: false, 409: false, 413: true, 429: false, 500: false, 503: false,
	} {
		err := &remote.Error{Service: "openai", Status: status, Err: io.ErrUnexpectedEOF}
		require.Equal(t, permanent, err.Permanent(), "status %d", status)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Same(t, err, remote.As(fmt.Errorf("complete: %w", err)))
	}
	require.Nil(t, remote.As(errors.New("other")))
	require.EqualError(t, &remote.Error{Service: "slack", Err: io.EOF}, "slack: EOF")
	require.EqualError(t, &remote.Error{Service: "slack", Status: 500, Err: io.EOF}, "slack: status 500: EOF")
}
