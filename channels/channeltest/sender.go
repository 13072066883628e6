package channeltest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func outbound(p Platform, id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: p.Name, Chat: "c1", Text: text}
}

// RunSender tests the contracts of [channels.Sender] and, if implemented,
// [channels.Finder]. Each test calls open once, for a channel with empty chats.
func RunSender(t *testing.T, open func(*testing.T) Platform) {
	t.Run("a message is posted to its chat", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		ctx := bounded(t)
		first, err := p.Sender.Send(ctx, outbound(p, "o1", "Grüße 👩‍👩‍👧"))
		require.NoError(t, err)
		require.NotEmpty(t, first.PlatformID)
		second, err := p.Sender.Send(ctx, outbound(p, "o2", "two"))
		require.NoError(t, err)
		require.NotEqual(t, first.PlatformID, second.PlatformID)
		posted := p.Posted()
		require.Len(t, posted, 2)
		require.Equal(t, "c1", posted[0].Chat)
		require.Equal(t, "Grüße 👩‍👩‍👧", posted[0].Text)
		require.Equal(t, "two", posted[1].Text)
	})

	t.Run("many messages at once are all posted", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		ctx := bounded(t)
		const n = 20
		sent := make(chan error, n)
		for i := range n {
			go func() {
				_, err := p.Sender.Send(ctx, outbound(p, fmt.Sprintf("o%d", i), "hi"))
				sent <- err
			}()
		}
		for range n {
			require.NoError(t, <-sent)
		}
		require.Len(t, p.Posted(), n)
	})

	t.Run("a temporary rejection is a retryable error after one attempt", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		if p.Fail == nil {
			t.Skip("the platform cannot be made to fail")
		}
		ctx := bounded(t)
		p.Fail(1)
		_, err := p.Sender.Send(ctx, outbound(p, "o1", "hi"))
		failed := remote.As(err)
		require.NotNil(t, failed, "not a remote.Error: %v", err)
		require.False(t, failed.Permanent())
		require.NotErrorIs(t, err, channels.ErrGone)
		require.Empty(t, p.Posted())
		_, err = p.Sender.Send(ctx, outbound(p, "o1", "hi"))
		require.NoError(t, err)
	})

	t.Run("a missing chat is recognized", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		if p.Close == nil {
			t.Skip("chats of the platform cannot go away")
		}
		p.Close("c1")
		_, err := p.Sender.Send(bounded(t), outbound(p, "o1", "hi"))
		require.ErrorIs(t, err, channels.ErrGone)
		require.Empty(t, p.Posted())
	})

	t.Run("a chat that takes no message for now is recognized", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		if p.Limit == nil {
			t.Skip("the platform has no message window")
		}
		ctx := bounded(t)
		p.Limit("c1", 1)
		_, err := p.Sender.Send(ctx, outbound(p, "o1", "hi"))
		require.NoError(t, err)
		_, err = p.Sender.Send(ctx, outbound(p, "o2", "hi"))
		require.ErrorIs(t, err, channels.ErrUndeliverableNow)
		require.NotErrorIs(t, err, channels.ErrGone)
		require.Len(t, p.Posted(), 1)
	})

	t.Run("a message that is sent again with the same key is posted once", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		keyed, ok := p.Sender.(channels.Keyed)
		if !ok || keyed.KeyLasts() == 0 || p.LoseResponse == nil {
			t.Skip("the platform takes no key")
		}
		ctx := bounded(t)
		msg := outbound(p, "o1", "hi")
		p.LoseResponse(1)
		_, err := p.Sender.Send(ctx, msg)
		require.NotNil(t, remote.As(err), "not a remote.Error: %v", err)
		first, err := p.Sender.Send(ctx, msg)
		require.NoError(t, err)
		second, err := p.Sender.Send(ctx, outbound(p, "o2", "hi"))
		require.NoError(t, err)
		require.NotEqual(t, first.PlatformID, second.PlatformID)
		require.Len(t, p.Posted(), 2)
	})

	t.Run("what was posted is found again, also when the response was lost", func(t *testing.T) {
		t.Parallel()
		p := open(t)
		finder, ok := p.Sender.(channels.Finder)
		if !ok {
			t.Skip("the channel cannot look for what it sent")
		}
		ctx := bounded(t)
		first, second := outbound(p, "o1", "same"), outbound(p, "o2", "same")
		found, err := finder.Find(ctx, first)
		require.NoError(t, err)
		require.Zero(t, found)
		sent, err := p.Sender.Send(ctx, first)
		require.NoError(t, err)
		found, err = finder.Find(ctx, first)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: sent.PlatformID}, found)
		found, err = finder.Find(ctx, second)
		require.NoError(t, err)
		require.Zero(t, found, "the same text with another ID is another message")
		if p.LoseResponse == nil {
			return
		}
		p.LoseResponse(1)
		_, err = p.Sender.Send(ctx, second)
		require.NotNil(t, remote.As(err), "not a remote.Error: %v", err)
		found, err = finder.Find(ctx, second)
		require.NoError(t, err)
		require.True(t, found.Posted)
		require.NotEqual(t, sent.PlatformID, found.PlatformID)
	})
}
