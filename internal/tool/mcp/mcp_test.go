package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

// legacy makes a server one that does not know the newest protocol, which has
// sessions and a stream for notifications.
func legacy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var message struct {
			ID     any
			Method string
		}
		if json.Unmarshal(body, &message) == nil && message.Method == "server/discover" {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{
				"jsonrpc": "2.0", "id": message.ID, "error": map[string]any{"code": -32601, "message": "method not found"},
			})
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// onEach runs the test against the fake over each transport.
func onEach(t *testing.T, test func(t *testing.T, described mcp.Server, folder string)) {
	t.Parallel()
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		described := overStdio(t)
		test(t, described, folder(described))
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		test(t, overHTTP(t, "fake", newFake(folder).Server), folder)
	})
	t.Run("http with a session", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		test(t, overHTTP(t, "fake", newFake(folder).Server, legacy), folder)
	})
	t.Run("http with a session and JSON", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		fake := newFake(folder).Server
		plain := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return fake }, &sdk.StreamableHTTPOptions{JSONResponse: true})
		test(t, overHTTP(t, "fake", fake, func(http.Handler) http.Handler { return legacy(plain) }), folder)
	})
}

// noted returns the lines of the fake's notes.
func noted(folder, file string) []string {
	data, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		return nil
	}
	return strings.Fields(string(data))
}

func TestTools(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, _ string) {
		servers := start(t, described)
		echo := lookup(t, servers, "mcp_fake_echo")
		require.Equal(t, tool.Repeatable, echo.Kind)
		require.True(t, echo.ReadOnly)
		require.Equal(t, "Does echo.", echo.Spec.Description)
		require.JSONEq(t, `{"type":"object","properties":{"text":{"type":"string"}},"additionalProperties":false}`, string(echo.Spec.Parameters))
		require.Greater(t, echo.Limit(nil), time.Minute)

		again := lookup(t, servers, "mcp_fake_die_again")
		require.Equal(t, tool.Repeatable, again.Kind)
		require.False(t, again.ReadOnly)
		require.Equal(t, tool.Once, lookup(t, servers, "mcp_fake_write").Kind)

		require.False(t, echo.Destructive)
		require.True(t, again.Destructive, "to be repeated is not to be harmless")
		require.True(t, lookup(t, servers, "mcp_fake_write").Destructive, "its server says nothing")
		require.False(t, lookup(t, servers, "mcp_fake_fail").Destructive)
		require.Equal(t, tool.Once, lookup(t, servers, "mcp_fake_fail").Kind)

		result, err := run(t.Context(), t, echo, args{"text": "hello"})
		require.NoError(t, err)
		require.Equal(t, tool.Result{Text: "hello"}, result)
		_, err = run(t.Context(), t, echo, args{"text": 1})
		require.ErrorContains(t, err, "invalid arguments for mcp_fake_echo")

		result, err = call(t, servers, "mcp_fake_fail", nil)
		require.NoError(t, err)
		require.Equal(t, tool.Result{Text: "no such thing", Failed: true}, result)
	})
}

func TestHangingCallTimesOut(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, folder string) {
		described.Timeout = 300 * time.Millisecond
		servers := start(t, described)
		_, err := call(t, servers, "mcp_fake_hang_read", nil)
		require.ErrorContains(t, err, "did not answer within 300ms")
		require.NotErrorIs(t, err, tool.ErrOutcomeUnknown)
		_, err = call(t, servers, "mcp_fake_hang", nil)
		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		require.Eventually(t, func() bool { return len(noted(folder, "cancelled")) == 2 }, deadline, tick, "the server was not told")
	})
}

func TestHangingCallDoesNotBlockOthers(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, folder string) {
		servers := start(t, described)
		hang, echo := lookup(t, servers, "mcp_fake_hang"), lookup(t, servers, "mcp_fake_echo")
		ctx, stop := context.WithCancelCause(t.Context())
		hanging := make(chan error, 1)
		go func() {
			_, err := hang.Run(ctx, tool.Call{Key: "t.1.1"})
			hanging <- err
		}()
		require.Eventually(t, func() bool { return len(noted(folder, "hanging")) == 1 }, deadline, tick)
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				result, err := echo.Run(ctx, tool.Call{Arguments: json.RawMessage(`{"text":"hi"}`)})
				if err != nil || result.Text != "hi" {
					t.Errorf("%q, %v", result.Text, err)
				}
			})
		}
		group.Wait()
		require.Empty(t, hanging)

		stop(tool.ErrStopped)
		require.ErrorIs(t, <-hanging, tool.ErrStopped)
		require.Eventually(t, func() bool { return len(noted(folder, "cancelled")) == 1 }, deadline, tick, "the server was not told")
		_, err := call(t, servers, "mcp_fake_echo", args{"text": "after"})
		require.NoError(t, err)
	})
}

func TestLargeResult(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, _ string) {
		servers := start(t, described)
		result, err := call(t, servers, "mcp_fake_large", args{"text": "5242880"})
		require.NoError(t, err)
		require.Len(t, result.Text, 5<<20)
	})
}

func TestListChange(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, _ string) {
		servers := start(t, described)
		lookup(t, servers, "mcp_fake_fail")
		_, err := call(t, servers, "mcp_fake_grow", nil)
		require.NoError(t, err)
		result, err := call(t, servers, "mcp_fake_grown", nil)
		require.NoError(t, err)
		require.Equal(t, "new", result.Text)
		require.Eventually(t, func() bool {
			_, found := servers.Lookup(t.Context(), "mcp_fake_fail")
			return !found
		}, deadline, tick)
	})
}

func TestProgressIsShown(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, _ string) {
		if strings.HasSuffix(t.Name(), "JSON") {
			t.Skip("an answer in JSON has no room for it")
		}
		servers := start(t, described)
		ctx, stop := context.WithCancelCause(t.Context())
		var shown []string
		_, err := lookup(t, servers, "mcp_fake_progress").Run(ctx, tool.Call{Key: "t.1.0", Progress: func(text string) {
			if shown = append(shown, text); len(shown) == 2 {
				stop(tool.ErrStopped)
			}
		}})
		require.ErrorIs(t, err, tool.ErrStopped)
		require.Equal(t, []string{"half", "2 of 2"}, shown)
	})
}

func TestAllowedToolsOnly(t *testing.T) {
	t.Parallel()
	described := overHTTP(t, "fake", newFake(t.TempDir()).Server)
	described.Tools = []string{"echo", "fail", "none"}
	require.Equal(t, []string{"mcp_fake_echo", "mcp_fake_fail"}, names(start(t, described).Tools(t.Context())))
}

func TestNameCollisions(t *testing.T) {
	t.Parallel()
	one := func(name string) *sdk.Server {
		f := &fake{Server: sdk.NewServer(&sdk.Implementation{Name: name}, nil)}
		f.tool(name, nil, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
			return said(name), nil
		})
		return f.Server
	}
	servers := start(t,
		overHTTP(t, "a_b", one("c")), overHTTP(t, "a", one("b_c")),
		overHTTP(t, "a.b", one("c")), overHTTP(t, "z", one("c")),
	)
	tools := servers.Tools(t.Context())
	require.Len(t, tools, 4)
	seen := map[string]bool{}
	for _, each := range tools {
		require.Regexp(t, `^mcp_[a-zA-Z0-9_-]{1,60}$`, each.Spec.Name)
		require.False(t, seen[each.Spec.Name], each.Spec.Name)
		seen[each.Spec.Name] = true
	}
	require.True(t, seen["mcp_a_b_c"])
	result, err := call(t, servers, "mcp_a_b_c", nil)
	require.NoError(t, err)
	require.Equal(t, "c", result.Text)
	require.True(t, seen["mcp_z_c"])
}

func TestUnusualName(t *testing.T) {
	t.Parallel()
	servers := start(t, overHTTP(t, "bad name!", newFake(t.TempDir()).Server))
	for _, each := range servers.Tools(t.Context()) {
		require.Regexp(t, `^mcp_bad_name__[a-z_]+_[0-9a-f]{8}$`, each.Spec.Name)
		if strings.HasPrefix(each.Spec.Name, "mcp_bad_name__echo_") {
			_, err := run(t.Context(), t, each, args{"text": "x"})
			require.NoError(t, err)
		}
	}
	require.NotEmpty(t, servers.Tools(t.Context()))
}

func TestInvalidConfiguration(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		servers []mcp.Server
		text    string
	}{
		{"no name", []mcp.Server{{Command: "true"}}, "name is required"},
		{"nothing to reach it by", []mcp.Server{{Name: "a"}}, "either command or url"},
		{"both", []mcp.Server{{Name: "a", Command: "true", URL: "http://127.0.0.1"}}, "either command or url"},
		{"no web address", []mcp.Server{{Name: "a", URL: "ftp://127.0.0.1"}}, "must be an http or https URL"},
		{"a name twice", []mcp.Server{{Name: "a", Command: "true"}, {Name: "a", Command: "true"}}, "same name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := mcp.New(mcp.Options{Servers: tt.servers})
			require.ErrorContains(t, err, tt.text)
		})
	}
}

func TestNoServers(t *testing.T) {
	t.Parallel()
	servers := start(t)
	require.Empty(t, servers.Tools(t.Context()))
	_, found := servers.Lookup(t.Context(), "mcp_a_b")
	require.False(t, found)
}
