package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	nethttp "net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const deadline = 20 * time.Second

// server is a running channel.
type server struct {
	t       *testing.T
	url     string
	backend *channeltest.Backend
	stop    func() error // ends Run and returns its error
}

func start(t *testing.T, o http.Options, answer func(domain.Inbound) *channeltest.Answer) *server {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	channel, err := http.New(o)
	require.NoError(t, err)
	s := &server{t: t, url: "http://" + channel.Addr().String(), backend: channeltest.NewBackend(answer)}
	s.stop = run(t, channel, s.backend)
	return s
}

// run runs a channel until stop is called or the test ends.
func run(t *testing.T, channel *http.Channel, b channels.Backend) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- channel.Run(ctx, b) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, stop()) })
	return stop
}

// do sends a request and returns status, headers and body. Headers are pairs.
func (s *server) do(method, path, body string, headers ...string) (int, nethttp.Header, string) {
	s.t.Helper()
	response := s.open(s.t.Context(), method, path, body, headers...)
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, response.Header, string(content)
}

func (s *server) open(ctx context.Context, method, path, body string, headers ...string) *nethttp.Response {
	s.t.Helper()
	request, err := nethttp.NewRequestWithContext(ctx, method, s.url+path, bytes.NewBufferString(body))
	require.NoError(s.t, err)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := nethttp.DefaultClient.Do(request)
	require.NoError(s.t, err)
	return response
}

func (s *server) await(until func(channeltest.Counts) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), deadline)
	defer cancel()
	require.NoError(s.t, s.backend.Await(ctx, until))
}

// quote returns text as JSON.
func quote(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	require.NoError(t, err)
	return string(quoted)
}

func (s *server) message(id string) string { return s.backend.MessageID(http.Name, "", id) }

func TestMessages(t *testing.T) {
	t.Parallel()

	t.Run("a message is accepted with a receipt and its reply can be fetched", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		status, _, body := s.do("POST", "/v1/messages", `{"session":"ops","text":"hi","id":"a1","sender":"ana"}`)
		require.Equal(t, 202, status)
		require.JSONEq(t, `{"id":"a1","session":"http:ops","workflow_id":"session/http:ops"}`, body)
		require.Equal(t, []domain.Inbound{
			{Channel: "http", PlatformID: "a1", Chat: "ops", Sender: "ana", Text: "hi"},
		}, s.backend.Accepted())

		status, _, body = s.do("GET", "/v1/messages/a1", "")
		require.Equal(t, 200, status)
		require.JSONEq(t, `{"id":"a1","session":"http:ops","status":"done","reply":"echo: hi","turn":"ma2rgh7kp6s3pcu6ylvpw"}`, body)
	})

	t.Run("missing fields get defaults", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		status, _, body := s.do("POST", "/v1/messages", `{"text":"hi"}`)
		require.Equal(t, 202, status)
		var receipt http.Receipt
		require.NoError(t, json.Unmarshal([]byte(body), &receipt))
		require.Len(t, receipt.ID, 26)
		require.Equal(t, []domain.Inbound{
			{Channel: "http", PlatformID: receipt.ID, Chat: "main", Sender: "http", Text: "hi"},
		}, s.backend.Accepted())
	})

	t.Run("wait returns the reply", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		for range 3 {
			status, _, body := s.do("POST", "/v1/messages", `{"text":"hi","id":"a1","wait":true}`)
			require.Equal(t, 200, status)
			require.JSONEq(t, `{"id":"a1","session":"http:main","status":"done","reply":"echo: hi","turn":"ma2rgh7kp6s3pcu6ylvpw"}`, body)
		}
		require.Len(t, s.backend.Accepted(), 1)
	})

	t.Run("wait returns a failed turn", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, func(domain.Inbound) *channeltest.Answer {
			return &channeltest.Answer{Reply: "The provider refuses the key.", Status: domain.ReplyFailed}
		})
		status, _, body := s.do("POST", "/v1/messages", `{"text":"hi","wait":true}`)
		require.Equal(t, 200, status)
		require.Contains(t, body, `"status":"failed","reply":"The provider refuses the key."`)
	})

	t.Run("the same ID with another text or session is a conflict", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		for _, body := range []string{`{"text":"ho","id":"a1"}`, `{"text":"hi","id":"a1","session":"b"}`, `{"text":"ho","id":"a1","wait":true}`} {
			status, _, answer := s.do("POST", "/v1/messages", body)
			require.Equal(t, 409, status)
			require.Contains(t, answer, `"type":"conflict_error"`)
		}
		require.Len(t, s.backend.Accepted(), 1)
	})

	t.Run("a message is not acknowledged while the store is unavailable", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		s.backend.FailAccept(1)
		status, header, body := s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		require.Equal(t, 503, status)
		require.Equal(t, "1", header.Get("Retry-After"))
		require.Contains(t, body, "the store is away: try again; use the same ID")
		status, _, _ = s.do("POST", "/v1/messages", `{"text":"hi","id":"a1"}`)
		require.Equal(t, 202, status)
	})

	t.Run("a message is accepted even if its client disconnects", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		release := s.backend.BlockAccept()
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			request, _ := nethttp.NewRequestWithContext(ctx, "POST", s.url+"/v1/messages", strings.NewReader(`{"text":"hi","wait":true}`))
			_, _ = nethttp.DefaultClient.Do(request)
		}()
		s.await(func(c channeltest.Counts) bool { return c.Calls == 1 && c.Watching == 1 })
		cancel()
		<-gone
		s.await(func(c channeltest.Counts) bool { return c.Watching == 0 })
		release()
		s.await(func(c channeltest.Counts) bool { return c.Accepted == 1 })
	})

	t.Run("an unknown message or session is not found", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		for _, path := range []string{"/v1/messages/x", "/v1/messages/x/events", "/v1/sessions/http:x/messages", "/v1/sessions/x", "/v1/other", "/"} {
			status, header, body := s.do("GET", path, "")
			require.Equal(t, 404, status, path)
			require.Equal(t, "application/json; charset=utf-8", header.Get("Content-Type"))
			require.Contains(t, body, `"type":"not_found_error"`)
		}
	})

	t.Run("a session key in the path may contain slashes and escapes", func(t *testing.T) {
		t.Parallel()
		s := start(t, http.Options{}, nil)
		s.do("POST", "/v1/messages", `{"text":"hi","session":"a/b%20c"}`)
		for _, path := range []string{"/v1/sessions/http:a/b%2520c/messages", "/v1/sessions/http%3Aa%2Fb%2520c/messages"} {
			status, _, body := s.do("GET", path, "")
			require.Equal(t, 200, status, path)
			var transcript http.Transcript
			require.NoError(t, json.Unmarshal([]byte(body), &transcript))
			require.Equal(t, "http:a/b%20c", transcript.Session)
			require.Len(t, transcript.Messages, 2)
			require.Equal(t, "echo: hi", transcript.Messages[1].Content)
		}
	})
}

func TestRunEndsOpenWaits(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{}, channeltest.Hold)
	type answer struct {
		status int
		body   string
	}
	answers := make(chan answer, 2)
	for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
		go func() {
			request, _ := nethttp.NewRequest("POST", s.url+path, strings.NewReader(map[string]string{
				"/v1/messages":         `{"text":"hi","id":"a1","wait":true}`,
				"/v1/chat/completions": `{"messages":[{"role":"user","content":"ho"}]}`,
			}[path]))
			response, err := nethttp.DefaultClient.Do(request)
			if err != nil {
				answers <- answer{body: err.Error()}
				return
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			answers <- answer{response.StatusCode, string(body)}
		}()
	}
	s.await(func(c channeltest.Counts) bool { return c.Accepted == 2 })
	require.NoError(t, s.stop())
	for range 2 {
		got := <-answers
		require.Equal(t, 503, got.status, got.body)
		require.Contains(t, got.body, "interrupted_error")
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	s := start(t, http.Options{Token: "secret", Version: "v1.2.3"}, nil)
	status, _, body := s.do("GET", "/healthz", "")
	require.Equal(t, 200, status)
	require.JSONEq(t, `{"status":"ok","version":"v1.2.3"}`, body)
}

func TestPagesAreForTheOwner(t *testing.T) {
	t.Parallel()
	page := nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) { _, _ = io.WriteString(w, r.Method+" page") })
	pages := map[string]nethttp.Handler{"/v1/channels/x/login": page}
	s := start(t, http.Options{Token: "secret", Pages: pages}, nil)
	status, _, _ := s.do("GET", "/v1/channels/x/login", "")
	require.Equal(t, 401, status)
	status, _, body := s.do("POST", "/v1/channels/x/login", "", "Authorization", "Bearer secret")
	require.Equal(t, 200, status)
	require.Equal(t, "POST page", body)

	s = start(t, http.Options{Pages: pages}, nil)
	status, _, _ = s.do("POST", "/v1/channels/x/login", "", "Origin", "https://evil.example.com")
	require.Equal(t, 403, status)
	status, _, _ = s.do("GET", "/v1/channels/x/login", "", "Host", "evil.example.com")
	require.Equal(t, 403, status)
	status, _, _ = s.do("GET", "/v1/channels/x/login", "")
	require.Equal(t, 200, status)
}
