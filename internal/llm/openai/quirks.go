package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

// markForCaching marks what is the same in all calls of a session, the system
// text and the tools, as worth keeping by the provider. The first text part of a
// system message is then the marked one: there is one such message.
func markForCaching(out *openai.ChatCompletionRequest, x *exchange) {
	for i := range out.Messages {
		if m := &out.Messages[i]; m.Role == string(domain.RoleSystem) {
			m.MultiContent = []openai.ChatMessagePart{{Type: openai.ChatMessagePartTypeText, Text: m.Content}}
			m.Content = ""
			x.edits.markSystem()
			break
		}
	}
	if n := len(out.Tools); n > 0 {
		out.Tools[n-1].Parameters = map[string]any{"cache_control": map[string]string{"type": "ephemeral"}}
	}
}

// unsigned stands for a call's signature, which we do not keep. Google documents
// it for the calls that another model made.
const unsigned = "skip_thought_signature_validator"

// signCalls gives the first call of each message a signature. Models from Gemini
// 3 on refuse a message without; those before want none.
func signCalls(req llm.Request, x *exchange) {
	if strings.HasPrefix(req.Model, "gemini-1") || strings.HasPrefix(req.Model, "gemini-2") {
		return
	}
	for _, m := range req.Messages {
		if len(m.ToolCalls) > 0 {
			x.edits.signCall(m.ToolCalls[0].ID)
		}
	}
}

// shortID matches what Mistral takes as the ID of a tool call.
var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// callID returns id as the provider takes it: the same for the same.
func (c *Client) callID(id string) string {
	if !c.opts.Quirks.ShortCallIDs || id == "" || shortID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

// edits are what the library's types cannot say, as changes of the JSON that it
// makes: pairs of what to look for and what to put there. Text cannot be mistaken
// for what is looked for, because its quotes are escaped.
type edits []string

const startAssistant = `{"role":"assistant",`

// nullContent puts in the "content":null that the library leaves out.
func (e *edits) nullContent() {
	for _, next := range []string{`"tool_calls":`, `"reasoning_content":`} {
		e.add(startAssistant+next, startAssistant+`"content":null,`+next)
	}
}

// markSystem marks the text of a system message that is given in parts.
func (e *edits) markSystem() {
	const start = `{"role":"system","content":[{"type":"text",`
	e.add(start, start+`"cache_control":{"type":"ephemeral"},`)
}

// signCall puts a signature into the tool call of that ID.
func (e *edits) signCall(id string) {
	raw, _ := json.Marshal(id) // strings always marshal
	start := `{"id":` + string(raw) + `,"type":"function",`
	e.add(start, start+`"extra_content":{"google":{"thought_signature":"`+unsigned+`"}},`)
}

func (e *edits) add(look, put string) { *e = append(*e, look, put) }

func (e *edits) apply(body []byte) string {
	return strings.NewReplacer(*e...).Replace(string(body))
}
