package llm

// Quirks are how requests to a provider differ from the usual form. The zero value
// means no differences.
type Quirks struct {
	Models         []ModelOverride // for some of its models
	Reasoning      ReasoningBack   // how it expects reasoning in requests
	PromptCaching  bool            // accepts cache_control marks for Anthropic's models
	ShortCallIDs   bool            // tool call IDs must be nine letters and digits
	CallSignatures bool            // newer models need signed tool calls (Google)
}

// ReasoningBack is how later calls return a model's reasoning to the provider.
type ReasoningBack string

// The ways of returning reasoning.
const (
	ReasoningDropped  ReasoningBack = ""         // not at all: the provider may reject it
	ReasoningSent     ReasoningBack = "sent"     // as reasoning_content, if any
	ReasoningRequired ReasoningBack = "required" // as reasoning_content, in every assistant message
	ReasoningTagged   ReasoningBack = "tagged"   // in the text, between think tags
)
