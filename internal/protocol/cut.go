package protocol

import (
	"strings"
	"unicode/utf8"
)

// Cut shortens text to at most limit bytes of whole characters, and marks that
// it did with an ellipsis. Invalid UTF-8 is replaced: payloads are JSON.
func Cut(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	end := max(limit-len("…"), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
