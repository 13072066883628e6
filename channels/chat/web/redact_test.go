package web_test

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"": "", "Bearer abc/d+e": "Bearer [redacted]", `{"m":"abc\/d+e, abc/d+e"}`: `{"m":"[redacted], [redacted]"}`,
		`{"m":"q\"uote\u0026"}`: `{"m":"[redacted]"}`, "short": "short", "abc/d": "abc/d",
	} {
		require.Equal(t, want, string(web.Redact([]byte(answer), "abc/d+e", "", "short", `q"uote&`)), answer)
	}
	require.NoError(t, web.RedactError(nil, "abc/d+e"))
	require.Same(t, errOther, web.RedactError(errOther, "abc/d+e"))
	err := web.RedactError(errors.Join(errOther, errors.New("abc/d+e")), "abc/d+e")
	require.EqualError(t, err, "other\n[redacted]")
	require.NotErrorIs(t, err, errOther, "whose text may have the secret")
}

var errOther = errors.New("other")

func TestAnswersRepeatNoSecrets(t *testing.T) {
	t.Parallel()
	base := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/raw" {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, r.Header.Get("Authorization")+"\r\n\r\n")
				_ = conn.Close()
			}
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+r.Header.Get("Key"))
	})
	c := web.NewClient("acme", 5*time.Second, 100)
	call := web.Call{
		Method: http.MethodGet, URL: base, Header: http.Header{"Authorization": {"Bearer token-1"}, "Key": {"token-2"}}, Secrets: []string{"token-2"},
	}
	answer, err := c.Do(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, "Bearer [redacted] [redacted]", string(answer.Body))
	call.URL += "/raw"
	_, err = c.Do(t.Context(), call)
	require.ErrorContains(t, err, `malformed HTTP status code "[redacted]"`)
}
