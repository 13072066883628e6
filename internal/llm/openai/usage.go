package openai

// usage is what a call consumed, in the words of those that differ.
type usage struct {
	PromptTokens        int `json:"prompt_tokens"` // the cached ones included
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"` // OpenAI's, and most others'
	} `json:"prompt_tokens_details"`
	PromptCacheHitTokens int `json:"prompt_cache_hit_tokens"` // DeepSeek's
	CachedTokens         int `json:"cached_tokens"`           // Moonshot's
	CacheReadInputTokens int `json:"cache_read_input_tokens"` // Anthropic's, as proxies pass it on
}

// cached returns how many tokens of the prompt the provider had in its cache.
// Some say it twice.
func (u usage) cached() int {
	most := max(u.PromptTokensDetails.CachedTokens, u.PromptCacheHitTokens, u.CachedTokens, u.CacheReadInputTokens)
	return min(most, u.PromptTokens)
}
