package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/testrun"
	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
)

const (
	deadline = 30 * time.Second
	tick     = 10 * time.Millisecond

	// folderVariable turns the test binary into a server over its standard streams. It
	// names a folder for the server's notes.
	folderVariable = "HOLDFAST_TEST_MCP_FOLDER"
	// asLibrary is an argument that makes the server one with resources and prompts.
	asLibrary = "library"
	// parentVariable turns the test binary into a process with a server, until it is
	// killed. It names the file for the server's process ID.
	parentVariable = "HOLDFAST_TEST_MCP_PARENT"
	// secretVariable stands for a secret in our environment.
	secretVariable = "HOLDFAST_TEST_MCP_SECRET"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(folderVariable); folder != "" {
		server := newFake(folder).Server
		if slices.Contains(os.Args[1:], asLibrary) {
			server = library()
		}
		if err := server.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if file := os.Getenv(parentVariable); file != "" {
		if _, err := mcp.New(mcp.Options{Dir: filepath.Dir(file), Servers: []mcp.Server{{
			Name: "stays", Command: "sh", Args: []string{"-c", `echo $$ > "$1"; exec sleep 1000`, "sh", file},
		}}}); err != nil {
			panic(err)
		}
		select {}
	}
	if err := os.Setenv(secretVariable, "hunter2hunter2"); err != nil {
		panic(err)
	}
	testrun.Parallel(16)
	os.Exit(m.Run())
}

// overStdio describes the fake as a child process.
func overStdio(t *testing.T) mcp.Server {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return mcp.Server{Name: "fake", Command: self, Env: map[string]string{
		folderVariable: t.TempDir(), "GORACE": "atexit_sleep_ms=0",
	}}
}

// folder returns the folder of a server described by overStdio.
func folder(s mcp.Server) string { return s.Env[folderVariable] }

// overHTTP serves the server for the length of the test.
func overHTTP(t *testing.T, name string, server *sdk.Server, wrap ...func(http.Handler) http.Handler) mcp.Server {
	t.Helper()
	var handler http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	for _, w := range wrap {
		handler = w(handler)
	}
	listening := httptest.NewServer(handler)
	t.Cleanup(func() {
		// Not Close, which waits: some handlers hang forever.
		listening.CloseClientConnections()
		require.NoError(t, listening.Listener.Close())
	})
	return mcp.Server{Name: name, URL: listening.URL}
}

// start starts the servers and waits until each was tried.
func start(t *testing.T, servers ...mcp.Server) *mcp.Servers {
	t.Helper()
	started := begin(t, servers...)
	started.Tools(t.Context())
	return started
}

// begin starts the servers without waiting.
func begin(t *testing.T, servers ...mcp.Server) *mcp.Servers {
	t.Helper()
	started, err := mcp.New(mcp.Options{
		Servers: servers, Dir: t.TempDir(),
		Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(t, err)
	t.Cleanup(started.Close)
	return started
}

// lookup returns a tool once it is known.
func lookup(t *testing.T, servers *mcp.Servers, name string) tool.Tool {
	t.Helper()
	var found tool.Tool
	require.Eventually(t, func() bool {
		for _, each := range servers.Tools(t.Context()) {
			if each.Spec.Name == name {
				found = each
				return true
			}
		}
		return false
	}, deadline, tick, "no tool %s", name)
	return found
}

type args map[string]any

// call calls a tool.
func call(t *testing.T, servers *mcp.Servers, name string, arguments args) (tool.Result, error) {
	t.Helper()
	return run(t.Context(), t, lookup(t, servers, name), arguments)
}

func run(ctx context.Context, t *testing.T, called tool.Tool, arguments args) (tool.Result, error) {
	t.Helper()
	data, err := json.Marshal(arguments)
	require.NoError(t, err)
	return called.Run(ctx, tool.Call{Key: "t.1.0", Attempt: 1, Arguments: data})
}

func names(tools []tool.Tool) []string {
	var all []string
	for _, each := range tools {
		all = append(all, each.Spec.Name)
	}
	return all
}
