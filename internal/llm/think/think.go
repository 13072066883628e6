// Package think separates a model's thinking, which some put between think tags
// into the text, from what the user may see.
package think

import "strings"

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// Filter separates a text that arrives in pieces; a tag may be split across
// them. The zero value is ready. Not safe for concurrent use.
type Filter struct {
	thinking bool
	visible  bool   // something to see has been passed on
	held     string // the end of what arrived, which may be the beginning of a tag
}

// Write takes the next piece and returns what is certain of both texts so far:
// what to see and what was thought. White space around the thinking is dropped
// where the text to see has not begun.
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

// Close returns what was held back. A block that was never closed is thinking to
// its end. The filter is then as new.
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

// trim drops the white space before the first thing to see.
func (f *Filter) trim(s string) string {
	if !f.visible {
		s = strings.TrimLeft(s, " \t\r\n")
		f.visible = s != ""
	}
	return s
}

// partialTag returns the length of the longest end of s that may be the
// beginning of tag.
func partialTag(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
