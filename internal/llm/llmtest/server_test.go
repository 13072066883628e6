package llmtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

func post(ctx context.Context, s *llmtest.Server, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

func TestScriptIsPlayedAndRecorded(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Text("one"), llmtest.Text("two"))
	for _, want := range []string{"one", "", "two", "no more steps"} {
		body := hello
		if want == "" {
			body = `{"model":"m","messages":[{"role":"tool","content":"x"}]}`
		}
		status, answer, err := post(t.Context(), s, body)
		require.NoError(t, err)
		require.Contains(t, answer, want)
		require.Equal(t, want == "" || want == "no more steps", status == http.StatusBadRequest)
	}
	require.Equal(t, 4, s.Count())
	require.Len(t, s.Invalid(), 1)
	require.Contains(t, s.Invalid()[0], "request 2: ")
	require.Equal(t, "hello", s.Requests()[2].LastUser())
	require.Equal(t, 3, s.Requests()[2].Number)
}

func TestInvalidJSONIsRejected(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	status, _, err := post(t.Context(), s, "{")
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, status)
	require.Len(t, s.Invalid(), 1)
}

func TestTruncatedRequestIsIgnored(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Text("one"))
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/v1"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(hello), hello[:20])
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	_, err = io.ReadAll(conn) // until the server is done with it
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, answer, err := post(t.Context(), s, hello)
	require.NoError(t, err)
	require.Contains(t, answer, "one")
	require.Equal(t, 1, s.Count())
	require.Empty(t, s.Invalid())
}

func TestHangEndsWhenReleased(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Hang(), llmtest.Text("after"))
	failed := make(chan error, 1)
	go func() {
		_, _, err := post(t.Context(), s, hello)
		failed <- err
	}()
	require.NoError(t, s.Await(t.Context(), 1))
	s.Release()
	require.Error(t, <-failed)
	_, answer, err := post(t.Context(), s, hello)
	require.NoError(t, err)
	require.Contains(t, answer, "after")
}

func TestAfterWaits(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	s := llmtest.NewServer(t, llmtest.Text("now").After(ready))
	answers := make(chan string, 1)
	go func() {
		_, answer, _ := post(t.Context(), s, hello)
		answers <- answer
	}()
	require.NoError(t, s.Await(t.Context(), 1))
	require.Empty(t, answers)
	close(ready)
	require.Contains(t, <-answers, "now")
}

func TestAwaitEndsWithContext(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	require.ErrorIs(t, s.Await(ctx, 1), cause)
}
