package llm

import "strings"

// ModelOverride says how the requests of some models differ from what we would
// send to others.
type ModelOverride struct {
	Model               string  // how the model's name begins, in lower case, after its last slash
	MaxCompletionTokens bool    // the limit is named max_completion_tokens, not max_tokens
	NoTemperature       bool    // send none: the model refuses it
	Temperature         float64 // send this one whatever was asked; 0 for no such wish
	ReasoningEffort     string  // send this; empty for the model's default
}

// reasoningModels are known by name wherever they are served.
func reasoningModels() []ModelOverride {
	return []ModelOverride{
		{Model: "o1", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "o3", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "o4", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "gpt-5", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "gpt-6-sol", MaxCompletionTokens: true, NoTemperature: true, ReasoningEffort: "none"},
		{Model: "gpt-6-luna", MaxCompletionTokens: true, NoTemperature: true, ReasoningEffort: "none"},
		{Model: "gpt-6", MaxCompletionTokens: true, NoTemperature: true},
	}
}

// OverrideFor returns the first of a provider's overrides that is for model,
// else what is known of models of that name anywhere, else the zero value.
func OverrideFor(model string, overrides []ModelOverride) ModelOverride {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, list := range [][]ModelOverride{overrides, reasoningModels()} {
		for _, o := range list {
			if strings.HasPrefix(name, o.Model) {
				return o
			}
		}
	}
	return ModelOverride{}
}
