package chat_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

func TestToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fetched, away := 0, errors.New("away")
		token := chat.Token{Fetch: func(context.Context) (string, time.Duration, error) {
			if fetched++; fetched == 2 {
				return "", 0, away
			}
			return strconv.Itoa(fetched), 2 * time.Hour, nil
		}}
		get := func() string {
			got, err := token.Get(t.Context())
			require.NoError(t, err)
			return got
		}
		require.Equal(t, "1", get())
		time.Sleep(114 * time.Minute)
		require.Equal(t, "1", get())
		time.Sleep(2 * time.Minute)
		_, err := token.Get(t.Context())
		require.ErrorIs(t, err, away, "five minutes before its end")
		require.Equal(t, "3", get())
		token.Reject("1")
		require.Equal(t, "3", get(), "another token was refused")
		token.Reject("3")
		require.Equal(t, "4", get())
	})
}

func TestShortLivedToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		fetched := 0
		token := chat.Token{Fetch: func(context.Context) (string, time.Duration, error) {
			fetched++
			return "t", time.Minute, nil
		}}
		for range 4 {
			_, err := token.Get(t.Context())
			require.NoError(t, err)
			time.Sleep(20 * time.Second)
		}
		require.Equal(t, 2, fetched)
	})
}
