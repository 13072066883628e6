package openai

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// tooLong reports whether the provider says that the conversation is too long: by
// status, by code, or in words.
func (e *serviceError) tooLong() bool {
	switch {
	case e.status == http.StatusRequestEntityTooLarge, e.has(tooLongCodes):
		return true
	case e.status == http.StatusTooManyRequests:
		return neverFits.MatchString(e.message)
	}
	return tooLongWords.MatchString(e.message)
}

var tooLongCodes = []string{
	"context_length_exceeded", "context_window_exceeded", "model_context_window_exceeded",
	"exceed_context_size_error", "string_above_max_length", "tokens_limit_reached",
	"max_prompt_tokens_exceeded", "prompt_too_long", "request_too_large",
	"1261", // Zhipu
}

// tooLongWords match the messages of providers without a code for it. The test has
// each in full.
var tooLongWords = anyOf(
	`prompt (is )?too long`,                                    // Anthropic, Ollama
	`input length and .max_tokens. exceed context limit`,       // Anthropic
	`exceeds? the context window|context window exceeds limit`, // OpenAI, MiniMax
	`maximum (context|model|prompt) length`,                    // OpenAI, DeepSeek, OpenRouter, Mistral, vLLM, xAI
	`reduce the length of the (messages|input|prompt)`,         // Groq, DeepSeek, vLLM
	`input token count.*exceeds the maximum`,                   // Google
	`exceeded model token limit`,                               // Moonshot
	`range of input length should be`,                          // DashScope
	`prompt exceeds max length|prompt 超长`,                      // Zhipu
	`must be less than max_seq_len`,                            // SiliconFlow
	`exceed max message tokens`,                                // Volcengine
	`input length.*exceeds? (the )?(maximum|context)`,          // DeepSeek, Ollama, Poolside
	`longer than the model'?s context length`,                  // SGLang, Together
	`exceeds the available context size`,                       // llama.cpp
	`greater than the context length|context the overflows`,    // LM Studio
	`.inputs. tokens \+ .max_new_tokens. must be`,              // text-generation-inference
	neverFits.String(),
)

// neverFits matches a limit of tokens per minute that a single request exceeds:
// waiting does not help, shortening does.
var neverFits = anyOf(`must be reduced in order to run successfully`) // OpenAI, Groq

// noImages reports whether the provider rejected the images of a request that has
// some.
func (e *serviceError) noImages() bool {
	switch e.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return e.has(imageCodes) || imageWords.MatchString(e.message)
	case http.StatusInternalServerError, http.StatusNotImplemented:
		return noImageSupport.MatchString(e.message)
	}
	return false
}

var imageCodes = []string{
	"image_parse_error", "invalid_image", "invalid_image_format", "image_too_large", "unsupported_image_media_type",
	"1210", // Zhipu: invalid parameter
}

var (
	imageWords = anyOf(
		`image`, `vision`, `multi-?modal`, `modalit`,
		`content must be a string`, `content should be a string`, // Groq, Mistral
		`content\.type.*\[.text.\]`, // Zhipu
	)
	// noImageSupport is for servers that report a server error: llama.cpp, Ollama.
	noImageSupport = anyOf(`image input`, `support images?`, `multi-?modal`, `mmproj`)
)

// effectiveStatus returns the status, corrected for wrong keys and accounts without
// credit, which some providers report as a bad request or a rate limit.
func (e *serviceError) effectiveStatus() int {
	switch e.status {
	case http.StatusBadRequest, http.StatusTooManyRequests:
	default:
		return e.status
	}
	switch {
	case e.has(noMoneyCodes), noMoney.MatchString(e.message):
		return http.StatusPaymentRequired
	case wrongKey.MatchString(e.message):
		return http.StatusUnauthorized
	}
	return e.status
}

var (
	noMoneyCodes = []string{"insufficient_quota", "exceeded_current_quota_error", "1113"} // OpenAI, Moonshot, Zhipu
	noMoney      = anyOf(`credit balance is too low`, `insufficient balance`)             // Anthropic, many
	wrongKey     = anyOf(`api key not valid`, `(incorrect|invalid) api key`)              // Google, xAI
)

func (e *serviceError) has(codes []string) bool {
	return slices.ContainsFunc(e.codes, func(code string) bool { return slices.Contains(codes, strings.ToLower(code)) })
}

// anyOf matches any of the patterns, case-insensitively.
func anyOf(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(patterns, "|"))
}
