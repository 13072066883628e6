package llm

import "strings"

// ModelOverride is how requests to some models differ from the usual form.
type ModelOverride struct {
	Model               string  // prefix of the model's name after its last slash, in lower case; dots match hyphens
	MaxCompletionTokens bool    // the limit is called max_completion_tokens, not max_tokens
	NoTemperature       bool    // send none: the model rejects it
	Temperature         float64 // always send this one, unless 0
	ReasoningEffort     string  // send this one, unless empty
}

// knownModels apply with every provider.
func knownModels() []ModelOverride {
	return []ModelOverride{
		{Model: "o1", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "o3", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "o4", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "gpt-5", MaxCompletionTokens: true, NoTemperature: true},
		{Model: "gpt-6-sol", MaxCompletionTokens: true, NoTemperature: true, ReasoningEffort: "none"},
		{Model: "gpt-6-luna", MaxCompletionTokens: true, NoTemperature: true, ReasoningEffort: "none"},
		{Model: "gpt-6", MaxCompletionTokens: true, NoTemperature: true},
		// Models from Opus 4.7 on reject a temperature.
		{Model: "claude-opus-4-7", NoTemperature: true},
		{Model: "claude-opus-4-8", NoTemperature: true},
		{Model: "claude-opus-5", NoTemperature: true},
		{Model: "claude-sonnet-5", NoTemperature: true},
		{Model: "claude-fable", NoTemperature: true},
	}
}

// OverrideFor returns the first matching override of a provider, else of the models
// known by name, else the zero value.
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

// hyphenated unifies the two ways of writing a version: "4.7" and "4-7".
func hyphenated(name string) string { return strings.ReplaceAll(name, ".", "-") }
