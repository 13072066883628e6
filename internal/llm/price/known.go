package price

// The built-in prices are the providers' list prices of 2026-11-21,
// cross-checked with the public table of pydantic/genai-prices: the lowest tier of
// prices that depend on the prompt's length, the highest of those that depend on
// the time of day.

// passedOn maps models to the vendor whose price applies: OpenRouter charges these
// vendors' own prices.
func passedOn() [][2]string {
	return [][2]string{
		{"openrouter/anthropic/", "anthropic/"},
		{"openrouter/openai/", "openai/"},
		{"openrouter/google/", "gemini/"},
		{"openrouter/x-ai/", "xai/"},
		{"azure/", "openai/"},
	}
}

// known returns the prices by registry name and model. A name covers its dated
// versions.
func known() map[string]Price {
	return map[string]Price{
		"openrouter/:free": {},
		"demo/*":           {},
		"ollama/*":         {},
		"vllm/*":           {},
		"lm_studio/*":      {},

		// https://platform.claude.com/docs/en/about-claude/pricing
		"anthropic/claude-fable-5":    {10, 1, 50},
		"anthropic/claude-fable-5-1":  {10, 0.25, 50},
		"anthropic/claude-opus-5-5":   {4, 0.2, 20},
		"anthropic/claude-opus-5":     {5, 0.5, 25},
		"anthropic/claude-opus-4-8":   {5, 0.5, 25},
		"anthropic/claude-opus-4-7":   {5, 0.5, 25},
		"anthropic/claude-opus-4-6":   {5, 0.5, 25},
		"anthropic/claude-opus-4-5":   {5, 0.5, 25},
		"anthropic/claude-opus-4-1":   {15, 1.5, 75},
		"anthropic/claude-opus-4-0":   {15, 1.5, 75},
		"anthropic/claude-opus-4":     {15, 1.5, 75},
		"anthropic/claude-sonnet-5":   {2, 0.2, 10},
		"anthropic/claude-sonnet-4-6": {3, 0.3, 15},
		"anthropic/claude-sonnet-4-5": {3, 0.3, 15},
		"anthropic/claude-sonnet-4-0": {3, 0.3, 15},
		"anthropic/claude-sonnet-4":   {3, 0.3, 15},
		"anthropic/claude-haiku-4-5":  {1, 0.1, 5},

		// https://openai.com/api/pricing
		"openai/gpt-6-astra":   {10, 1, 50},
		"openai/gpt-6-sol":     {2, 0.2, 10},
		"openai/gpt-6-luna":    {0.1, 0.01, 0.5},
		"openai/gpt-5.6-sol":   {4, 0.4, 24},
		"openai/gpt-5.6-terra": {2, 0.2, 12},
		"openai/gpt-5.6-luna":  {0.2, 0.02, 1.2},
		"openai/gpt-5.5":       {5, 0.5, 30},
		"openai/gpt-5.4":       {2.5, 0.25, 15},
		"openai/gpt-5.4-mini":  {0.75, 0.075, 4.5},
		"openai/gpt-5.4-nano":  {0.2, 0.02, 1.25},
		"openai/gpt-5.3-codex": {1.75, 0.175, 14},
		"openai/gpt-5.3":       {1.75, 0.175, 14},
		"openai/gpt-5.2":       {1.75, 0.175, 14},
		"openai/gpt-5.1":       {1.25, 0.125, 10},
		"openai/gpt-5":         {1.25, 0.125, 10},
		"openai/gpt-5-mini":    {0.25, 0.025, 2},
		"openai/gpt-5-nano":    {0.05, 0.005, 0.4},
		"openai/gpt-4.1":       {2, 0.5, 8},
		"openai/gpt-4.1-mini":  {0.4, 0.1, 1.6},
		"openai/gpt-4.1-nano":  {0.1, 0.025, 0.4},
		"openai/gpt-4o":        {2.5, 1.25, 10},
		"openai/gpt-4o-mini":   {0.15, 0.075, 0.6},
		"openai/o3":            {2, 0.5, 8},
		"openai/o3-mini":       {1.1, 0.55, 4.4},
		"openai/o4-mini":       {1.1, 0.275, 4.4},
		"openai/o1":            {15, 7.5, 60},

		// https://ai.google.dev/gemini-api/docs/pricing
		"gemini/gemini-3.8-flash":       {0.75, 0.075, 3.75},
		"gemini/gemini-3.7-flash":       {0.75, 0.075, 3.75},
		"gemini/gemini-3.6-flash":       {0.75, 0.075, 3.75},
		"gemini/gemini-3.5-flash":       {1.5, 0.15, 9},
		"gemini/gemini-3.5-flash-lite":  {0.3, 0.03, 2.5},
		"gemini/gemini-3.1-pro-preview": {2, 0.2, 12},
		"gemini/gemini-3.1-flash-lite":  {0.25, 0.025, 1.5},
		"gemini/gemini-3-pro-preview":   {2, 0.2, 12},
		"gemini/gemini-3-flash-preview": {0.5, 0.05, 3},
		"gemini/gemini-2.5-pro":         {1.25, 0.125, 10},
		"gemini/gemini-2.5-flash":       {0.3, 0.03, 2.5},
		"gemini/gemini-2.5-flash-lite":  {0.1, 0.01, 0.4},

		// https://api-docs.deepseek.com/quick_start/pricing
		"deepseek/deepseek-flash":    {0.3, 0.006, 1.2},
		"deepseek/deepseek-v4-flash": {0.3, 0.006, 1.2},
		"deepseek/deepseek-v4-pro":   {1.32, 0.044, 3.96},

		// https://docs.x.ai/docs/models
		"xai/grok-4.6":         {2, 0.5, 6},
		"xai/grok-4.5":         {2, 0.3, 6},
		"xai/grok-4.3":         {1.25, 0.2, 2.5},
		"xai/grok-4.20":        {1.25, 0.2, 2.5},
		"xai/grok-4-1-fast*":   {0.2, 0.05, 0.5},
		"xai/grok-4-fast*":     {0.2, 0.05, 0.5},
		"xai/grok-4":           {3, 0.75, 15},
		"xai/grok-code-fast-1": {0.2, 0.02, 1.5},
		"xai/grok-3":           {3, 0.75, 15},
		"xai/grok-3-mini":      {0.3, 0.075, 0.5},

		// https://mistral.ai/pricing
		"mistral/mistral-large-latest":  {0.5, 0.05, 1.5},
		"mistral/mistral-large-2512":    {0.5, 0.05, 1.5},
		"mistral/mistral-medium-latest": {1.5, 0.15, 7.5},
		"mistral/mistral-medium-3-5":    {1.5, 0.15, 7.5},
		"mistral/mistral-small-latest":  {0.15, 0.015, 0.6},
		"mistral/mistral-small-2603":    {0.15, 0.015, 0.6},
		"mistral/codestral":             {0.3, 0.03, 0.9},
		"mistral/devstral-2512":         {0.4, 0.04, 2},

		// https://groq.com/pricing
		"groq/llama-3.3-70b-versatile": {0.59, 0, 0.79},
		"groq/llama-3.1-8b-instant":    {0.05, 0, 0.08},
		"groq/openai/gpt-oss-120b":     {0.15, 0.075, 0.6},
		"groq/openai/gpt-oss-20b":      {0.075, 0.0375, 0.3},
		"groq/qwen/qwen3-32b":          {0.29, 0, 0.59},

		// https://platform.moonshot.ai/docs/pricing/chat
		"moonshot/kimi-k3":        {3, 0.3, 15},
		"moonshot/kimi-k2.7-code": {0.95, 0.19, 4},
		"moonshot/kimi-k2.6":      {0.95, 0.16, 4},
		"moonshot/kimi-k2.5":      {0.6, 0.1, 3},

		// https://docs.z.ai/guides/overview/pricing
		"zhipu/glm-5.3":       {1.4, 0.26, 4.4},
		"zhipu/glm-5.3-flash": {0.075, 0.015, 0.25},
		"zhipu/glm-5.2":       {1.4, 0.26, 4.4},
		"zhipu/glm-4.7":       {0.6, 0.11, 2.2},
		"zhipu/glm-4.6":       {0.6, 0.11, 2.2},

		// https://platform.minimax.io/docs/pricing
		"minimax/minimax-m3":   {0.3, 0.06, 1.2},
		"minimax/minimax-m2.7": {0.3, 0.06, 1.2},
		"minimax/minimax-m2.5": {0.3, 0.03, 1.2},
		"minimax/minimax-m2.1": {0.3, 0.03, 1.2},
		"minimax/minimax-m2":   {0.3, 0.03, 1.2},

		// https://help.aliyun.com/zh/model-studio/models, in Beijing
		"dashscope/qwen-plus": {0.115, 0.023, 0.287},
		"dashscope/qwen3-max": {0.359, 0.072, 1.434},
	}
}
