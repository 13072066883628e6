package mcp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestNoiseOnStdoutIsDropped(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, line string }{
		{"text", "[INFO] printing"},
		{"nothing", "\n  \n"},
		{"a long line", strings.Repeat("x", 100_000)},
		{"a log in JSON", `{"level":30,"msg":"x"}`},
		{"a log in JSON that is too large", `{"level":30,"msg":"` + enormous + `"}`},
		{"a dictionary of Python's", `{'a': 1}`},
		{"one that is too large", `{'jsonrpc': '` + enormous + `'}`},
		{"a line that is cut", `{"jsonrpc":"2.0","id":`},
		{"a line that is two", `{"jsonrpc":"2.0","id":4711,"result":{}} and more`},
		{"a brace", "{"},
		{"a list", "[1, 2]"},
		{"a list of objects", `[{"level":30}]`},
		{"an empty list", "[]"},
		{"another protocol", `{"jsonrpc":"1.0","id":4711,"result":{}}`},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`},
		{"an ID that is none", `{"jsonrpc":"2.0","id":{},"result":{}}`},
		{"nothing but the protocol", `{"jsonrpc":"2.0"}`},
		{"an unknown notification", `{"jsonrpc":"2.0","method":"notifications/none"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			described := overStdio(t)
			servers := start(t, described)
			for range 2 {
				result, err := call(t, servers, "mcp_fake_print", args{"text": tt.line})
				require.NoError(t, err)
				require.Equal(t, "printed", result.Text)
			}
			require.Len(t, noted(folder(described), "pid"), 1)
		})
	}
}

func TestNoiseBeforeFirstMessage(t *testing.T) {
	t.Parallel()
	servers := start(t, inShell(t, `echo '{"level":30,"msg":"starting"}'; echo "{'a': 1}"`, `answer '{"content":[]}'`))
	_, err := call(t, servers, "mcp_simple_work", nil)
	require.NoError(t, err)
}

func TestAnswerFraming(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, work string }{
		{"indented", `printf '  '; answer '{"content":[]}'`},
		{"with the line ends of Windows", `printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\r\n' "$id"`},
		{"in a batch", `echo '[{"jsonrpc":"2.0","method":"notifications/none"},{"jsonrpc":"2.0","method":"notifications/none"},'"$(answer '{"content":[]}')]"`},
		{"as the last thing, without an end of the line", `printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' "$id"; exit 5`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			servers := start(t, inShell(t, "", tt.work))
			for range 2 {
				_, err := call(t, servers, "mcp_simple_work", nil)
				require.NoError(t, err)
			}
		})
	}
}

func TestServerDiesWhileAnswering(t *testing.T) {
	t.Parallel()
	servers := start(t, inShell(t, "", `printf '{"jsonrpc":"2.0","id":%s,"result":{' "$id"; exit 5`))
	_, err := call(t, servers, "mcp_simple_work", nil)
	require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
	require.ErrorContains(t, err, "exit status 5")
	require.NotContains(t, err.Error(), "earlier attempt")
}

func TestOversizedAnswer(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	servers := start(t, described)
	began := time.Now()
	_, err := call(t, servers, "mcp_fake_large", args{"text": "17000000"})
	require.Less(t, time.Since(began), deadline, "it was waited for")
	require.NotNil(t, remote.As(err))
	require.ErrorContains(t, err, "larger than 16 MB")
	require.NotContains(t, err.Error(), "its process ended", "it was we who ended it")
	result, err := call(t, servers, "mcp_fake_echo", args{"text": "still there"})
	require.NoError(t, err)
	require.Equal(t, "still there", result.Text)
	require.Len(t, noted(folder(described), "pid"), 2)
}

func TestServerWithOtherProtocolVersion(t *testing.T) {
	t.Parallel()
	described := inShell(t, `version() { answer '{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"simple","version":"1"}}'; }
		read -r line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown"}}'; id=2; read -r line; version`, "")
	stands, found := start(t, described).Lookup(t.Context(), "mcp_simple_work")
	require.True(t, found)
	_, err := run(t.Context(), t, stands, nil)
	require.ErrorContains(t, err, "1999-01-01")
	require.NotContains(t, err.Error(), "its process ended", "it was we who ended it")
}
