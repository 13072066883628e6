package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/webhook"
	"github.com/holdfast-ai/holdfast/channels/webhook/webhooktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func open(t *testing.T, url string, change func(*webhook.Endpoint)) *webhook.Channel {
	t.Helper()
	e := webhook.Endpoint{URL: url, Secret: webhooktest.Secret, Private: true}
	if change != nil {
		change(&e)
	}
	c, err := webhook.New(webhook.Options{Endpoints: map[string]webhook.Endpoint{"c1": e}, KeyLasts: 24 * time.Hour, Timeout: 5 * time.Second})
	require.NoError(t, err)
	return c
}

func message(id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: webhook.Name, Chat: "c1", Thread: "main", ReplyTo: "m1", Text: text}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunSender(t, func(t *testing.T) channeltest.Platform {
		s := webhooktest.Start(t)
		return channeltest.Platform{
			Name: webhook.Name, Push: true, Sender: keyed(open(t, s.URL, nil)),
			Posted: func() (all []domain.Outbound) {
				for _, e := range s.Taken() {
					all = append(all, domain.Outbound{Chat: e.Data.Endpoint, Text: e.Data.Text})
				}
				return all
			},
			Fail: func(n int) { s.Answer(n, http.StatusServiceUnavailable, "") }, LoseResponse: s.LoseAnswers,
			Close: func(string) { s.Answer(1, http.StatusGone, "") },
		}
	})
}

// keyed is the channel as a sender that recognizes keys; it cannot look for anything.
func keyed(c *webhook.Channel) channels.Sender {
	return struct {
		channels.Sender
		channels.Keyed
	}{c, c}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	s := webhooktest.Start(t)
	c := open(t, s.URL, nil)
	reply := message("o1", "# Hi")
	question := message("o2", "May I?")
	question.Approval = "abcdefgh"
	file := message("o3", "the file")
	file.File, file.Content = "größe.txt", []byte("\x00content")
	for _, msg := range []domain.Outbound{reply, question, file} {
		sent, err := c.Send(t.Context(), msg)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(sent.PlatformID, "msg_"))
	}
	got := s.Taken()
	require.Equal(t, webhook.Event{Type: "reply", Data: webhook.Data{ID: got[0].Data.ID, Endpoint: "c1", Session: "main", ReplyTo: "m1", Part: 1, Text: "# Hi"}}, got[0])
	require.Equal(t, webhook.TypeQuestion, got[1].Type)
	require.Equal(t, "abcdefgh", got[1].Data.Approval)
	require.Equal(t, &webhook.File{Name: "größe.txt", MIME: "text/plain; charset=utf-8", Content: []byte("\x00content")}, got[2].Data.File)
}

// Every answer is lost, and every message is sent until it is known to have arrived: the
// program has each once, by its key.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	s := webhooktest.Start(t)
	c := open(t, s.URL, nil)
	const n = 100
	for i := range n {
		s.LoseAnswers(1)
		msg := message(fmt.Sprint("o", i), fmt.Sprint("text ", i))
		for attempts := 1; ; attempts++ {
			require.LessOrEqual(t, attempts, 3)
			if _, err := c.Send(t.Context(), msg); err == nil {
				break
			}
		}
	}
	require.Len(t, s.Taken(), n)
	require.Equal(t, 2*n, s.Requests())
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	s := webhooktest.Start(t)
	for _, test := range []struct {
		status     int
		retryAfter string
		wait       time.Duration
		gone       bool
	}{
		{status: 500},
		{status: 502},
		{status: 503, retryAfter: "7", wait: 7 * time.Second},
		{status: 429, retryAfter: "9", wait: 9 * time.Second},
		{status: 404, wait: time.Minute},
		{status: 401, wait: time.Minute},
		{status: 400, retryAfter: "120", wait: 2 * time.Minute},
		{status: 302, wait: time.Minute},
		{status: 308, wait: time.Minute},
		{status: 410, gone: true},
	} {
		c := open(t, s.URL, nil)
		s.Answer(1, test.status, test.retryAfter)
		_, err := c.Send(t.Context(), message("o1", "secret text"))
		failed := remote.As(err)
		require.NotNil(t, failed, "%d: %v", test.status, err)
		require.Equal(t, test.gone, failed.Permanent(), "%d", test.status)
		require.Equal(t, test.wait, failed.RetryAfter, "%d", test.status)
		if test.gone {
			require.ErrorIs(t, err, channels.ErrGone)
		}
		require.Empty(t, s.Taken(), "redirects are not followed")
		require.NotContains(t, err.Error(), webhooktest.Secret)
	}
	// During a Retry-After the endpoint is left alone.
	c := open(t, s.URL, nil)
	s.Answer(1, http.StatusTooManyRequests, "60")
	before := s.Requests()
	for range 3 {
		_, err := c.Send(t.Context(), message("o1", "hi"))
		require.Error(t, err)
	}
	require.Equal(t, before+1, s.Requests())
}

func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	s := webhooktest.Start(t)
	local := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	for _, url := range []string{s.URL, local} {
		c := open(t, url, func(e *webhook.Endpoint) { e.Private = false })
		_, err := c.Send(t.Context(), message("o1", "hi"))
		require.ErrorContains(t, err, "is not a public address")
	}
	require.Zero(t, s.Requests())
}

func TestUnknownEndpoint(t *testing.T) {
	t.Parallel()
	s := webhooktest.Start(t)
	c := open(t, s.URL, nil)
	msg := message("o1", "hi")
	msg.Chat = s.URL
	_, err := c.Send(t.Context(), msg)
	require.ErrorIs(t, err, channels.ErrGone)
	_, err = c.Locate(t.Context(), s.URL, "")
	require.ErrorContains(t, err, "must be the name of an endpoint in channels.webhook.endpoints: c1")
	chat, err := c.Locate(t.Context(), "c1", "main")
	require.NoError(t, err)
	require.Equal(t, "c1", chat)
}

// The example of the specification of Standard Webhooks.
func TestSign(t *testing.T) {
	t.Parallel()
	signature, err := webhook.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, []byte(`{"test": 2432232314}`))
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", signature)
	for _, secret := range []string{"", "short", "whsec_????", "whsec_c2hvcnQ="} {
		_, err := webhook.Sign(secret, "msg_1", 1, nil)
		require.Error(t, err, secret)
	}
}

func TestChangingTheSecret(t *testing.T) {
	t.Parallel()
	s := webhooktest.Start(t)
	c := open(t, s.URL, func(e *webhook.Endpoint) {
		e.Secret, e.OldSecret = strings.Repeat("new secret ", 3), webhooktest.Secret
	})
	_, err := c.Send(t.Context(), message("o1", "hi"))
	require.NoError(t, err)
	c = open(t, s.URL, func(e *webhook.Endpoint) { e.Secret = strings.Repeat("new secret ", 3) })
	_, err = c.Send(t.Context(), message("o2", "hi"))
	require.ErrorContains(t, err, "401")
	require.Len(t, s.Taken(), 1)
}

// What an endpoint answers with is not kept, and does not hold up others.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	_, err := open(t, server.URL, nil).Send(t.Context(), message("o1", "hi"))
	require.NoError(t, err)
}

func TestRun(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, open(t, webhooktest.Start(t).URL, nil).Run(ctx, nil))
}
