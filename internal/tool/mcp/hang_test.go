package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

// inShell describes a server with one tool, "work", that does one thing at a time.
// first is what it does at its start, and work what it does for a call, which has
// the ID $id.
func inShell(t *testing.T, first, work string) mcp.Server {
	t.Helper()
	return mcp.Server{Name: "simple", Command: "sh", Env: map[string]string{folderVariable: t.TempDir()}, Args: []string{"-c", `
		answer() { echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
		echo $$ >>"$` + folderVariable + `/pid"
		` + first + `
		while read -r line; do
			id=${line#*\"id\":}; id=${id%%[,\}]*}
			case $line in
			*'"server/discover"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"unknown\"}}" ;;
			*'"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"simple","version":"1"}}' ;;
			*'"tools/list"'*) answer '{"tools":[{"name":"work","inputSchema":{"type":"object"}}]}' ;;
			*'"tools/call"'*) ` + work + ` ;;
			*'"ping"'*) answer '{}' ;;
			esac
		done`}}
}

func TestHungServerIsRestarted(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	described.Timeout = 500 * time.Millisecond
	servers := start(t, described)
	_, err := call(t, servers, "mcp_fake_freeze", nil)
	require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
	// More than the pipe holds: the writer must not block with it.
	_, err = call(t, servers, "mcp_fake_echo", args{"text": strings.Repeat("x", 1<<20)})
	require.Error(t, err)
	require.Eventually(t, func() bool {
		result, err := call(t, servers, "mcp_fake_echo", args{"text": "back"})
		return err == nil && result.Text == "back"
	}, deadline, tick)
}

func TestHungServerIsRestartedUnderLoad(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	described.Timeout = time.Second
	servers := start(t, described)
	called := []tool.Tool{lookup(t, servers, "mcp_fake_echo"), lookup(t, servers, "mcp_fake_write")}
	_, err := call(t, servers, "mcp_fake_freeze", nil)
	require.ErrorIs(t, err, tool.ErrOutcomeUnknown)

	// At any time some calls wait.
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	back, stop := context.WithCancel(ctx)
	defer stop()
	type end struct {
		kind tool.Kind
		text string
		err  error
	}
	ends := make(chan end, 1000)
	var group sync.WaitGroup
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for i := 0; back.Err() == nil; i++ {
		for _, each := range called {
			group.Go(func() {
				text := strconv.Itoa(i)
				_, err := each.Run(ctx, tool.Call{Arguments: json.RawMessage(`{"text":"` + text + `"}`)})
				if err == nil {
					stop()
				}
				ends <- end{each.Kind, text, err}
			})
		}
		select {
		case <-pace.C:
		case <-back.Done():
		}
	}
	group.Wait()
	close(ends)
	require.NoError(t, ctx.Err(), "it was not started anew")
	require.Len(t, noted(folder(described), "pid"), 2)

	written, lost := noted(folder(described), "written"), map[tool.Kind]int{}
	for e := range ends {
		hung := e.err != nil && strings.Contains(e.err.Error(), "did not respond to a ping")
		if hung {
			lost[e.kind]++
			require.Equal(t, e.kind == tool.Repeatable, remote.As(e.err) != nil, "%s: %v", e.kind, e.err)
		}
		switch {
		case e.kind == tool.Repeatable:
		case e.err == nil:
			require.Contains(t, written, e.text)
		case errors.Is(e.err, tool.ErrOutcomeUnknown):
		default:
			require.False(t, hung, "%v", e.err)
			require.NotContains(t, written, e.text, "%v", e.err)
		}
	}
	require.NotZero(t, lost[tool.Once])
	require.NotZero(t, lost[tool.Repeatable])
	slices.Sort(written)
	require.Len(t, slices.Compact(slices.Clone(written)), len(written), "some were written twice")
}

func TestProbeCountsAnyMessage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		anew       bool
	}{
		{"a message", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"busy"}}`, false},
		{"an answer that nobody waits for", `{"jsonrpc":"2.0","id":4711,"result":{}}`, false},
		{"a line that is no message", `{"level":30,"msg":"busy"}`, true},
		{"nothing", "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			described := inShell(t, "", `while :; do echo '`+tt.line+`'; sleep 0.05; done`)
			described.Timeout = time.Second
			work := lookup(t, start(t, described), "mcp_simple_work")
			anew := func() bool { return len(noted(folder(described), "pid")) > 1 }
			for range 5 { // back to back: more than one probe goes on meanwhile
				_, err := run(t.Context(), t, work, nil)
				require.Error(t, err)
			}
			if !tt.anew {
				require.False(t, anew())
				return
			}
			require.Eventually(t, func() bool {
				_, err := run(t.Context(), t, work, nil)
				require.Error(t, err)
				return anew()
			}, deadline, tick)
		})
	}
}

func TestServerWithOneSlowCallIsKept(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	described.Timeout = 2 * time.Second
	servers := start(t, described)
	for range 2 {
		_, err := call(t, servers, "mcp_fake_hang", nil)
		require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
		require.NotContains(t, err.Error(), "earlier attempt")
	}
	_, err := call(t, servers, "mcp_fake_echo", args{"text": "x"})
	require.NoError(t, err)
	require.Len(t, noted(folder(described), "pid"), 1)
}

func TestHungHTTPServerUnderLoad(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	described := overHTTP(t, "fake", newFake(t.TempDir()).Server, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hangs.Load() {
				<-r.Context().Done()
				return
			}
			next.ServeHTTP(w, r)
		})
	}, legacy)
	described.Timeout = time.Second
	echo := lookup(t, start(t, described), "mcp_fake_echo")
	hangs.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	givenUp, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	pace := time.NewTicker(100 * time.Millisecond)
	defer pace.Stop()
	for givenUp.Err() == nil {
		group.Go(func() {
			_, err := echo.Run(ctx, tool.Call{Arguments: json.RawMessage(`{"text":"x"}`)})
			if remote.As(err) != nil && strings.Contains(err.Error(), "did not respond to a ping") {
				stop()
			}
		})
		select {
		case <-pace.C:
		case <-givenUp.Done():
		}
	}
	group.Wait()
	require.NoError(t, ctx.Err(), "it was not given up")
	hangs.Store(false)
	require.Eventually(t, func() bool {
		_, err := run(t.Context(), t, echo, args{"text": "x"})
		return err == nil
	}, deadline, tick)
}
