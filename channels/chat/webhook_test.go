package chat_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestWebhook(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/hook", ""} {
		t.Run("at "+path, func(t *testing.T) {
			t.Parallel()
			testWebhook(t, path)
		})
	}
}

func testWebhook(t *testing.T, path string) {
	t.Helper()
	hook := &chat.Webhook{
		Name: "fake", Listen: "127.0.0.1:0", Path: path, Logger: discard(),
		Verify: func(header http.Header, _ []byte) error {
			if header.Get("Token") != "secret" {
				return errors.New("another token")
			}
			return nil
		},
		Read: func(_ http.Header, body []byte) (chat.Delivery, any, error) {
			command, text, _ := strings.Cut(string(body), " ")
			switch command {
			case "post":
				return post(func(p *chat.Post) { p.PlatformID, p.Text = text, text }), nil, nil
			case "command":
				return &chat.Command{Origin: chat.Origin{Inbound: domain.Inbound{PlatformID: "c1", Chat: "ops", Sender: "ana", Text: text}}}, nil, nil
			case "challenge":
				return nil, map[string]string{"challenge": text}, nil
			case "click":
				return &chat.Click{Origin: chat.Origin{Inbound: domain.Inbound{PlatformID: "b1", Chat: "ops", Sender: "ana"}}}, struct{}{}, nil
			}
			return nil, nil, chat.ErrMalformed
		},
		Confirm: func(query url.Values) (string, bool) { return query.Get("challenge"), query.Get("token") == "secret" },
		Reply:   func(answer string) any { return map[string]string{"text": answer} },
	}
	backend := channeltest.NewBackend(nil)
	r := run(t, options(), backend, func(p *plain) chat.Platform {
		p.receive = func(ctx context.Context, in chat.Inbox) error { return hook.Serve(ctx, in) }
		return p
	})
	require.Eventually(t, func() bool { return hook.Addr() != nil }, deadline, tick)
	send := func(method, path, body string, secret string) (int, string) {
		request, err := http.NewRequestWithContext(r.ctx, method, "http://"+hook.Addr().String()+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Token", secret)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, strings.TrimSpace(string(text))
	}
	for _, tt := range []struct {
		method, path, body, secret string
		status                     int
		want                       string
	}{
		{"POST", path, "post 1", "guessed", 401, "Unauthorized"},
		{"POST", path, "post 1", "secret", 200, ""},
		{"POST", path, "post 1", "secret", 200, ""},
		{"POST", path, "command status", "secret", 200, `{"text":"I am not working on anything here."}`},
		{"POST", path, "challenge x", "secret", 200, `{"challenge":"x"}`},
		{"POST", path, "click", "secret", 200, `{}`},
		{"POST", path, "nonsense", "secret", 400, "not understood"},
		{"POST", path, strings.Repeat(" ", 1<<20+1), "secret", 413, "Request Entity Too Large"},
		{"GET", path + "?token=secret&challenge=y", "", "", 200, "y"},
		{"GET", path + "?token=guessed&challenge=y", "", "", 403, "not the expected token"},
		{"GET", path + "/health", "", "", 200, ""},
		{"PUT", path, "post 1", "secret", 405, "Method Not Allowed"},
		{"POST", "/elsewhere", "post 1", "secret", 404, "404 page not found"},
	} {
		status, body := send(tt.method, tt.path, tt.body, tt.secret)
		require.Equal(t, tt.status, status, "%s %.20s", tt.method, tt.body)
		require.Equal(t, tt.want, body)
	}
	require.Len(t, backend.Accepted(), 1)

	backend.FailAccept(1)
	status, _ := send("POST", path, "post 2", "secret")
	require.Equal(t, 503, status, "not acknowledged")
	status, _ = send("POST", path, "post 2", "secret")
	require.Equal(t, 200, status)
	require.Len(t, backend.Accepted(), 2)

	second := chat.NewReceiver(&taken{newPlain(), hook.Addr().String()}, options())
	require.ErrorContains(t, second.Run(r.ctx, backend), "listen for fake")
	require.NoError(t, r.stop())
	require.Nil(t, hook.Addr())
}

// taken is a platform whose address is in use.
type taken struct {
	*plain
	address string
}

func (p *taken) Receive(ctx context.Context, in chat.Inbox) error {
	return (&chat.Webhook{Name: "fake", Listen: p.address, Logger: discard()}).Serve(ctx, in)
}

func TestWebhookWithSeveralMessages(t *testing.T) {
	t.Parallel()
	hook := &chat.Webhook{
		Name: "fake", Listen: "127.0.0.1:0", Logger: discard(),
		Verify: func(http.Header, []byte) error { return nil },
		ReadAll: func(_ http.Header, body []byte) (all []chat.Delivery, err error) {
			for text := range strings.FieldsSeq(string(body)) {
				if text == "nonsense" {
					return nil, chat.ErrMalformed
				}
				all = append(all, post(func(p *chat.Post) { p.PlatformID, p.Text = text, text }))
			}
			return all, nil
		},
	}
	backend := channeltest.NewBackend(nil)
	r := run(t, options(), backend, func(p *plain) chat.Platform {
		p.receive = func(ctx context.Context, in chat.Inbox) error { return hook.Serve(ctx, in) }
		return p
	})
	require.Eventually(t, func() bool { return hook.Addr() != nil }, deadline, tick)
	send := func(body string) int {
		request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, "http://"+hook.Addr().String(), strings.NewReader(body))
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return response.StatusCode
	}
	require.Equal(t, 200, send(""))
	backend.FailAccept(1)
	require.Equal(t, 503, send("one two three"), "not all were accepted")
	require.Equal(t, 200, send("one two three"))
	require.Len(t, backend.Accepted(), 3)
	require.Equal(t, 400, send("nonsense"))
}

// A proxy may hold a connection ready on which it sends nothing.
func TestAWebhookDoesNotWaitForUnusedConnections(t *testing.T) {
	t.Parallel()
	w := &chat.Webhook{Name: "fake", Listen: "127.0.0.1:0", Path: "/hook", Logger: discard()}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Serve(ctx, nil) }()
	require.Eventually(t, func() bool { return w.Addr() != nil }, deadline, tick)
	unused, err := new(net.Dialer).DialContext(ctx, "tcp", w.Addr().String())
	require.NoError(t, err)
	defer unused.Close()
	answer, err := http.Get("http://" + w.Addr().String() + "/hook/health")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	asked := time.Now()
	stop()
	require.NoError(t, <-ended)
	require.Less(t, time.Since(asked), 4*time.Second)
}
