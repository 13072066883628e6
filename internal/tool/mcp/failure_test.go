package mcp_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

func TestServerDiesDuringCall(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	servers := start(t, described)

	_, err := call(t, servers, "mcp_fake_die", nil)
	require.ErrorIs(t, err, tool.ErrOutcomeUnknown)
	require.ErrorContains(t, err, "exit status 3")
	require.ErrorContains(t, err, "cannot go on")
	require.Nil(t, remote.As(err), "another attempt must not follow")
	require.Len(t, noted(folder(described), "die"), 1)

	_, err = call(t, servers, "mcp_fake_die_again", nil)
	require.NotNil(t, remote.As(err), "another attempt may follow")
	require.False(t, remote.As(err).Permanent())
	require.Equal(t, "mcp fake", remote.As(err).Service)
	result, err := call(t, servers, "mcp_fake_die_again", nil)
	require.NoError(t, err)
	require.Equal(t, "alive", result.Text)
	require.Len(t, noted(folder(described), "pid"), 3)
}

func TestNextCallRestartsKilledServer(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	servers := start(t, described)
	for range 3 {
		_, err := call(t, servers, "mcp_fake_write", args{"text": "x"})
		require.NoError(t, err)
		pids := noted(folder(described), "pid")
		pid, err := strconv.Atoi(pids[len(pids)-1])
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		require.Eventually(t, func() bool { return syscall.Kill(pid, 0) != nil }, deadline, tick)
	}
	_, err := call(t, servers, "mcp_fake_write", args{"text": "x"})
	require.NoError(t, err)
	require.Len(t, noted(folder(described), "written"), 4)
}

func TestCloseLeavesNoProcesses(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	servers := start(t, described)
	result, err := call(t, servers, "mcp_fake_child", nil)
	require.NoError(t, err)
	child, err := strconv.Atoi(result.Text)
	require.NoError(t, err)
	servers.Close()
	server, err := strconv.Atoi(noted(folder(described), "pid")[0])
	require.NoError(t, err)
	require.Error(t, syscall.Kill(server, 0))
	require.Eventually(t, func() bool { return gone(child) }, deadline, tick)
}

func TestServersDieWithUs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a process with its parent")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), parentVariable+"="+file)
	require.NoError(t, parent.Start())
	var pid int
	require.Eventually(t, func() bool {
		pids := noted(filepath.Dir(file), "pid")
		if len(pids) == 1 {
			pid, err = strconv.Atoi(pids[0])
		}
		return err == nil && pid > 0
	}, deadline, tick)
	require.False(t, gone(pid))
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	require.Eventually(t, func() bool { return gone(pid) }, deadline, tick)
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(status), ") Z ")
}

func TestServerEnvironmentHasNoSecrets(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	described.Env["TOKEN"] = "its own"
	result, err := call(t, start(t, described), "mcp_fake_environment", nil)
	require.NoError(t, err)
	require.NotContains(t, result.Text, secretVariable)
	require.Contains(t, result.Text, "PATH="+os.Getenv("PATH"))
	require.Contains(t, result.Text, "TOKEN=its own")
}

func TestServerStartsInItsOwnFolder(t *testing.T) {
	t.Parallel()
	own, chosen, dir := overStdio(t), overStdio(t), t.TempDir()
	chosen.Name, chosen.Dir = "chosen", t.TempDir()
	chosen.Env["HOME"] = "/elsewhere"
	servers, err := mcp.New(mcp.Options{Servers: []mcp.Server{own, chosen}, Dir: filepath.Join(dir, "mcp")})
	require.NoError(t, err)
	t.Cleanup(servers.Close)

	home := filepath.Join(dir, "mcp", "fake")
	result, err := call(t, servers, "mcp_fake_environment", nil)
	require.NoError(t, err)
	require.Contains(t, strings.Split(result.Text, "\n"), "HOME="+home)
	require.Equal(t, []string{home}, noted(folder(own), "dir"))
	info, err := os.Stat(home)
	require.NoError(t, err)
	require.Equal(t, os.ModeDir|0o700, info.Mode())

	result, err = call(t, servers, "mcp_chosen_environment", nil)
	require.NoError(t, err)
	require.Contains(t, strings.Split(result.Text, "\n"), "HOME=/elsewhere")
	require.Equal(t, []string{chosen.Dir}, noted(folder(chosen), "dir"))
}

func TestDeadServerDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	dead := mcp.Server{Name: "dead", Command: "/nonexistent/server"}
	exits := mcp.Server{Name: "exits", Command: "sh", Args: []string{"-c", "echo the key $KEY is wrong >&2; exit 7"}, Env: map[string]string{"KEY": "secret-key"}}
	refuses := mcp.Server{Name: "refuses", Command: "sh", Args: []string{"-c", `
		read line; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"unknown"}}'
		read line; echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no licence"}}'
		cat >/dev/null`}}
	began := time.Now()
	servers := begin(t, dead, exits, refuses, overHTTP(t, "fake", newFake(t.TempDir()).Server))
	require.Less(t, time.Since(began), time.Second)
	_, err := call(t, servers, "mcp_fake_echo", args{"text": "x"})
	require.NoError(t, err)

	for name, text := range map[string]string{"mcp_dead_write": "no such file", "mcp_exits_write": "exit status 7", "mcp_refuses_write": "no licence"} {
		// An earlier process may have known the tool.
		stands, found := servers.Lookup(t.Context(), name)
		require.True(t, found)
		require.Equal(t, tool.Once, stands.Kind)
		_, err = run(t.Context(), t, stands, nil)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "the call had no effect")
		require.NotContains(t, err.Error(), "secret-key")
	}
}

func TestSlowStart(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	slow := overHTTP(t, "slow", newFake(t.TempDir()).Server, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-open:
				next.ServeHTTP(w, r)
			case <-r.Context().Done():
			}
		})
	})
	servers := begin(t, slow, overHTTP(t, "fake", newFake(t.TempDir()).Server))
	began := time.Now()
	require.NotContains(t, names(servers.Tools(t.Context())), "mcp_slow_echo")
	require.Less(t, time.Since(began), deadline)
	require.Contains(t, names(servers.Tools(t.Context())), "mcp_fake_echo")

	stands, found := servers.Lookup(t.Context(), "mcp_slow_echo")
	require.True(t, found)
	close(open)
	result, err := run(t.Context(), t, stands, args{"text": "up"})
	require.NoError(t, err)
	require.Equal(t, "up", result.Text)
	lookup(t, servers, "mcp_slow_echo")
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	guarded := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer sesame-open" {
				http.Error(w, "who are you, "+r.Header.Get("Authorization"), http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	described := overHTTP(t, "fake", newFake(t.TempDir()).Server, guarded)
	wrong := described
	wrong.Name, wrong.Headers = "wrong", map[string]string{"Authorization": "Bearer sesame-shut"}
	described.Headers = map[string]string{"Authorization": "Bearer sesame-open"}
	servers := start(t, described, wrong)
	_, err := call(t, servers, "mcp_fake_write", args{"text": "x"})
	require.NoError(t, err)

	stands, found := servers.Lookup(t.Context(), "mcp_wrong_write")
	require.True(t, found)
	_, err = run(t.Context(), t, stands, nil)
	require.NotNil(t, remote.As(err))
	require.True(t, remote.As(err).Permanent())
	require.ErrorContains(t, err, "who are you")
	require.NotContains(t, err.Error(), "sesame")
}

func TestHeadersAreNotSentToOtherHosts(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	t.Cleanup(elsewhere.Close)
	described := overHTTP(t, "fake", newFake(t.TempDir()).Server, func(http.Handler) http.Handler {
		return http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect)
	})
	described.Headers = map[string]string{"X-Api-Key": "sesame-open"}
	stands, found := start(t, described).Lookup(t.Context(), "mcp_fake_write")
	require.True(t, found)
	_, err := run(t.Context(), t, stands, nil)
	require.ErrorContains(t, err, "redirects to")
	require.False(t, asked.Load())
}

func TestServerForgetsSession(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		body   string
	}{
		{"as the protocol has it", http.StatusNotFound, ""},
		{"with an error beside it", http.StatusNotFound, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`},
		{"as the reference server has it", http.StatusBadRequest, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			var forgot atomic.Value
			forgot.Store("")
			described := overHTTP(t, "fake", newFake(folder).Server, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					session := r.Header.Get("Mcp-Session-Id")
					if forgot.Load() == "all" && session != "" {
						forgot.Store(session)
					}
					if session != "" && forgot.Load() == session {
						w.Header().Set("Content-Type", "application/json")
						w.WriteHeader(tt.status)
						_, _ = io.WriteString(w, tt.body)
						return
					}
					next.ServeHTTP(w, r)
				})
			}, legacy)
			servers := start(t, described)
			_, err := call(t, servers, "mcp_fake_write", args{"text": "x"})
			require.NoError(t, err)
			forgot.Store("all")
			_, err = call(t, servers, "mcp_fake_write", args{"text": "x"})
			require.NoError(t, err)
			require.Len(t, noted(folder, "written"), 2)
		})
	}
}

func TestHTTPErrorResponses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name             string
		respond          http.HandlerFunc
		repeatable, once func(t *testing.T, err error)
	}{
		{
			"too many requests",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				http.Error(w, "slow down", http.StatusTooManyRequests)
			},
			func(t *testing.T, err error) {
				require.Equal(t, 7*time.Second, remote.As(err).RetryAfter)
				require.False(t, remote.As(err).Permanent())
			},
			func(t *testing.T, err error) { require.ErrorContains(t, err, "slow down; the call had no effect") },
		},
		{
			"it broke",
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", http.StatusBadGateway) },
			func(t *testing.T, err error) { require.Equal(t, http.StatusBadGateway, remote.As(err).Status) },
			func(t *testing.T, err error) { require.ErrorIs(t, err, tool.ErrOutcomeUnknown) },
		},
		{
			"no permission",
			func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusForbidden) },
			func(t *testing.T, err error) { require.True(t, remote.As(err).Permanent()) },
			func(t *testing.T, err error) { require.True(t, remote.As(err).Permanent()) },
		},
		{
			"the line is cut",
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			func(t *testing.T, err error) { require.False(t, remote.As(err).Permanent()) },
			func(t *testing.T, err error) { require.ErrorIs(t, err, tool.ErrOutcomeUnknown) },
		},
		{
			"the line is cut in the answer",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, `{"jsonrpc":`)
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			},
			func(t *testing.T, err error) { require.False(t, remote.As(err).Permanent()) },
			func(t *testing.T, err error) { require.ErrorIs(t, err, tool.ErrOutcomeUnknown) },
		},
		{
			"the line is cut in the events",
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			},
			func(t *testing.T, err error) { require.False(t, remote.As(err).Permanent()) },
			func(t *testing.T, err error) { require.ErrorIs(t, err, tool.ErrOutcomeUnknown) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var broken atomic.Bool
			described := overHTTP(t, "fake", newFake(t.TempDir()).Server, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost && broken.Load() {
						tt.respond(w, r)
						return
					}
					next.ServeHTTP(w, r)
				})
			}, legacy)
			servers := start(t, described)
			echo, write := lookup(t, servers, "mcp_fake_echo"), lookup(t, servers, "mcp_fake_write")
			broken.Store(true)
			_, err := run(t.Context(), t, echo, args{"text": "x"})
			require.NotNil(t, remote.As(err), "%v", err)
			tt.repeatable(t, err)
			_, err = run(t.Context(), t, write, args{"text": "x"})
			require.Error(t, err)
			tt.once(t, err)
			broken.Store(false)
			_, err = run(t.Context(), t, write, args{"text": "x"})
			require.NoError(t, err)
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	fake := newFake(t.TempDir()).Server
	listening := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return fake }, nil))
	servers := start(t, mcp.Server{Name: "fake", URL: listening.URL})
	echo, write := lookup(t, servers, "mcp_fake_echo"), lookup(t, servers, "mcp_fake_write")
	listening.CloseClientConnections()
	listening.Close()

	_, err := run(t.Context(), t, echo, args{"text": "x"})
	require.NotNil(t, remote.As(err))
	require.False(t, remote.As(err).Permanent())
	_, err = run(t.Context(), t, write, args{"text": "x"})
	require.ErrorContains(t, err, "the call had no effect")
	require.Nil(t, remote.As(err))
	require.NotContains(t, err.Error(), "POST")
}

func TestCloseDoesNotWaitForCalls(t *testing.T) {
	onEach(t, func(t *testing.T, described mcp.Server, folder string) {
		servers := start(t, described)
		hang := lookup(t, servers, "mcp_fake_hang")
		ended := make(chan error, 1)
		ctx := context.WithoutCancel(t.Context())
		go func() {
			_, err := hang.Run(ctx, tool.Call{})
			ended <- err
		}()
		require.Eventually(t, func() bool { return len(noted(folder, "hanging")) == 1 }, deadline, tick)
		servers.Close()
		require.ErrorIs(t, <-ended, tool.ErrOutcomeUnknown)
		_, err := hang.Run(ctx, tool.Call{})
		require.ErrorContains(t, err, "the call had no effect")
		require.False(t, errors.Is(err, tool.ErrOutcomeUnknown))
	})
}
