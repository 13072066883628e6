package llm

// Quirks are how the requests of a kind of provider differ from what we would
// send to others. The zero value is a provider that has none.
type Quirks struct {
	Models         []ModelOverride // of some of its models
	Reasoning      ReasoningBack   // how it wants a model's reasoning back
	PromptCaching  bool            // takes cache_control marks for Anthropic's models
	ShortCallIDs   bool            // IDs of tool calls have nine letters and digits, no others
	CallSignatures bool            // wants a signature with the tool calls of newer models, as Google does
}

// ReasoningBack is how a provider wants a model's reasoning back in later calls.
type ReasoningBack string

// The ways of giving reasoning back.
const (
	ReasoningDropped  ReasoningBack = ""         // not at all: it may refuse the request
	ReasoningSent     ReasoningBack = "sent"     // as reasoning_content, where there is some
	ReasoningRequired ReasoningBack = "required" // as reasoning_content; it refuses assistant messages without
	ReasoningTagged   ReasoningBack = "tagged"   // in the text, between think tags
)
