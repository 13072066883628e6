package mcp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// toolResult returns a server's answer to a call, as text.
func toolResult(answer *sdk.CallToolResult) tool.Result {
	var parts []string
	for _, content := range answer.Content {
		parts = append(parts, contentText(content))
	}
	if len(answer.Content) == 0 && answer.StructuredContent != nil {
		data, _ := json.Marshal(answer.StructuredContent) // decoded from JSON, so it marshals
		parts = append(parts, string(data))
	}
	result := tool.Result{Text: joined(parts), Failed: answer.IsError}
	if result.Failed && result.Text == "" {
		result.Text = "the tool failed without an error message"
	}
	return result
}

// joined joins the non-empty parts of a result, one per line.
func joined(parts []string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n")
}

// contentText returns content as text. It describes binary content.
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
		return fmt.Sprintf("[unsupported content: %T]", content)
	}
}

func resourceText(r *sdk.ResourceContents) string {
	switch {
	case r == nil:
		return "[empty resource]"
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

// describe joins the non-empty facts about a thing.
func describe(facts ...string) string {
	for i, fact := range facts {
		facts[i] = text.Line(fact)
	}
	return strings.Join(slices.DeleteFunc(facts, func(fact string) bool { return fact == "" }), ", ")
}
