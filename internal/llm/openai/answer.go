package openai

import (
	"bytes"
	"encoding/json"

	"github.com/sashabaranov/go-openai"
)

// answer is one event of a stream, or a whole answer. It decodes the fields in
// use, with go-openai's types except where providers differ from them.
type answer struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        int                 `json:"index"`
	Delta        delta               `json:"delta"`
	Message      delta               `json:"message"` // in a whole answer
	FinishReason openai.FinishReason `json:"finish_reason"`
}

type delta struct {
	openai.ChatCompletionStreamChoiceDelta
	Content   content    `json:"content"`
	Reasoning string     `json:"reasoning"` // OpenRouter's name for reasoning_content
	ToolCalls []toolCall `json:"tool_calls"`
}

// toolCall is a tool call, or a piece of one.
type toolCall struct {
	openai.ToolCall
	Function struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	} `json:"function"`
}

// content is the text of a message: a string or, from Mistral, a list of parts,
// some of which are thinking.
type content struct{ text, thinking string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &c.text)
	}
	type part struct {
		Text string `json:"text"`
	}
	var parts []struct {
		part
		Thinking []part `json:"thinking"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		for _, thought := range p.Thinking {
			c.thinking += thought.Text
		}
	}
	return nil
}

// arguments of a tool call are JSON in a string or, from some servers, the JSON
// itself.
type arguments string

// UnmarshalJSON implements [json.Unmarshaler].
func (a *arguments) UnmarshalJSON(data []byte) error {
	*a = arguments(textOf(data))
	return nil
}

// usage counts tokens. Providers name the cached ones differently.
type usage struct {
	openai.Usage
	PromptCacheHitTokens int `json:"prompt_cache_hit_tokens"` // DeepSeek
	CachedTokens         int `json:"cached_tokens"`           // Moonshot
	CacheReadInputTokens int `json:"cache_read_input_tokens"` // Anthropic, through proxies
}

// cached returns how many tokens of the prompt were read from the provider's
// cache. Some providers report them twice.
func (u usage) cached() int {
	most := max(u.PromptCacheHitTokens, u.CachedTokens, u.CacheReadInputTokens)
	if u.PromptTokensDetails != nil {
		most = max(most, u.PromptTokensDetails.CachedTokens)
	}
	return min(most, u.PromptTokens)
}
