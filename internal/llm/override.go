package llm

import "strings"

// ModelOverride says how the requests of some models differ from what we would
// send to others.
type ModelOverride struct {
	Model               string  // how the model's name begins, in lower case, after its last slash; a dot is as a hyphen
	MaxCompletionTokens bool    // the limit is named max_completion_tokens, not max_tokens
	NoTemperature       bool    // send none: the model refuses it
	Temperature         float64 // send this one whatever was asked; 0 for no such wish
	ReasoningEffort     string  // send this; empty for the model's default
}

// knownModels are known by name wherever they are served.
func knownModels() []ModelOverride {
	return []ModelOverride{
		{Model: "o1", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "o3", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "o4", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "gpt-5", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "gpt-6-sol", MaxCompletionTokens: true, NoTemperature: true, ReasoningEffort: "none"},
		{Model: "gpt-6-luna", MaxCompletionTokens: true, NoTemperature: true, ReasoningEffort: "none"},
		{Model: "gpt-6", MaxCompletionTokens: true, NoTemperature: true},
		// From Opus 4.7 on a request with a temperature is refused.
		{Model: "claude-opus-4-7", NoTemperature: true},
		{Model: "claude-opus-4-8", NoTemperature: true},
		{Model: "claude-opus-5", NoTemperature: true},
		{Model: "claude-sonnet-5", NoTemperature: true},
		{Model: "claude-fable", NoTemperature: true},
	}
}

// OverrideFor returns the first of a provider's overrides that is for model,
// else what is known of models of that name anywhere, else the zero value.
func OverrideFor(model string, overrides []ModelOverride) ModelOverride {
	name := hyphenated(strings.ToLower(model[strings.LastIndexByte(model, '/')+1:]))
	for _, list := range [][]ModelOverride{overrides, knownModels()} {
		for _, o := range list {
			if strings.HasPrefix(name, hyphenated(o.Model)) {
				return o
			}
		}
	}
	return ModelOverride{}
}

// hyphenated makes one of the two ways of writing a version: "4.7" and "4-7".
func hyphenated(name string) string { return strings.ReplaceAll(name, ".", "-") }
