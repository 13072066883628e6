//go:build peers

package mcp_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

// peersVariable names the folder that `make peers` installs the counterparts in.
const peersVariable = "HOLDFAST_PEERS"

// program is the path of a counterpart's program.
func program(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv(peersVariable)
	require.NotEmpty(t, dir, "run this with `make peers`")
	return filepath.Join(dir, "node_modules/.bin", name)
}

// everythingOverHTTP runs the reference server that has everything.
func everythingOverHTTP(t *testing.T) (described mcp.Server, restart func()) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	address := "http://127.0.0.1:" + port + "/mcp"
	var cmd *exec.Cmd
	stop := func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	run := func() {
		cmd = exec.Command("node", program(t, "mcp-server-everything"), "streamableHttp")
		cmd.Env = append(os.Environ(), "PORT="+port)
		cmd.Stderr = t.Output()
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			response, err := http.Get(address)
			return err == nil && response.Body.Close() == nil
		}, deadline, 50*time.Millisecond)
	}
	run()
	t.Cleanup(func() { stop() })
	return mcp.Server{Name: "everything", URL: address}, func() { stop(); run() }
}

// onEachPeer runs the test against the reference server over each transport.
func onEachPeer(t *testing.T, test func(t *testing.T, described mcp.Server, kill func())) {
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		pid := filepath.Join(t.TempDir(), "pid")
		test(t, mcp.Server{
			Name: "everything", Command: "sh", Args: []string{"-c", `echo $$ > "$1"; exec node "$2" stdio`, "sh", pid, program(t, "mcp-server-everything")},
			Env: map[string]string{"TOKEN": "for the server"},
		}, func() {
			written, err := os.ReadFile(pid)
			require.NoError(t, err)
			number, err := strconv.Atoi(strings.TrimSpace(string(written)))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(number, syscall.SIGKILL))
			require.Eventually(t, func() bool { return syscall.Kill(number, 0) != nil }, deadline, tick)
		})
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		described, restart := everythingOverHTTP(t)
		test(t, described, restart)
	})
}

func TestPeerEverything(t *testing.T) {
	onEachPeer(t, func(t *testing.T, described mcp.Server, _ func()) {
		servers := start(t, described)
		tests := []struct {
			name      string
			arguments args
			text      string
		}{
			{"mcp_everything_echo", args{"message": "hello"}, "Echo: hello"},
			{"mcp_everything_get-sum", args{"a": 2, "b": 3}, "The sum of 2 and 3 is 5."},
			{"mcp_everything_get-tiny-image", nil, "[image: image/png, "},
			{"mcp_everything_get-structured-content", args{"location": "Chicago"}, "temperature"},
			{"mcp_everything_get-resource-links", args{"count": 2}, "[resource demo://resource/dynamic/"},
			{"mcp_everything_get-resource-reference", nil, "Resource 1"},
			{"mcp_resources", args{"server": "everything"}, "- demo://resource/static/document/features.md ("},
			{"mcp_resources", args{"server": "everything", "uri": "demo://resource/dynamic/text/1"}, "Resource 1"},
			{"mcp_resources", args{"server": "everything", "uri": "demo://resource/static/document/features.md"}, "# "},
			{"mcp_prompts", args{"server": "everything"}, "- args-prompt ("},
			{"mcp_prompts", args{"server": "everything", "name": "args-prompt", "arguments": args{"city": "Oslo"}}, "Oslo"},
		}
		for _, tt := range tests {
			result, err := call(t, servers, tt.name, tt.arguments)
			require.NoError(t, err, tt.name)
			require.False(t, result.Failed, tt.name)
			require.Contains(t, result.Text, tt.text, tt.name)
		}
		require.Equal(t, tool.Repeatable, lookup(t, servers, "mcp_everything_echo").Kind)
		require.Equal(t, tool.Once, lookup(t, servers, "mcp_everything_toggle-simulated-logging").Kind)
		if described.Command != "" {
			result, err := call(t, servers, "mcp_everything_get-env", nil)
			require.NoError(t, err)
			require.Contains(t, result.Text, "for the server")
			require.NotContains(t, result.Text, secretVariable)
		}
	})
}

func TestPeerEverythingIsSlow(t *testing.T) {
	onEachPeer(t, func(t *testing.T, described mcp.Server, _ func()) {
		described.Timeout = 2 * time.Second
		servers := start(t, described)
		shown := make(chan string, 100)
		slow, echo := lookup(t, servers, "mcp_everything_trigger-long-running-operation"), lookup(t, servers, "mcp_everything_echo")
		ended := make(chan error, 1)
		go func() {
			_, err := slow.Run(t.Context(), tool.Call{
				Key: "t.1.0", Arguments: []byte(`{"duration":60,"steps":600}`), Progress: func(text string) { shown <- text },
			})
			ended <- err
		}()
		require.Equal(t, "1 of 600", <-shown)
		result, err := run(t.Context(), t, echo, args{"message": "meanwhile"})
		require.NoError(t, err)
		require.Equal(t, "Echo: meanwhile", result.Text)
		require.ErrorContains(t, <-ended, "did not answer within 2s")
	})
}

func TestPeerEverythingIsKilled(t *testing.T) {
	onEachPeer(t, func(t *testing.T, described mcp.Server, kill func()) {
		servers := start(t, described)
		logging, echo := lookup(t, servers, "mcp_everything_toggle-simulated-logging"), lookup(t, servers, "mcp_everything_echo")
		for range 3 {
			require.Eventually(t, func() bool { // a call that is made before the loss is noticed may fail
				result, err := run(t.Context(), t, echo, args{"message": "back"})
				return err == nil && result.Text == "Echo: back"
			}, deadline, tick)
			_, err := run(t.Context(), t, logging, nil)
			require.NoError(t, err)
			kill()
		}
	})
}

func TestPeerFilesystem(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	servers := start(t, mcp.Server{Name: "files", Command: "node", Args: []string{program(t, "mcp-server-filesystem"), folder}})
	path := filepath.Join(folder, "a.txt")
	_, err := call(t, servers, "mcp_files_write_file", args{"path": path, "content": "hello"})
	require.NoError(t, err)
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "hello", string(written))
	result, err := call(t, servers, "mcp_files_read_text_file", args{"path": path})
	require.NoError(t, err)
	require.Equal(t, "hello", result.Text)
	result, err = call(t, servers, "mcp_files_read_text_file", args{"path": "/etc/passwd"})
	require.NoError(t, err)
	require.True(t, result.Failed)
	require.Contains(t, result.Text, "outside allowed directories")
	require.Equal(t, tool.Once, lookup(t, servers, "mcp_files_edit_file").Kind)
	require.Equal(t, tool.Repeatable, lookup(t, servers, "mcp_files_write_file").Kind)
}
