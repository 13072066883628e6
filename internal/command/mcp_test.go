package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// mcpFolder is a variable that makes the test binary an MCP server on stdio. It names
// the directory in which the server logs its calls.
const mcpFolder = "TEST_MCP_FOLDER"

func TestMain(m *testing.M) {
	folder := os.Getenv(mcpFolder)
	if folder == "" {
		tune()
		os.Exit(m.Run())
	}
	if err := newMCPServer(folder).Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newMCPServer has the tools echo, large and meet, which only read, and count, hang and
// await, which have no annotations. A call of meet returns once there is another. A call of
// count says how often this process was called with that text, hang writes a line to the
// directory and never returns, and await does so once there is a file of that name.
func newMCPServer(folder string) *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "things", Version: "1"}, nil)
	add := func(name string, hints *sdk.ToolAnnotations, run func(ctx context.Context, text string) (string, error)) {
		server.AddTool(&sdk.Tool{
			Name: name, Description: "Does " + name + ".", Annotations: hints,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`),
		}, func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var arguments struct {
				Text string `json:"text"`
			}
			if err := json.Unmarshal(request.Params.Arguments, &arguments); err != nil {
				return nil, err
			}
			said, err := run(ctx, arguments.Text)
			if err != nil {
				return nil, err
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: said}}}, nil
		})
	}
	readOnly := &sdk.ToolAnnotations{ReadOnlyHint: true}
	add("echo", readOnly, func(_ context.Context, text string) (string, error) { return "heard " + text, nil })
	add("large", readOnly, func(_ context.Context, text string) (string, error) {
		size, err := strconv.Atoi(text)
		return strings.Repeat("0123456789", size/10), err
	})
	meeting := make(chan struct{})
	add("meet", readOnly, func(ctx context.Context, text string) (string, error) {
		select {
		case meeting <- struct{}{}:
		case <-meeting:
		case <-ctx.Done():
		}
		return "met " + text, ctx.Err()
	})
	add("hang", nil, func(ctx context.Context, _ string) (string, error) {
		opened, err := os.OpenFile(filepath.Join(folder, "hung"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintln(opened, "once")
		_ = opened.Close()
		<-ctx.Done()
		return "", ctx.Err()
	})
	var mu sync.Mutex
	counted := map[string]int{}
	add("count", nil, func(_ context.Context, text string) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		counted[text]++
		return fmt.Sprintf("%d counts %d", os.Getppid(), counted[text]), nil
	})
	add("await", nil, func(ctx context.Context, text string) (string, error) {
		opened, err := os.OpenFile(filepath.Join(folder, "awaiting"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintln(opened, os.Getppid())
		_ = opened.Close()
		for ctx.Err() == nil {
			if _, err := os.Stat(filepath.Join(folder, text)); err == nil {
				return "went", nil
			}
			time.Sleep(10 * time.Millisecond)
		}
		return "", ctx.Err()
	})
	return server
}

// hung returns the log of the tool hang.
func hung(folder string) string {
	data, _ := os.ReadFile(filepath.Join(folder, "hung")) // it may not exist yet
	return string(data)
}

// mcpOverHTTP serves the MCP server until the test ends.
func mcpOverHTTP(t *testing.T, folder string) config.MCPServer {
	t.Helper()
	server := newMCPServer(folder)
	listening := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(func() {
		// Close would wait for hanging calls.
		listening.CloseClientConnections()
		require.NoError(t, listening.Listener.Close())
	})
	return config.MCPServer{URL: listening.URL}
}

// mcpOverStdio is the server as a separate process.
func mcpOverStdio(t *testing.T, folder string) config.MCPServer {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return config.MCPServer{Command: self, Env: map[string]config.Secret{
		mcpFolder: config.Secret(folder), "GORACE": "atexit_sleep_ms=0",
	}}
}

// withMCP is a change to a node that has the servers.
func withMCP(servers map[string]config.MCPServer) func(*config.Config, *node.Roles) {
	return func(c *config.Config, _ *node.Roles) { c.Tools.MCP.Servers = servers }
}

func TestMCP(t *testing.T) {
	t.Parallel()

	t.Run("the model gets the tools of servers and their results", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t,
			llmtest.Calls(
				llmtest.Call{ID: "a", Name: "mcp_web_echo", Arguments: `{"text":"one"}`},
				llmtest.Call{ID: "b", Name: "mcp_local_echo", Arguments: `{"text":"two"}`},
				llmtest.Call{ID: "c", Name: "mcp_local_echo", Arguments: `{"text":3}`}),
			llmtest.Text("done"))
		n := startNode(t, model.URL, withMCP(map[string]config.MCPServer{
			"web": mcpOverHTTP(t, t.TempDir()), "local": mcpOverStdio(t, t.TempDir()),
		}))
		require.Equal(t, "done", n.ask(t, "main", "use them").Text)
		described := map[string]string{}
		for _, offered := range model.Requests()[0].Tools {
			described[offered.Function.Name] = offered.Function.Description
		}
		for _, name := range []string{"mcp_web_echo", "mcp_web_large", "mcp_web_hang", "mcp_local_echo"} {
			require.Equal(t, "Does "+name[strings.LastIndex(name, "_")+1:]+".", described[name])
		}
		results := model.Requests()[1].Results()
		require.Equal(t, []string{"heard one", "heard two"}, results[:2])
		require.Contains(t, results[2], "invalid arguments for mcp_local_echo")
		require.Empty(t, model.Invalid())
	})

	t.Run("a server does not start among the agent's files", func(t *testing.T) {
		t.Parallel()
		folder, model := t.TempDir(), llmtest.NewServer(t, llmtest.Text("hello"))
		server := mcpOverStdio(t, folder)
		server.Args = []string{"-c", `ls -a . "$HOME" > "$` + mcpFolder + `/seen"; exec "$0"`, server.Command}
		server.Command = "sh"
		n := startNode(t, model.URL, withMCP(map[string]config.MCPServer{"local": server}),
			func(c *config.Config, _ *node.Roles) {
				require.NoError(t, os.MkdirAll(c.Workspace, 0o700))
				for _, planted := range []string{"json.py", ".npmrc"} {
					require.NoError(t, os.WriteFile(filepath.Join(c.Workspace, planted), nil, 0o600))
				}
			})
		require.Equal(t, "hello", n.ask(t, "main", "hello").Text)
		require.FileExists(t, filepath.Join(n.cfg.Workspace, ".npmrc"))
		require.DirExists(t, filepath.Join(n.cfg.DataDir(), "mcp", "local"))
		seen, err := os.ReadFile(filepath.Join(folder, "seen"))
		require.NoError(t, err)
		require.NotEmpty(t, seen)
		require.NotContains(t, string(seen), "json.py")
		require.NotContains(t, string(seen), ".npmrc")
	})

	t.Run("a call that hangs blocks nothing else, and its timeout is reported", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			switch {
			case len(r.Results()) > 0:
				return llmtest.Text(r.Results()[0])
			case strings.HasPrefix(r.LastUser(), "hang"):
				return llmtest.Calls(llmtest.Call{ID: "h", Name: "mcp_web_hang", Arguments: `{}`})
			default:
				return llmtest.Calls(llmtest.Call{ID: "e", Name: "mcp_web_echo", Arguments: `{"text":"you"}`})
			}
		})
		server := mcpOverHTTP(t, folder)
		server.Timeout = 5 * time.Second
		n := startNode(t, model.URL, withMCP(map[string]config.MCPServer{"web": server}))
		hanging := n.send(t, "main", "", "hang")
		require.Eventually(t, func() bool { return hung(folder) != "" }, patience, 10*time.Millisecond)
		require.Equal(t, "heard you", n.ask(t, "other", "hello").Text)
		told := n.await(t, hanging)
		require.Equal(t, domain.ReplyDone, told.Status)
		require.Contains(t, told.Text, "did not answer within 5s")
		require.Equal(t, "once\n", hung(folder))
		require.Equal(t, "heard you", n.ask(t, "main", "and now").Text, "the server is used again")
	})

	t.Run("a result of 5 MB is cut, with all of it in a file", func(t *testing.T) {
		t.Parallel()
		const size = 5 << 20 / 10 * 10
		model := llmtest.NewServer(t,
			llmtest.Calls(llmtest.Call{ID: "l", Name: "mcp_web_large", Arguments: fmt.Sprintf(`{"text":"%d"}`, size)}),
			llmtest.Text("seen"), llmtest.Text("later"))
		n := startNode(t, model.URL, withMCP(map[string]config.MCPServer{"web": mcpOverHTTP(t, t.TempDir())}))
		require.Equal(t, "seen", n.ask(t, "main", "how much is it?").Text)
		shown := model.Requests()[1].Results()[0]
		require.Less(t, len(shown), 17_000)
		require.Contains(t, shown, fmt.Sprintf("of %d bytes left out; the whole output is in the workspace file results/", size))
		kept, err := filepath.Glob(filepath.Join(n.cfg.Workspace, "results", "*.txt"))
		require.NoError(t, err)
		require.Len(t, kept, 1)
		whole, err := os.ReadFile(kept[0])
		require.NoError(t, err)
		require.Equal(t, strings.Repeat("0123456789", size/10), string(whole))
		require.Equal(t, "later", n.ask(t, "main", "thanks").Text)
		for _, m := range model.Requests()[2].Messages[1:] {
			require.Less(t, len(m.Content.Text), 1000, "later turns see the beginning")
		}
	})

	t.Run("subagents have them too", func(t *testing.T) {
		t.Parallel()
		memory := channeltest.NewMemory("memory")
		model := delegating(t, 1, 2, llmtest.Call{ID: "c", Name: "mcp_local_echo", Arguments: `{"text":"the child"}`})
		n := startNode(t, model.URL, withMCP(map[string]config.MCPServer{"local": mcpOverStdio(t, t.TempDir())}),
			func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: "1", Chat: "c", Sender: "ana", Text: "delegate"}))
		posted, err := memory.Await(ctx, 2)
		require.NoError(t, err)
		require.Equal(t, "summary: did task 0", posted[1].Text)
		var heard []string
		for _, r := range model.Requests() {
			if strings.HasPrefix(r.Messages[0].Content.Text, "# Subagent") {
				heard = append(heard, r.Results()...)
			}
		}
		require.Equal(t, []string{"heard the child"}, heard)
		n.closedCost(t, "memory:c")
	})
}

// TestMCPCrash kills the real program, and its server with it, in the middle of a
// call that is not marked as idempotent.
func TestMCPCrash(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	model := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{ID: "h", Name: "mcp_local_hang", Arguments: `{}`}),
		llmtest.Calls(llmtest.Call{ID: "e", Name: "mcp_local_echo", Arguments: `{"text":"again"}`}),
		llmtest.Text("all done"))
	h := newHome(t, model.URL)
	local := mcpOverStdio(t, folder)
	settings := fmt.Sprintf("tools: {mcp: {servers: {local: {command: %q, env: {%s: %q}}}}}\n", local.Command, mcpFolder, folder)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(settings), 0o600))

	first := h.start(t)
	require.True(t, first.post(t))
	require.Eventually(t, func() bool { return hung(folder) != "" }, patience, 10*time.Millisecond)
	first.kill()

	second := h.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	message, err := second.api().Follow(ctx, h.message(), func(event.Event) {})
	require.NoError(t, err)
	require.Equal(t, "all done", message.Text)
	require.Contains(t, model.Requests()[1].Results()[0], "outcome unknown")
	require.Equal(t, []string{"heard again"}, model.Requests()[2].Results())
	require.Equal(t, "once\n", hung(folder), "it was not called again")
	require.Empty(t, model.Invalid())
}
