package openai_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// refusal is what a provider said, as users of it reported.
type refusal struct {
	provider string
	status   int
	code     string
	message  string
}

// refused returns the error of a call that is refused so.
func refused(t *testing.T, r refusal, images ...domain.Image) error {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": r.message, "code": r.code}})
		w.WriteHeader(r.status)
		_, _ = w.Write(body)
	}))
	t.Cleanup(server.Close)
	req := llmtest.Conversation()
	req.Messages[1].Images = images
	_, err := newClient(t, openai.Options{BaseURL: server.URL}).Complete(t.Context(), req, nil)
	require.NotNil(t, remote.As(err), r.message)
	return err
}

func TestTooLongErrorsOfEachProvider(t *testing.T) {
	t.Parallel()
	for _, r := range []refusal{
		{"openai", 400, "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 174643 tokens. Please reduce the length of the messages."},
		{"openai", 400, "", "Your input exceeds the context window of this model. Please adjust your input and try again."},
		{"openai", 429, "rate_limit_exceeded", "Request too large for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens must be reduced in order to run successfully."},
		{"azure", 400, "", "This model's maximum context length is 16385 tokens, however you requested 20000 tokens (19000 in your prompt; 1000 for the completion). Please reduce your prompt; or completion length."},
		{"anthropic", 400, "", "prompt is too long: 213462 tokens > 200000 maximum"},
		{"anthropic", 400, "", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"},
		{"anthropic", 413, "request_too_large", "Request exceeds the maximum size"},
		{"openrouter", 400, "", "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (136000 of text input, 4000 in the output). Please reduce the length of either one."},
		{"openrouter", 400, "", "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."},
		{"gemini", 400, "400", "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)."},
		{"groq", 400, "", "Please reduce the length of the messages or completion."},
		{"mistral", 400, "", "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},
		{"xai", 400, "", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."},
		{"deepseek", 400, "invalid_request_error", "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion."},
		{"deepseek", 400, "", "Input length 1805012 exceeds the maximum length 1048566"},
		{"moonshot", 400, "", "Invalid request: Your request exceeded model token limit: 262144 (requested: 300000)"},
		{"zhipu", 400, "1261", "Prompt exceeds max length"},
		{"dashscope", 400, "invalid_parameter_error", "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]"},
		{"minimax", 400, "", "invalid params, context window exceeds limit (2013)"},
		{"siliconflow", 400, "20015", "length of prompt_tokens (57535) must be less than max_seq_len (32768)."},
		{"volcengine", 400, "InvalidParameter", "Total tokens of image and text exceed max message tokens."},
		{"aihubmix", 400, "", "prompt is too long: 209353 tokens > 199999 maximum"},
		{"ollama", 500, "", "prompt too long; exceeded max context length by 4 tokens"},
		{"ollama", 400, "", "the input length exceeds the context length"},
		{"vllm", 400, "", "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens, for a total of at least 262145 tokens."},
		{"vllm", 400, "", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."},
		{"lm_studio", 400, "", "The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length, or provide a shorter input"},
		{"lm_studio", 400, "", "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"},
		{"custom: llama.cpp", 500, "", "the request exceeds the available context size. try increasing the context size or enable context shift"},
		{"custom: SGLang", 400, "", "The input (263000 tokens) is longer than the model's context length (262144 tokens)."},
		{"custom: SGLang", 400, "", "Requested token count exceeds the model's maximum context length of 262144 tokens."},
		{"custom: text-generation-inference", 422, "", "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`"},
	} {
		err := refused(t, r)
		require.ErrorIs(t, err, llm.ErrTooLong, "%s: %s", r.provider, r.message)
		require.ErrorContains(t, err, r.message[:20])
	}
	for _, r := range []refusal{
		{"openai", 429, "rate_limit_exceeded", "Rate limit reached for gpt-4.1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s."},
		{"bedrock behind a proxy", 429, "", "Too many tokens, please wait before trying again."},
		{"openai", 400, "string_too_long", "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, but got a string with length 80 instead."},
		{"deepseek", 400, "", "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"},
		{"moonshot", 400, "", "invalid temperature: only 1 is allowed for this model"},
	} {
		require.NotErrorIs(t, refused(t, r), llm.ErrTooLong, "%s: %s", r.provider, r.message)
	}
}

func TestImageErrorsOfEachProvider(t *testing.T) {
	t.Parallel()
	image := domain.Image{MIME: "image/png", Data: []byte("png")}
	for _, r := range []refusal{
		{"openai", 400, "", "Invalid content type. image_url is only supported by certain models."},
		{"openai", 400, "invalid_image_format", "You uploaded an unsupported image."},
		{"anthropic", 400, "", "messages.39.content.38.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"},
		{"openrouter", 404, "404", "No endpoints found that support image input"},
		{"deepseek", 400, "invalid_request_error", "Failed to deserialize the JSON body into the target type: messages[94]: unknown variant `image_url`, expected `text` at line 1 column 802043"},
		{"groq", 400, "", "messages[1].content must be a string"},
		{"zhipu", 400, "1210", "messages.content.type 参数非法，取值范围 ['text']"},
		{"zhipu", 400, "1210", "Invalid API parameter, please check the documentation."},
		{"volcengine", 400, "InvalidParameter", "Model do not support image input."},
		{"moonshot", 400, "", "Invalid request: Image input not supported for model moonshot-v1-8k"},
		{"vllm", 400, "", "The model is not a multimodal model"},
		{"ollama", 400, "", "this model does not support image input"},
		{"custom: llama.cpp", 500, "", "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"},
	} {
		require.ErrorIs(t, refused(t, r, image), llm.ErrNoImages, "%s: %s", r.provider, r.message)
		require.NotErrorIs(t, refused(t, r), llm.ErrNoImages, "there was none to refuse")
	}
	for _, r := range []refusal{
		{"openai", 400, "", "Invalid value for 'temperature'."},
		{"openai", 429, "", "Rate limit reached for images per minute."},
		{"openai", 401, "", "You have no access to vision."},
		{"any", 500, "", "disk image corrupt"},
		{"openai", 400, "context_length_exceeded", "Your images and text are too many tokens."},
	} {
		require.NotErrorIs(t, refused(t, r, image), llm.ErrNoImages, "%s: %s", r.provider, r.message)
	}
}

func TestWrongKeysAndEmptyAccounts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		refusal
		want int
	}{
		{refusal{"gemini", 400, "400", "API key not valid. Please pass a valid API key."}, http.StatusUnauthorized},
		{refusal{"xai", 400, "", "Incorrect API key provided: xa***en. You can obtain an API key from https://console.x.ai."}, http.StatusUnauthorized},
		{refusal{"openai", 429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."}, http.StatusPaymentRequired},
		{refusal{"anthropic", 400, "", "Your credit balance is too low to access the Anthropic API."}, http.StatusPaymentRequired},
		{refusal{"moonshot", 429, "exceeded_current_quota_error", "Your account is suspended, please check your plan and billing details"}, http.StatusPaymentRequired},
		{refusal{"zhipu", 429, "1113", "余额不足或无可用资源包,请充值。"}, http.StatusPaymentRequired},
		{refusal{"siliconflow", 429, "", "Insufficient balance"}, http.StatusPaymentRequired},
		{refusal{"openai", 429, "rate_limit_exceeded", "Rate limit reached."}, http.StatusTooManyRequests},
		{refusal{"openai", 500, "insufficient_quota", "what?"}, http.StatusInternalServerError},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, remote.As(refused(t, tt.refusal)).Status, "%s: %s", tt.provider, tt.message)
	}
}
