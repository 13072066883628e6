package activities_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// replied is a bundle with the reply "hello" to be delivered.
func replied(t *testing.T) (*bundle, protocol.DeliverInput) {
	t.Helper()
	b := setup(t, llmtest.Text("hello"))
	b.accept(t, "m1", "hi", true)
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	return b, protocol.DeliverInput{Outbox: result.Outbox}
}

// claim looks at a reply by claiming it once more.
func (b *bundle) claim(t *testing.T, in protocol.DeliverInput) domain.Outbound {
	t.Helper()
	out, err := b.store.ClaimOutbox(t.Context(), in.Outbox)
	require.NoError(t, err)
	return out
}

func deliver(t *testing.T, b *bundle, sender channels.Sender, in protocol.DeliverInput) (protocol.DeliverResult, error) {
	t.Helper()
	return execute[protocol.DeliverResult](t, activities.NewOutbox(b.store, sender, b.workspace).Deliver, in)
}

// sender is a platform without a way to look for what was posted.
type sender func(domain.Outbound) (channels.Sent, error)

func (s sender) Send(_ context.Context, msg domain.Outbound) (channels.Sent, error) {
	return s(msg)
}

func TestDeliver(t *testing.T) {
	t.Parallel()

	t.Run("posts a reply once", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		for range 2 {
			result, err := deliver(t, b, memory, in)
			require.NoError(t, err)
			require.Equal(t, protocol.DeliverResult{PlatformID: "p1"}, result)
		}
		require.Equal(t, []domain.Outbound{{ID: in.Outbox, Channel: "test", Chat: "c1", ReplyTo: "1", Text: "hello"}}, memory.Posted())
	})

	t.Run("finds what was posted when the response was lost", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		memory.LoseResponse(1)
		_, err := deliver(t, b, memory, in)
		require.False(t, failed(t, err).NonRetryable())
		result, err := deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, "p1", result.PlatformID)
		require.Len(t, memory.Posted(), 1)
	})

	t.Run("finds what was posted before a crash", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		out := b.claim(t, in)
		_, err := memory.Send(t.Context(), domain.Outbound{ID: out.ID, Chat: out.Chat})
		require.NoError(t, err)
		_, err = deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Len(t, memory.Posted(), 1)
	})

	t.Run("sends with the same key for as long as the platform recognizes it", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		memory.RecognizeKeys(time.Hour)
		memory.LoseResponse(3)
		for range 3 {
			_, err := deliver(t, b, memory, in)
			require.False(t, failed(t, err).NonRetryable())
		}
		result, err := deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, "p1", result.PlatformID)
		require.Len(t, memory.Posted(), 1)
		require.Zero(t, memory.Lookups())
	})

	t.Run("looks for what was posted once its key may have lapsed", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		memory.LoseResponse(1)
		memory.RecognizeKeys(time.Nanosecond)
		_, err := deliver(t, b, memory, in)
		require.False(t, failed(t, err).NonRetryable())
		_, err = deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Len(t, memory.Posted(), 1)
		require.Equal(t, 1, memory.Lookups())
	})

	t.Run("that was temporarily rejected leaves nothing to look for", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		_, err := deliver(t, b, sender(func(domain.Outbound) (channels.Sent, error) {
			return channels.Sent{}, &remote.Error{Service: "test", Status: 429, RetryAfter: 5, Err: errors.New("slow down")}
		}), in)
		require.False(t, failed(t, err).NonRetryable())
		require.EqualValues(t, 5, failed(t, err).NextRetryDelay())
		require.False(t, b.claim(t, in).Claimed)
	})

	t.Run("keeps what cannot be delivered", func(t *testing.T) {
		t.Parallel()
		for name, refusal := range map[string]error{
			"the chat is gone":                channels.ErrGone,
			"the platform does not take it":   &remote.Error{Service: "test", Status: 400, Err: errors.New("too long")},
			"the platform does not let us in": &remote.Error{Service: "test", Status: 401, Err: errors.New("token revoked")},
		} {
			b, in := replied(t)
			calls := 0
			refuse := sender(func(domain.Outbound) (channels.Sent, error) {
				calls++
				return channels.Sent{}, refusal
			})
			for range 2 {
				result, err := deliver(t, b, refuse, in)
				require.NoError(t, err, name)
				require.True(t, result.Gone)
			}
			require.Equal(t, 1, calls)
			kept := b.claim(t, in)
			require.Equal(t, domain.OutboxFailed, kept.State)
			require.Equal(t, "hello", kept.Text)
			require.NotEmpty(t, kept.Error)
		}
	})

	t.Run("retries for as long as the channel is unavailable", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		memory.Fail(50)
		_, took, err := retried[protocol.DeliverResult](t, activities.NewOutbox(b.store, memory, b.workspace).Deliver, in)
		require.NoError(t, err)
		require.Greater(t, took.Minutes(), 30.)
		require.Len(t, memory.Posted(), 1)
	})

	t.Run("of a superseded attempt records nothing", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		zombie := sender(func(domain.Outbound) (channels.Sent, error) {
			_, err := deliver(t, b, sender(func(domain.Outbound) (channels.Sent, error) {
				return channels.Sent{PlatformID: "successor"}, nil
			}), in)
			return channels.Sent{PlatformID: "zombie"}, err
		})
		_, err := deliver(t, b, zombie, in)
		require.ErrorContains(t, err, "took over")
		require.Equal(t, "successor", b.claim(t, in).PlatformID)
	})

	t.Run("of a missing reply is not retried", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		_, err := deliver(t, b, channeltest.NewMemory("test"), protocol.DeliverInput{Outbox: "o1"})
		require.True(t, failed(t, err).NonRetryable())
	})
}
