package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// textLimit bounds the text of a result in bytes. What is shown of it is decided elsewhere.
const textLimit = 10 << 20

// text collects the parts of a result, up to the limit.
type text struct {
	parts   strings.Builder
	dropped int
}

// add adds a part, on a line of its own.
func (t *text) add(part string) {
	if t.parts.Len() > 0 && part != "" {
		part = "\n" + part
	}
	room := textLimit - t.parts.Len()
	if t.dropped > 0 {
		room = 0
	}
	if len(part) > room {
		kept := tool.WholeRunes(part[:room])
		t.dropped += len(part) - len(kept)
		part = kept
	}
	t.parts.WriteString(part)
}

func (t *text) String() string {
	if t.dropped == 0 {
		return t.parts.String()
	}
	return fmt.Sprintf("%s\n[… %d bytes left out: a result has at most %d MB]", t.parts.String(), t.dropped, textLimit>>20)
}

// toolResult is a server's answer to a call, as text.
func toolResult(answer *sdk.CallToolResult) tool.Result {
	var out text
	for _, content := range answer.Content {
		out.add(contentText(content))
	}
	if len(answer.Content) == 0 && answer.StructuredContent != nil {
		// It came as JSON, so it can be written as such.
		data, _ := json.Marshal(answer.StructuredContent)
		out.add(string(data))
	}
	result := tool.Result{Text: out.String(), Failed: answer.IsError}
	if result.Failed && result.Text == "" {
		result.Text = "the tool failed and did not say why"
	}
	return result
}

// contentText is content as text. Results carry no files: what is binary is described.
func contentText(content sdk.Content) string {
	switch c := content.(type) {
	case *sdk.TextContent:
		return c.Text
	case *sdk.ImageContent:
		return binary("image", c.MIMEType, len(c.Data))
	case *sdk.AudioContent:
		return binary("audio", c.MIMEType, len(c.Data))
	case *sdk.ResourceLink:
		return fmt.Sprintf("[resource %s: %s]", c.URI, describe(c.Name, c.Title, c.Description, c.MIMEType))
	case *sdk.EmbeddedResource:
		return resourceText(c.Resource)
	default:
		return fmt.Sprintf("[content of a kind that cannot be shown: %T]", content)
	}
}

func resourceText(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return "[an empty resource]"
	case r.Text == "" && len(r.Blob) > 0:
		return binary("resource "+r.URI, r.MIMEType, len(r.Blob))
	default:
		return r.Text
	}
}

func binary(what, mimeType string, size int) string {
	if mimeType == "" {
		mimeType = "unknown type"
	}
	return fmt.Sprintf("[%s: %s, %d bytes, not shown]", what, mimeType, size)
}

// describe joins what is known of a thing and not empty.
func describe(facts ...string) string {
	var known []string
	for _, fact := range facts {
		if fact = strings.Join(strings.Fields(fact), " "); fact != "" {
			known = append(known, fact)
		}
	}
	return strings.Join(known, ", ")
}
