package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

// sessions are the places of sessions, as the store has them.
type sessions struct {
	mu                sync.Mutex
	commands, servers map[string]string
}

func newSessions() *sessions {
	return &sessions{commands: map[string]string{}, servers: map[string]string{}}
}

func (s *sessions) SessionPlaces(_ context.Context, session string) (commands, servers string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands[session], s.servers[session], nil
}

func (s *sessions) MoveServers(_ context.Context, session, from, to string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.servers[session] == from {
		s.servers[session] = to
	}
	return s.servers[session], nil
}

func (s *sessions) LeaveServers(_ context.Context, place string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for session, at := range s.servers {
		if at == place {
			s.servers[session] = ""
		}
	}
	return nil
}

// at starts the servers at a place.
func at(t *testing.T, places *sessions, place string, servers ...mcp.Server) *mcp.Servers {
	t.Helper()
	started, err := mcp.New(mcp.Options{Servers: servers, Dir: t.TempDir(), Places: places, Place: place})
	require.NoError(t, err)
	t.Cleanup(started.Close)
	started.Tools(t.Context())
	return started
}

// placeOf returns where a call of the tool belongs; empty: where it was asked.
func placeOf(t *testing.T, servers *mcp.Servers, name, arguments string, tried ...string) string {
	t.Helper()
	called, found := servers.Lookup(t.Context(), name)
	require.True(t, found)
	if called.Place == nil {
		return ""
	}
	_, err := called.Place(t.Context(), tool.Call{Key: "t.1.0", Session: "s", Tried: tried, Arguments: []byte(arguments)})
	if elsewhere, is := errors.AsType[*tool.ElsewhereError](err); is {
		return elsewhere.Place
	}
	require.NoError(t, err)
	return ""
}

func TestSessionsKeepToOneProcess(t *testing.T) {
	t.Parallel()
	stdio, places := overStdio(t), newSessions()
	remote := overHTTP(t, "remote", newFake(t.TempDir()).Server)
	here, there := at(t, places, "here", stdio, remote), at(t, places, "there", stdio, remote)

	require.Nil(t, lookup(t, there, "mcp_remote_write").Place, "HTTP servers have no place")
	require.Empty(t, placeOf(t, here, "mcp_fake_write", `{}`), "the first call may be made anywhere")
	require.Empty(t, placeOf(t, here, "mcp_fake_echo", `{}`))
	require.Equal(t, "here", placeOf(t, there, "mcp_fake_echo", `{}`))
	missing := stdio
	missing.Command = "/does/not/exist"
	require.Equal(t, "here", placeOf(t, at(t, places, "third", missing), "mcp_fake_echo", `{}`), "of a server that was not reached yet")

	require.Empty(t, placeOf(t, there, "mcp_fake_echo", `{}`, "here"), "it does not answer")
	require.Equal(t, "there", placeOf(t, here, "mcp_fake_echo", `{}`), "the session has moved")

	require.NoError(t, there.Leave(t.Context()))
	require.Empty(t, placeOf(t, there, "mcp_fake_echo", `{}`), "made before it stops")
	require.Empty(t, placeOf(t, here, "mcp_fake_echo", `{}`), "it stops")
	require.Equal(t, "here", placeOf(t, there, "mcp_fake_echo", `{}`))
}

func TestFirstCallGoesWhereCommandsRun(t *testing.T) {
	t.Parallel()
	stdio, places := overStdio(t), newSessions()
	places.commands["s"] = "there"
	here := at(t, places, "here", stdio)
	require.Equal(t, "there", placeOf(t, here, "mcp_fake_echo", `{}`))
	require.Empty(t, placeOf(t, here, "mcp_fake_echo", `{}`, "there"), "it does not answer")
	require.Empty(t, placeOf(t, here, "mcp_fake_echo", `{}`), "the session has moved")
}

func TestResourcesAreReadFromTheSameProcess(t *testing.T) {
	t.Parallel()
	process, places := overStdio(t), newSessions()
	process.Name, process.Args = "process", []string{asLibrary}
	remote := overHTTP(t, "remote", library())
	here, there := at(t, places, "here", process, remote), at(t, places, "there", process, remote)
	for _, arguments := range []string{`{"server":"remote"}`, `{"server":"none"}`, `{`} {
		require.Empty(t, placeOf(t, there, "mcp_resources", arguments))
	}
	require.Empty(t, places.servers["s"], "HTTP servers have no place")
	require.Empty(t, placeOf(t, here, "mcp_resources", `{"server":"process"}`))
	for _, name := range []string{"mcp_resources", "mcp_prompts"} {
		require.Equal(t, "here", placeOf(t, there, name, `{"server":"process"}`))
	}
}

// TestCallOutlivesItsAttempt freezes the process of an attempt, so to speak: the next one gets
// the answer to the same call.
func TestCallOutlivesItsAttempt(t *testing.T) {
	t.Parallel()
	described := overStdio(t)
	servers := at(t, newSessions(), "here", described)
	called := lookup(t, servers, "mcp_fake_await")
	key := ""
	attempt := func(ctx context.Context) <-chan error {
		done, call := make(chan error, 1), tool.Call{Key: key, Attempt: 1, Arguments: []byte(`{"text":"go"}`)}
		go func() {
			result, err := called.Run(ctx, call)
			if err == nil && result.Text != "gone" {
				err = errors.New(result.Text)
			}
			done <- err
		}()
		return done
	}
	underway := func() bool {
		going, err := called.Place(t.Context(), tool.Call{Key: key, Session: "s"})
		require.NoError(t, err)
		return going
	}
	frozen := errors.New("frozen")
	for i, cause := range []error{frozen, tool.ErrStopped} {
		key = fmt.Sprintf("t.1.%d", i)
		require.False(t, underway())
		ctx, give := context.WithCancelCause(t.Context())
		first := attempt(ctx)
		require.Eventually(t, underway, deadline, tick)
		give(cause)
		require.ErrorIs(t, <-first, cause)
		if errors.Is(cause, tool.ErrStopped) {
			break
		}
		require.True(t, underway())
		second := attempt(t.Context())
		require.NoError(t, os.WriteFile(filepath.Join(folder(described), "go"), nil, 0o600))
		require.NoError(t, <-second)
		require.NoError(t, os.Remove(filepath.Join(folder(described), "go")))
		require.Len(t, noted(folder(described), "awaiting"), 1)
	}
	require.Eventually(t, func() bool { return len(noted(folder(described), "cancelled")) == 1 }, deadline, tick, "the server was not told")
}
