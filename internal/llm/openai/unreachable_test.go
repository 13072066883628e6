package openai_test

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// TestUnreachableProvider fails within five seconds, with the base URL and what to do.
func TestUnreachableProvider(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for name, address := range map[string]string{
		"refuses connections": closed.Addr().String(), "does not answer": deaf(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newClient(t, openai.Options{Service: "corp", BaseURL: "http://" + address + "/v1", StallTimeout: time.Minute})
			began := time.Now()
			_, err := client.Complete(t.Context(), llm.Request{Model: "m", Messages: []domain.Message{{Role: domain.RoleUser, Content: "hi"}}}, nil)
			require.Less(t, time.Since(began), 5*time.Second)
			require.ErrorContains(t, err, "http://"+address+"/v1 cannot be reached: check that it runs, the network, and providers.corp.base_url (")
			require.False(t, remote.As(err).Permanent())
		})
	}
}

// deaf returns an address that drops connections without an answer: its queue is full.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	require.NoError(t, syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	require.NoError(t, syscall.Listen(fd, 0))
	bound, err := syscall.Getsockname(fd)
	require.NoError(t, err)
	address := fmt.Sprintf("127.0.0.1:%d", bound.(*syscall.SockaddrInet4).Port)
	for {
		conn, err := (&net.Dialer{Timeout: 300 * time.Millisecond}).DialContext(t.Context(), "tcp", address)
		if err != nil {
			return address
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
}
