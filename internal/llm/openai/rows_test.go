package openai_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
)

var update = flag.Bool("update", false, "write the bodies in testdata/rows anew; read them before they are committed")

// row is what goes over the wire to a kind of provider. Its body is in
// testdata/rows; the links are to what it is to be read against.
type row struct {
	name    string // of the body; begins with the registry's name
	model   string // as the user writes it; empty for the row's default
	baseURL string // set by the user, where the registry has none
	url     string // that is called
	keyless bool
}

func rows() []row {
	return []row{
		// What any server has to take: https://platform.openai.com/docs/api-reference/chat/create
		{name: "custom", model: "custom/qwen3-32b", baseURL: "https://llm.example.com/v1", url: "https://llm.example.com/v1/chat/completions"},
		// Caching marks on text parts and tools: https://openrouter.ai/docs/features/prompt-caching and the SDK's ChatFunctionTool.
		// reasoning_content is an alias of reasoning: https://openrouter.ai/docs/use-cases/reasoning-tokens
		{name: "openrouter", url: "https://openrouter.ai/api/v1/chat/completions"},
		{name: "openrouter_openai", model: "openrouter/gpt-5-mini", url: "https://openrouter.ai/api/v1/chat/completions"},
		// Models without their vendor: https://docs.aihubmix.com/en/quick-start
		{name: "aihubmix", model: "aihubmix/anthropic/claude-sonnet-4-5", url: "https://aihubmix.com/v1/chat/completions"},
		// https://docs.siliconflow.cn/cn/api-reference/chat-completions/chat-completions
		{name: "siliconflow", url: "https://api.siliconflow.cn/v1/chat/completions"},
		// https://www.volcengine.com/docs/82379/1494384
		{name: "volcengine", url: "https://ark.cn-beijing.volces.com/api/v3/chat/completions"},
		// System text in parts; unknown fields, the marks among them, are ignored: https://platform.claude.com/docs/en/api/openai-sdk
		{name: "anthropic", url: "https://api.anthropic.com/v1/chat/completions"},
		// No temperature from Opus 4.7 on: https://platform.claude.com/docs/en/about-claude/models/migration-guide
		{name: "anthropic_opus", model: "anthropic/claude-opus-4-8", url: "https://api.anthropic.com/v1/chat/completions"},
		// https://platform.openai.com/docs/api-reference/chat/create
		{name: "openai", url: "https://api.openai.com/v1/chat/completions"},
		// max_completion_tokens, no temperature: https://platform.openai.com/docs/guides/reasoning
		{name: "openai_reasoning", model: "openai/gpt-5-mini", url: "https://api.openai.com/v1/chat/completions"},
		// reasoning_content in every message of the model: https://api-docs.deepseek.com/guides/thinking_mode
		{name: "deepseek", url: "https://api.deepseek.com/v1/chat/completions"},
		// https://ai.google.dev/gemini-api/docs/openai
		{name: "gemini", url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"},
		// A signature at the first call of a message: https://ai.google.dev/gemini-api/docs/thought-signatures
		{name: "gemini_3", model: "gemini/models/gemini-3-flash-preview", url: "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"},
		// Reasoning goes back with the tool results: https://docs.bigmodel.cn/cn/guide/capabilities/thinking-mode
		{name: "zhipu", url: "https://open.bigmodel.cn/api/paas/v4/chat/completions"},
		// Reasoning goes back with the tool results: https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-openai-chat-completions
		{name: "dashscope", url: "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions"},
		// A temperature of 1, and reasoning that is not empty: https://platform.moonshot.ai/docs/guide/use-kimi-k2-thinking-model
		{name: "moonshot", url: "https://api.moonshot.ai/v1/chat/completions"},
		// Reasoning stays in the text: https://platform.minimax.io/docs/api-reference/text-openai-api
		{name: "minimax", url: "https://api.minimax.io/v1/chat/completions"},
		// IDs of nine letters and digits, no field that is not in the schema: https://docs.mistral.ai/api
		{name: "mistral", url: "https://api.mistral.ai/v1/chat/completions"},
		// https://docs.x.ai/docs/api-reference
		{name: "xai", url: "https://api.x.ai/v1/chat/completions"},
		// https://console.groq.com/docs/openai
		{name: "groq", url: "https://api.groq.com/openai/v1/chat/completions"},
		// The key as a bearer token, the deployment as the model: https://learn.microsoft.com/azure/foundry/openai/api-version-lifecycle
		{name: "azure", model: "azure/gpt-4.1", baseURL: "https://ours.openai.azure.com/openai/v1/", url: "https://ours.openai.azure.com/openai/v1/chat/completions"},
		// https://docs.ollama.com/api/openai-compatibility
		{name: "ollama", model: "ollama/llama3.2:3b", url: "http://127.0.0.1:11434/v1/chat/completions", keyless: true},
		// https://docs.vllm.ai/en/stable/serving/openai_compatible_server
		{name: "vllm", model: "vllm/Qwen/Qwen3-32B", url: "http://127.0.0.1:8000/v1/chat/completions", keyless: true},
		// https://lmstudio.ai/docs/developer/openai-compat
		{name: "lm_studio", model: "lm_studio/qwen3-8b", url: "http://127.0.0.1:1234/v1/chat/completions", keyless: true},
	}
}

// kind is the registry's name of the row.
func (r row) kind() string {
	for _, p := range llm.Registry() {
		if r.name == p.Name || len(r.name) > len(p.Name) && r.name[:len(p.Name)+1] == p.Name+"_" {
			return p.Name
		}
	}
	return ""
}

func TestWhatGoesOverTheWire(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range rows() {
		seen[r.kind()] = true
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			configured := llm.Configured{Name: r.kind(), APIKey: "sk-secret", BaseURL: r.baseURL}
			if r.keyless {
				configured.APIKey = ""
			}
			choice, err := llm.Choose(r.model, []llm.Configured{configured})
			require.NoError(t, err)
			got := record(t, choice)

			require.Equal(t, r.url, got.url)
			headers := http.Header{
				"Accept": {"text/event-stream"}, "Authorization": {"Bearer sk-secret"}, "Cache-Control": {"no-cache"},
				"Content-Type": {"application/json"}, "User-Agent": {"Go-http-client/1.1"},
			}
			if r.keyless {
				delete(headers, "Authorization")
			}
			require.Equal(t, headers, got.headers)

			file := filepath.Join("testdata", "rows", r.name+".json")
			if *update {
				require.NoError(t, os.WriteFile(file, got.body, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.JSONEq(t, string(want), string(got.body))
		})
	}
	for _, p := range llm.Registry() {
		require.True(t, seen[p.Name], "no row for %s", p.Name)
	}
}

// wire is a request as it arrived, with its body on many lines.
type wire struct {
	url     string
	headers http.Header
	body    []byte
}

// record makes a call as chosen, but to a server of ours at the same path.
func record(t *testing.T, choice llm.Choice) wire {
	var got wire
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body bytes.Buffer
		_ = json.Indent(&body, raw, "", "  ")
		got = wire{r.URL.Path, r.Header.Clone(), append(body.Bytes(), '\n')}
		_, _ = w.Write([]byte(events(`{"delta":{"content":"Hi"}}`)))
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(choice.BaseURL)
	require.NoError(t, err)
	host := base.Scheme + "://" + base.Host
	choice.BaseURL = server.URL + base.Path
	client, err := openai.New(openai.OptionsFor(choice))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	_, err = client.Complete(t.Context(), everything(choice.Model), nil)
	require.NoError(t, err)
	delete(got.headers, "Content-Length")
	delete(got.headers, "Connection")
	got.url = host + got.url
	return got
}

// everything is a request with all that providers treat in ways of their own.
func everything(model string) llm.Request {
	return llm.Request{
		Model: model,
		Messages: []domain.Message{
			{Role: domain.RoleSystem, Content: "You are Holdfast."},
			{Role: domain.RoleUser, Content: "What is in this folder, and in this picture?", Images: []domain.Image{{MIME: "image/png", Data: []byte("picture")}}},
			{Role: domain.RoleAssistant, Reasoning: "Look first.", ToolCalls: []domain.ToolCall{
				{ID: "call_ab12_1_0", Name: "list_dir", Arguments: `{"path": "."}`},
				{ID: "call_ab12_1_1", Name: "list_dir", Arguments: `{path: 'sub'`},
			}},
			{Role: domain.RoleTool, CallID: "call_ab12_1_0", Name: "list_dir", Content: "a.txt"},
			{Role: domain.RoleTool, CallID: "call_ab12_1_1", Name: "list_dir"},
			{Role: domain.RoleAssistant, Content: "One file, \"a.txt\"."},
			{Role: domain.RoleUser, Content: "Thanks."},
		},
		Tools: []llm.ToolSpec{
			{Name: "list_dir", Description: "Lists a folder.", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
			{Name: "now", Description: "Tells the time."},
		},
		MaxTokens:   4096,
		Temperature: 0.7,
	}
}
