package web_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/web"
)

type args map[string]any

// serve runs a server for the length of a test.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server
}

// allow lets web_fetch reach the servers, and no other private address.
func allow(servers ...*httptest.Server) func(netip.AddrPort) bool {
	return func(addr netip.AddrPort) bool {
		for _, server := range servers {
			if server.Listener.Addr().(*net.TCPAddr).AddrPort() == addr {
				return true
			}
		}
		return false
	}
}

func lookup(t *testing.T, o web.Options, name string) tool.Tool {
	t.Helper()
	tools, err := web.New(o)
	require.NoError(t, err)
	var registry tool.Registry
	require.NoError(t, registry.Register(tools...))
	found, err := registry.Lookup(t.Context(), name)
	require.NoError(t, err)
	return found
}

func run(t *testing.T, o web.Options, name string, arguments args) (string, error) {
	t.Helper()
	return attempt(t, o, name, arguments, 1)
}

func attempt(t *testing.T, o web.Options, name string, arguments args, number int) (string, error) {
	t.Helper()
	data, err := json.Marshal(arguments)
	require.NoError(t, err)
	result, err := lookup(t, o, name).Run(t.Context(), tool.Call{Arguments: data, Attempt: number})
	return result.Text, err
}
