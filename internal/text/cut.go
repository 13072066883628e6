package text

import (
	"strings"
	"unicode/utf8"
)

// Cut shortens text to at most limit bytes at a rune boundary and marks the cut with
// an ellipsis. Invalid UTF-8 is replaced.
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

// Preview is [Cut] for a Temporal payload: limit bounds the size of the text as a JSON
// string, without the quotes.
func Preview(text string, limit int) string {
	text = Cut(text, limit)
	size, end := 0, 0
	for i, r := range text {
		if size += jsonSize(r); size > limit {
			return text[:end] + "…"
		}
		if size <= limit-len("…") {
			end = i + utf8.RuneLen(r)
		}
	}
	return text
}

// jsonSize returns how many bytes encoding/json writes for r within a string.
func jsonSize(r rune) int {
	switch {
	case strings.ContainsRune("\"\\\b\f\n\r\t", r):
		return 2
	case r < ' ', strings.ContainsRune("<>&\u2028\u2029", r):
		return 6
	default:
		return utf8.RuneLen(r)
	}
}
