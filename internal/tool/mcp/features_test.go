package mcp_test

import (
	"context"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// library is a server with resources and prompts, and no tools.
func library() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "library", Version: "1"}, nil)
	read := func(_ context.Context, request *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		content := &sdk.ResourceContents{URI: request.Params.URI, MIMEType: "text/plain", Text: "about " + request.Params.URI}
		if request.Params.URI == "file:///logo" {
			content = &sdk.ResourceContents{URI: request.Params.URI, MIMEType: "image/png", Blob: make([]byte, 1234)}
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{content}}, nil
	}
	s.AddResource(&sdk.Resource{URI: "file:///readme", Name: "readme", Description: "Read it\nfirst."}, read)
	s.AddResource(&sdk.Resource{URI: "file:///logo", Name: "logo", MIMEType: "image/png"}, read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "page://{number}", Name: "page"}, read)
	s.AddPrompt(&sdk.Prompt{
		Name: "review", Description: "Reviews code.",
		Arguments: []*sdk.PromptArgument{{Name: "file", Required: true}, {Name: "style"}},
	}, func(_ context.Context, request *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "Review " + request.Params.Arguments["file"]}},
			{Role: "assistant", Content: &sdk.TextContent{Text: "I will."}},
		}}, nil
	})
	return s
}

func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	servers := start(t, overHTTP(t, "library", library()), overHTTP(t, "fake", newFake(t.TempDir()).Server))
	tests := []struct {
		name, tool string
		arguments  args
		text       string
	}{
		{"resources", "mcp_resources", args{"server": "library"}, "- file:///logo (logo, image/png)\n- file:///readme (readme, Read it first.)\n- page://{number} (template, page)"},
		{"a text", "mcp_resources", args{"server": "library", "uri": "file:///readme"}, "about file:///readme"},
		{"one of a template", "mcp_resources", args{"server": "library", "uri": "page://7"}, "about page://7"},
		{"something binary", "mcp_resources", args{"server": "library", "uri": "file:///logo"}, "[resource file:///logo: image/png, 1234 bytes, not shown]"},
		{"none", "mcp_resources", args{"server": "fake"}, "fake has no resources"},
		{"prompts", "mcp_prompts", args{"server": "library"}, "- review (Reviews code., arguments: file style?)"},
		{"a prompt", "mcp_prompts", args{"server": "library", "name": "review", "arguments": args{"file": "a.go"}}, "user: Review a.go\nassistant: I will."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			called := lookup(t, servers, tt.tool)
			require.Equal(t, tool.Repeatable, called.Kind)
			require.True(t, called.ReadOnly)
			require.Contains(t, called.Spec.Description, "Servers: library.")
			result, err := run(t.Context(), t, called, tt.arguments)
			require.NoError(t, err)
			require.Equal(t, tool.Result{Text: tt.text}, result)
		})
	}

	_, err := call(t, servers, "mcp_resources", args{"server": "nobody"})
	require.EqualError(t, err, `unknown server "nobody"; available: fake, library`)
	_, err = call(t, servers, "mcp_resources", args{"server": "library", "uri": "file:///nothing"})
	require.ErrorContains(t, err, "mcp library: ")
	_, err = call(t, servers, "mcp_prompts", args{"server": "library", "name": "nothing"})
	require.ErrorContains(t, err, "mcp library: ")
	_, err = call(t, servers, "mcp_prompts", args{"server": "library", "arguments": args{"file": "a"}})
	require.ErrorContains(t, err, "require the name of a prompt")
}

func TestNoResourcesNoTool(t *testing.T) {
	t.Parallel()
	servers := start(t, overHTTP(t, "fake", newFake(t.TempDir()).Server))
	require.NotContains(t, names(servers.Tools(t.Context())), "mcp_resources")
	require.NotContains(t, names(servers.Tools(t.Context())), "mcp_prompts")
}

func TestChangedResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	server := library()
	servers := start(t, overHTTP(t, "library", server))
	listed := func(tool string) string {
		result, err := call(t, servers, tool, args{"server": "library"})
		require.NoError(t, err)
		return result.Text
	}
	require.NotContains(t, listed("mcp_resources"), "file:///new")
	server.AddResource(&sdk.Resource{URI: "file:///new", Name: "new"}, nil)
	server.AddPrompt(&sdk.Prompt{Name: "summarise"}, nil)
	require.Eventually(t, func() bool { return strings.Contains(listed("mcp_resources"), "file:///new") }, deadline, tick)
	require.Eventually(t, func() bool { return strings.Contains(listed("mcp_prompts"), "summarise") }, deadline, tick)
}

func TestContents(t *testing.T) {
	t.Parallel()
	size := int64(9)
	tests := []struct {
		name   string
		answer *sdk.CallToolResult
		want   tool.Result
	}{
		{"texts", &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}, &sdk.TextContent{Text: "b"}}}, tool.Result{Text: "a\nb"}},
		{"nothing", &sdk.CallToolResult{Content: []sdk.Content{}}, tool.Result{}},
		{"a failure", &sdk.CallToolResult{Content: []sdk.Content{}, IsError: true}, tool.Result{Text: "the tool failed without an error message", Failed: true}},
		{"only structure", &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"b": 1, "a": []int{2}}}, tool.Result{Text: `{"a":[2],"b":1}`}},
		{"structure beside text", &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "a"}}, StructuredContent: map[string]any{"b": 1}}, tool.Result{Text: "a"}},
		{"an image and a sound", &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("12345")}, &sdk.AudioContent{Data: []byte("123")},
		}}, tool.Result{Text: "[image: image/png, 5 bytes, not shown]\n[audio: unknown type, 3 bytes, not shown]"}},
		{"resources", &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.ResourceLink{URI: "file:///a", Name: "a", MIMEType: "text/plain", Size: &size},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///b", Text: "the text"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "file:///c", Blob: []byte("12")}},
		}}, tool.Result{Text: "[resource file:///a: a, text/plain]\nthe text\n[resource file:///c: unknown type, 2 bytes, not shown]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{Server: sdk.NewServer(&sdk.Implementation{Name: "fake"}, nil)}
			f.tool("say", nil, func(context.Context, *sdk.CallToolRequest, map[string]string) (*sdk.CallToolResult, error) {
				return tt.answer, nil
			})
			result, err := call(t, start(t, overHTTP(t, "fake", f.Server)), "mcp_fake_say", nil)
			require.NoError(t, err)
			require.Equal(t, tt.want, result)
		})
	}
}

func TestInvalidSchemasAreReplaced(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		schema any
		want   string
		main   string
	}{
		{"none", nil, `{"type":"object","properties":{}}`, ""},
		{"no object", []string{"a"}, `{"type":"object","properties":{}}`, ""},
		{"of a list", map[string]any{"type": "array"}, `{"type":"object","properties":{}}`, ""},
		{"of nothing known", map[string]any{"type": 7}, `{"type":"object","properties":{}}`, ""},
		{"without a type", map[string]any{"required": []string{"a"}, "properties": map[string]any{"a": map[string]any{"type": "string"}}}, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`, "a"},
		{"without properties", map[string]any{"type": "object"}, `{"type":"object","properties":{}}`, ""},
		{"with what only it understands", map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string", "pattern": "(?=a)"}}}, `{"type":"object","properties":{"a":{"type":"string","pattern":"(?=a)"}}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := newFake(t.TempDir()).Server
			server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
				return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
					result, err := next(ctx, method, request)
					if listed, ok := result.(*sdk.ListToolsResult); ok && err == nil {
						odd := *listed
						odd.Tools = []*sdk.Tool{{Name: "echo", InputSchema: tt.schema}}
						return &odd, nil
					}
					return result, err
				}
			})
			servers := start(t, overHTTP(t, "fake", server))
			echo := lookup(t, servers, "mcp_fake_echo")
			require.JSONEq(t, tt.want, string(echo.Spec.Parameters))
			require.Equal(t, tt.main, echo.Main)
			require.NotEmpty(t, echo.Spec.Description)
			require.Equal(t, tool.Once, echo.Kind)
			for _, arguments := range []string{`[1]`, `"a"`, `{`} {
				_, err := echo.Run(t.Context(), tool.Call{Arguments: []byte(arguments)})
				require.ErrorContains(t, err, "invalid arguments")
			}
			if tt.main != "" {
				return
			}
			_, err := run(t.Context(), t, echo, nil)
			require.NoError(t, err)
		})
	}
}
