package llm

import (
	"slices"
	"strings"
)

// ProviderRow describes a known provider.
type ProviderRow struct {
	Name         string // as users write it: in config, and before the slash of a model
	KeyEnv       string // environment variable of the key; empty if none
	BaseURL      string // of its OpenAI-compatible API; empty: must be configured
	DefaultModel string // empty: must be configured

	Keywords       []string // in its own models' names, in lower case
	KeyPrefix      string   // of its keys, for gateways
	BaseURLKeyword string   // in its base URL, for gateways

	Vendor      string   // prefix of its models at gateways
	AddVendor   bool     // gateway: models without a slash get their vendor's prefix
	StripVendor bool     // remove everything up to the last slash of models' names
	Strip       []string // prefixes removed from models' names

	Local   bool // runs on the user's machine: needs no key
	Gateway bool // serves other vendors' models
	Quirks  Quirks
}

// KeyVariables returns the known providers by name, each with the environment
// variable that usually holds its API key, or "".
func KeyVariables() map[string]string {
	variables := map[string]string{}
	for _, row := range Registry() {
		variables[row.Name] = row.KeyEnv
	}
	return variables
}

// Registry returns the known providers, in order of preference.
func Registry() []ProviderRow {
	// The thinking models of this family reject any other temperature.
	kimi := []ModelOverride{
		{Model: "kimi-k2.5", Temperature: 1},
		{Model: "kimi-k2.6", Temperature: 1},
		{Model: "kimi-k2.7", Temperature: 1},
		{Model: "kimi-k2-thinking", Temperature: 1},
		{Model: "kimi-k3", Temperature: 1},
		{Model: "kimi-for-coding", Temperature: 1},
	}
	return []ProviderRow{
		{
			Name: "custom", KeyEnv: "CUSTOM_API_KEY",
		},
		{
			Name: "openrouter", KeyEnv: "OPENROUTER_API_KEY",
			BaseURL: "https://openrouter.ai/api/v1", DefaultModel: "anthropic/claude-sonnet-4.5",
			KeyPrefix: "sk-or-", BaseURLKeyword: "openrouter",
			Gateway: true, AddVendor: true,
			Quirks: Quirks{Models: kimi, Reasoning: ReasoningSent, PromptCaching: true},
		},
		{
			Name: "aihubmix", KeyEnv: "AIHUBMIX_API_KEY",
			BaseURL: "https://aihubmix.com/v1", DefaultModel: "claude-sonnet-4-5",
			BaseURLKeyword: "aihubmix",
			Gateway:        true, StripVendor: true,
			Quirks: Quirks{Models: kimi},
		},
		{
			Name: "siliconflow", KeyEnv: "SILICONFLOW_API_KEY",
			BaseURL: "https://api.siliconflow.cn/v1", DefaultModel: "deepseek-ai/DeepSeek-V3",
			BaseURLKeyword: "siliconflow", Gateway: true,
			Quirks: Quirks{Models: kimi},
		},
		{
			Name: "volcengine", KeyEnv: "ARK_API_KEY",
			BaseURL: "https://ark.cn-beijing.volces.com/api/v3", DefaultModel: "doubao-seed-1-6-251015",
			Keywords: []string{"doubao"}, BaseURLKeyword: "volces",
			Gateway: true,
			Quirks:  Quirks{Models: kimi},
		},
		{
			Name: "anthropic", KeyEnv: "ANTHROPIC_API_KEY",
			BaseURL: "https://api.anthropic.com/v1", DefaultModel: "claude-sonnet-4-5",
			Keywords: []string{"anthropic", "claude"}, Vendor: "anthropic",
			Quirks: Quirks{PromptCaching: true},
		},
		{
			Name: "openai", KeyEnv: "OPENAI_API_KEY",
			BaseURL: "https://api.openai.com/v1", DefaultModel: "gpt-4.1",
			Keywords: []string{"openai", "gpt", "o1", "o3", "o4"}, Vendor: "openai",
		},
		{
			Name: "deepseek", KeyEnv: "DEEPSEEK_API_KEY",
			BaseURL: "https://api.deepseek.com/v1", DefaultModel: "deepseek-flash",
			Keywords: []string{"deepseek"}, Vendor: "deepseek",
			Quirks: Quirks{Reasoning: ReasoningRequired},
		},
		{
			Name: "gemini", KeyEnv: "GEMINI_API_KEY",
			BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai", DefaultModel: "gemini-2.5-flash",
			Keywords: []string{"gemini"}, Vendor: "google", Strip: []string{"models/", "google/"},
			Quirks: Quirks{CallSignatures: true},
		},
		{
			Name: "zhipu", KeyEnv: "ZAI_API_KEY",
			BaseURL: "https://open.bigmodel.cn/api/paas/v4", DefaultModel: "glm-4.6",
			Keywords: []string{"zhipu", "glm", "zai"}, Vendor: "z-ai",
			Quirks: Quirks{Reasoning: ReasoningSent},
		},
		{
			Name: "dashscope", KeyEnv: "DASHSCOPE_API_KEY",
			BaseURL: "https://dashscope.aliyuncs.com/compatible-mode/v1", DefaultModel: "qwen-plus",
			Keywords: []string{"qwen", "dashscope"}, Vendor: "qwen",
			Quirks: Quirks{Reasoning: ReasoningSent},
		},
		{
			Name: "moonshot", KeyEnv: "MOONSHOT_API_KEY",
			BaseURL: "https://api.moonshot.ai/v1", DefaultModel: "kimi-k2.5",
			Keywords: []string{"moonshot", "kimi"}, Vendor: "moonshotai",
			Quirks: Quirks{Models: kimi, Reasoning: ReasoningRequired},
		},
		{
			Name: "minimax", KeyEnv: "MINIMAX_API_KEY",
			BaseURL: "https://api.minimax.io/v1", DefaultModel: "MiniMax-M2",
			Keywords: []string{"minimax"}, Vendor: "minimax",
			Quirks: Quirks{Reasoning: ReasoningTagged},
		},
		{
			Name: "mistral", KeyEnv: "MISTRAL_API_KEY",
			BaseURL: "https://api.mistral.ai/v1", DefaultModel: "mistral-large-latest",
			Keywords: []string{"mistral", "ministral", "magistral", "codestral", "devstral"}, Vendor: "mistralai",
			Quirks: Quirks{ShortCallIDs: true},
		},
		{
			Name: "xai", KeyEnv: "XAI_API_KEY",
			BaseURL: "https://api.x.ai/v1", DefaultModel: "grok-4",
			Keywords: []string{"grok"}, Vendor: "x-ai",
		},
		{
			Name: "groq", KeyEnv: "GROQ_API_KEY",
			BaseURL: "https://api.groq.com/openai/v1", DefaultModel: "llama-3.3-70b-versatile",
			Keywords: []string{"groq", "llama"},
		},
		{
			Name: "azure", KeyEnv: "AZURE_OPENAI_API_KEY",
		},
		{
			Name: "ollama", KeyEnv: "OLLAMA_API_KEY",
			BaseURL: "http://127.0.0.1:11434/v1", Local: true,
		},
		{
			Name: "vllm", KeyEnv: "VLLM_API_KEY",
			BaseURL: "http://127.0.0.1:8000/v1", Local: true,
		},
		{
			Name: "lm_studio", KeyEnv: "LM_STUDIO_API_KEY",
			BaseURL: "http://127.0.0.1:1234/v1", Local: true,
		},
	}
}

// Lookup returns the registry's row with this name.
func Lookup(name string) (ProviderRow, bool) {
	rows := Registry()
	i := slices.IndexFunc(rows, func(p ProviderRow) bool { return p.Name == name })
	if i < 0 {
		return ProviderRow{}, false
	}
	return rows[i], true
}

// knows reports whether model looks like one of the provider's own models.
func (p ProviderRow) knows(model string) bool {
	name := strings.ToLower(model)
	return slices.ContainsFunc(p.Keywords, func(word string) bool {
		at := strings.Index(name, word)
		// Short keywords such as "o1" only count at the start of a path element.
		return at == 0 || at > 0 && (len(word) > 2 || name[at-1] == '/')
	})
}

// modelName returns the provider's name for model.
func (p ProviderRow) modelName(model string) string {
	if p.StripVendor {
		model = model[strings.LastIndexByte(model, '/')+1:]
	}
	for _, prefix := range p.Strip {
		model = strings.TrimPrefix(model, prefix)
	}
	if p.AddVendor && !strings.Contains(model, "/") {
		if vendor := vendorOf(model); vendor != "" {
			model = vendor + "/" + model
		}
	}
	return model
}

func vendorOf(model string) string {
	for _, p := range Registry() {
		if p.Vendor != "" && p.knows(model) {
			return p.Vendor
		}
	}
	return ""
}
