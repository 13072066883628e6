// Package think separates a model's thinking, which some models write into the text
// between think tags, from what the user may see.
package think

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// Filter separates text that arrives in pieces, even if they split a tag. The zero
// value is ready. Not safe for concurrent use.
type Filter struct {
	thinking bool
	visible  bool   // visible text has been returned
	held     string // the end of the input, if it may be the start of a tag
}

// Write takes the next piece and returns the visible text and the thinking that are
// certain so far. White space before the first visible text is dropped.
func (f *Filter) Write(piece string) (text, thought string) {
	var see, think strings.Builder
	rest := f.held + piece
	f.held = ""
	for rest != "" {
		tag := openTag
		if f.thinking {
			tag = closeTag
		}
		before, after, found := strings.Cut(rest, tag)
		if !found {
			n := partialTag(rest, tag)
			before, f.held = rest[:len(rest)-n], rest[len(rest)-n:]
		}
		if f.thinking {
			think.WriteString(before)
		} else {
			see.WriteString(f.trim(before))
		}
		if !found {
			break
		}
		f.thinking = !f.thinking
		rest = after
	}
	return see.String(), think.String()
}

// Close returns what was held back, and resets the filter. An unclosed block is
// thinking to its end.
func (f *Filter) Close() (text, thought string) {
	held, thinking := f.held, f.thinking
	if !thinking {
		held = f.trim(held)
	}
	*f = Filter{}
	if thinking {
		return "", held
	}
	return held, ""
}

// trim drops white space before the first visible text.
func (f *Filter) trim(s string) string {
	if !f.visible {
		s = strings.TrimLeft(s, " \t\r\n")
		f.visible = s != ""
	}
	return s
}

// partialTag returns the length of the longest suffix of s that may be the start of
// tag.
func partialTag(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
