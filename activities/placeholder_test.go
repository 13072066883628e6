package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
)

// postedTexts are the texts in the chat.
func postedTexts(memory *channeltest.Memory) (all []string) {
	for _, msg := range memory.Posted() {
		all = append(all, msg.Text)
	}
	return all
}

func TestPlaceholder(t *testing.T) {
	t.Parallel()
	open := func(t *testing.T) *channeltest.Memory {
		t.Helper()
		memory := channeltest.NewMemory("test")
		memory.HideHistory()
		return memory
	}

	t.Run("becomes the reply", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := open(t)
		result, err := deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, "p1", result.PlatformID)
		require.Equal(t, []string{"hello"}, postedTexts(memory))
	})

	t.Run("is all that a lost answer doubles", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := open(t)
		memory.LoseResponse(1)
		_, err := deliver(t, b, memory, in)
		require.False(t, failed(t, err).NonRetryable())
		_, err = deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, []string{"…", "hello"}, postedTexts(memory))
	})

	t.Run("is edited again when the answer to the edit is lost", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := open(t)
		memory.LoseEditResponse(2)
		for range 2 {
			_, err := deliver(t, b, memory, in)
			require.False(t, failed(t, err).NonRetryable())
		}
		_, err := deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, []string{"hello"}, postedTexts(memory))
	})

	t.Run("that somebody deleted is posted again", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := open(t)
		memory.LoseEditResponse(1)
		_, err := deliver(t, b, memory, in)
		require.Error(t, err)
		memory.Remove("p1")
		memory.LoseEditResponse(1)
		_, err = deliver(t, b, memory, in)
		require.Error(t, err)
		_, err = deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, []string{"hello"}, postedTexts(memory))
	})

	t.Run("stands for each part of a long reply", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := open(t)
		memory.LoseEditResponse(1)
		_, err := deliver(t, b, splitting{memory}, in)
		require.Error(t, err)
		memory.LoseResponse(1)
		_, err = deliver(t, b, splitting{memory}, in)
		require.Error(t, err)
		_, err = deliver(t, b, splitting{memory}, in)
		require.NoError(t, err)
		require.Equal(t, []string{"he", "…", "llo"}, postedTexts(memory))
	})

	t.Run("is the turn's draft where it has one", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := open(t)
		out := b.claim(t, in)
		draft, err := memory.Placeholder(t.Context(), out)
		require.NoError(t, err)
		out.Draft = draft
		again, err := memory.Placeholder(t.Context(), out)
		require.NoError(t, err)
		require.Empty(t, again)
		out.Replace = true
		anew, err := memory.Placeholder(t.Context(), out)
		require.NoError(t, err)
		require.Equal(t, "p2", anew)
		require.Equal(t, []string{"…"}, postedTexts(memory))
	})

	t.Run("is not needed where what was posted is found or recognized", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		out := b.claim(t, in)
		memory := channeltest.NewMemory("test")
		id, err := memory.Placeholder(t.Context(), out)
		require.NoError(t, err)
		require.Empty(t, id)
		memory.RecognizeKeys(1)
		memory.HideHistory()
		id, err = memory.Placeholder(t.Context(), out)
		require.NoError(t, err)
		require.Empty(t, id)
	})
}
