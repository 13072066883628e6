package client_test

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	token    = "secret"
	deadline = 20 * time.Second
)

// serve runs the channel at an address until stop is called.
func serve(t *testing.T, address string, b channels.Backend) (addr string, stop func()) {
	t.Helper()
	channel, err := http.New(http.Options{Listen: address, Token: token, Version: "v1"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- channel.Run(ctx, b) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	return channel.Addr().String(), stop
}

func TestClient(t *testing.T) {
	t.Parallel()

	t.Run("a message is sent, followed and found in the transcript", func(t *testing.T) {
		t.Parallel()
		backend := channeltest.NewBackend(channeltest.Hold)
		addr, _ := serve(t, "127.0.0.1:0", backend)
		c := client.New("http://"+addr+"/", token)
		receipt, err := c.Send(t.Context(), "a/b", "id/1", "hi")
		require.NoError(t, err)
		require.Equal(t, http.Receipt{ID: "id/1", Session: "http:a/b", WorkflowID: "session/http:a/b"}, receipt)

		happens := []event.Event{
			{Kind: event.Approval, ID: "ab12", Tool: "exec", Text: "ls", Step: 1},
			{Kind: event.ToolStart, Tool: "exec", Text: "ls", Step: 1},
			{Kind: event.Text, Text: "echo", Step: 2},
		}
		id := backend.MessageID(http.Name, "", receipt.ID)
		for _, e := range happens {
			backend.Emit(id, e)
		}
		var events []event.Event
		message, err := c.Follow(t.Context(), receipt.ID, func(e event.Event) {
			events = append(events, e)
			if len(events) == len(happens) {
				backend.End(id, channeltest.Answer{Reply: "echo: hi"})
			}
		})
		require.NoError(t, err)
		require.Equal(t, happens, events)
		require.Equal(t, "echo: hi", message.Text)
		require.Equal(t, domain.ReplyDone, message.Status)

		transcript, err := c.Transcript(t.Context(), receipt.Session)
		require.NoError(t, err)
		require.Len(t, transcript, 2)
		require.Equal(t, "echo: hi", transcript[1].Content)

		said := domain.BackgroundReply{
			Turn: "m1", Cause: domain.CauseJob, Label: "plants", Status: domain.ReplyDone, Text: "water them",
			EndedAt: time.Date(2026, 3, 4, 15, 30, 0, 123456000, time.UTC),
		}
		backend.Say(receipt.Session, said)
		background, err := c.Background(t.Context(), receipt.Session, time.Time{})
		require.NoError(t, err)
		require.Equal(t, []domain.BackgroundReply{said}, background)
		background, err = c.Background(t.Context(), receipt.Session, said.EndedAt.Local())
		require.NoError(t, err)
		require.Empty(t, background)
	})

	t.Run("only health works without a token", func(t *testing.T) {
		t.Parallel()
		addr, _ := serve(t, "127.0.0.1:0", channeltest.NewBackend(nil))
		c := client.New("http://"+addr, "wrong")
		health, err := c.Health(t.Context())
		require.NoError(t, err)
		require.Equal(t, http.Health{Status: "ok", Version: "v1"}, health)
		_, err = c.Send(t.Context(), "main", "", "hi")
		require.ErrorContains(t, err, "holdfast: status 401: missing or wrong token")
		_, err = c.Follow(t.Context(), "a1", nil)
		require.Equal(t, 401, remote.As(err).Status)
	})

	t.Run("errors contain the server's message", func(t *testing.T) {
		t.Parallel()
		backend := channeltest.NewBackend(nil)
		addr, _ := serve(t, "127.0.0.1:0", backend)
		c := client.New("http://"+addr, token)
		backend.FailAccept(1)
		_, err := c.Send(t.Context(), "main", "a1", "hi")
		require.Equal(t, time.Second, remote.As(err).RetryAfter)
		require.False(t, remote.As(err).Permanent())
		_, err = c.Follow(t.Context(), "a1", nil)
		require.Equal(t, 404, remote.As(err).Status)
		_, err = client.New("http://127.0.0.1:1", token).Send(t.Context(), "main", "a1", "hi")
		require.Zero(t, remote.As(err).Status)
	})
}

func TestFollowOutlivesTheServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	backend := channeltest.NewBackend(channeltest.Hold)
	addr, stop := serve(t, "127.0.0.1:0", backend)
	c := client.New("http://"+addr, token)
	_, err := c.Send(ctx, "main", "a1", "hi")
	require.NoError(t, err)
	id := backend.MessageID(http.Name, "", "a1")
	backend.Emit(id, event.Event{Kind: event.Text, Text: "Hel", Step: 1})

	events := make(chan event.Event, 10)
	type result struct {
		message domain.Reply
		err     error
	}
	followed := make(chan result, 1)
	go func() {
		message, err := c.Follow(ctx, "a1", func(e event.Event) { events <- e })
		followed <- result{message, err}
	}()
	require.Equal(t, event.Text, (<-events).Kind)
	stop()
	require.NoError(t, backend.Await(ctx, func(c channeltest.Counts) bool { return c.Watching == 0 }))
	require.Equal(t, event.Disconnected, (<-events).Kind)

	serve(t, addr, backend)
	require.Equal(t, event.Reset, (<-events).Kind)
	require.Equal(t, event.Event{Kind: event.Text, Text: "Hel", Step: 1}, <-events)
	backend.End(id, channeltest.Answer{Reply: "Hello"})
	got := <-followed
	require.NoError(t, got.err)
	require.Equal(t, "Hello", got.message.Text)
}

func TestFollowEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	tries := make(chan struct{}, 100)
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		tries <- struct{}{}
		w.WriteHeader(502)
		_, _ = fmt.Fprint(w, "<html>bad gateway</html>")
	}))
	t.Cleanup(server.Close)
	ended := make(chan error, 1)
	go func() {
		_, err := client.New(server.URL, "").Follow(ctx, "a1", nil)
		ended <- err
	}()
	<-tries
	<-tries
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}
