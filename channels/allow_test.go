package channels_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestAllowFrom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		senders []string
		sender  string
		allowed bool
	}{
		{"nobody by default", nil, "ana", false},
		{"on the list", []string{"bob", "ana"}, "ana", true},
		{"off the list", []string{"bob"}, "ana", false},
		{"a part of an entry", []string{"anabel"}, "ana", false},
		{"no sender", []string{""}, "", false},
		{"anyone", []string{"*"}, "ana", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			backend := channeltest.NewBackend(nil)
			msg := domain.Inbound{Channel: "test", PlatformID: "1", Chat: "c", Sender: tt.sender, Text: "hi"}
			_, err := channels.AllowFrom(tt.senders, backend).Accept(t.Context(), msg)
			if tt.allowed {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, channels.ErrNotAllowed)
			}
			require.Equal(t, tt.allowed, len(backend.Accepted()) == 1)
		})
	}
}
