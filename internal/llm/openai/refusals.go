package openai

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// tooLong reports whether the service said that the conversation is too long: by
// the status, by a code, or in words.
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

// tooLongWords are how providers say it that have no code for it. The test has
// whole messages of each.
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

// neverFits is a limit of tokens per minute that one request is over: waiting
// does not help, shortening does.
var neverFits = anyOf(`must be reduced in order to run successfully`) // OpenAI, Groq

// noImages reports whether the service refused the images of a request that has
// some.
func (e *serviceError) noImages() bool {
	switch e.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return e.has(imageCodes) || imageWords.MatchString(e.message)
	case http.StatusInternalServerError, http.StatusNotImplemented:
		return takesNone.MatchString(e.message)
	}
	return false
}

var imageCodes = []string{
	"image_parse_error", "invalid_image", "invalid_image_format", "image_too_large", "unsupported_image_media_type",
	"1210", // Zhipu: something is wrong with a parameter
}

var (
	imageWords = anyOf(
		`image`, `vision`, `multi-?modal`, `modalit`,
		`content must be a string`, `content should be a string`, // Groq, Mistral
		`content\.type.*\[.text.\]`, // Zhipu
	)
	// takesNone is for servers that call it their own failure: llama.cpp, Ollama.
	takesNone = anyOf(`image input`, `support images?`, `multi-?modal`, `mmproj`)
)

// meantStatus is the status that the service should have given for a key that is
// wrong, and for an account that has no money left. Waiting helps neither.
func (e *serviceError) meantStatus() int {
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

// anyOf matches texts that any of the patterns matches, in capitals or not.
func anyOf(patterns ...string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(patterns, "|"))
}
