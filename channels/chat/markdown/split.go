package markdown

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sentenceEnds are the ends of sentences, including the space where there is one.
var sentenceEnds = [...]string{". ", "! ", "? ", "。", "！", "？"}

// Split splits Markdown into parts of at most limit characters: between paragraphs, or
// else lines, sentences, words or characters. A code fence that is open at the end of a
// part is closed there and opened again in the next, unless limit is too small. Only white
// space at the splits is dropped. The result is deterministic. Blank text has no parts. A
// limit below 1 means no limit.
func Split(text string, limit int) []string {
	var parts []string
	var open fence
	for strings.TrimSpace(text) != "" {
		head := open.opening(limit)
		if limit < 1 || length(head)+length(text) <= limit {
			return append(parts, head+text)
		}
		piece, rest, after := cut(text, open, limit, length(head))
		if strings.TrimSpace(piece) != "" {
			parts = append(parts, head+piece+after.closing(limit))
		}
		text, open = next(rest, after, limit, strings.HasSuffix(text[:len(text)-len(rest)], "\n"))
	}
	return parts
}

// next returns the start of the next part. If only the closing line of a fence is left,
// the previous part already closed the fence.
func next(rest string, open fence, limit int, newLine bool) (string, fence) {
	if line, more, _ := strings.Cut(rest, "\n"); newLine && open.closing(limit) != "" && strings.TrimSpace(line) == open.marker {
		rest, open = more, fence{}
	}
	if open.marker != "" {
		return rest, open
	}
	if !newLine {
		rest = strings.TrimLeft(rest, " \t")
	}
	return strings.TrimLeft(rest, "\n"), open
}

// cut takes as much of text as fits into a part after taken characters, with room to close
// a fence that is then open.
func cut(text string, before fence, limit, taken int) (piece, rest string, after fence) {
	room := max(1, limit-taken)
	for {
		at := boundary(text, room)
		if after = before.after(text[:at]); after.marker == "" {
			at = outside(text, at)
		}
		if line := lastAfter(strings.TrimRight(text[:at], "\n"), "\n"); line > 0 && before.after(text[:line]) != after && after.marker != "" {
			at, after = line, fence{} // the fence goes with its code
		}
		piece = strings.TrimRightFunc(text[:at], unicode.IsSpace)
		if room == 1 || taken+length(piece)+length(after.closing(limit)) <= limit {
			return piece, text[at:], after
		}
		room--
	}
}

// boundary returns the offset at which to split text, which is longer than room: the last
// good place in the second half of the room, or else the last space.
func boundary(text string, room int) int {
	end := 0
	for range room {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	window := text[:end]
	for _, at := range []int{lastAfter(window, "\n\n"), lastAfter(window, "\n"), lastAfter(window, sentenceEnds[:]...)} {
		if at > end/2 {
			return at
		}
	}
	if next, _ := utf8.DecodeRuneInString(text[end:]); unicode.IsSpace(next) {
		return end
	}
	if space := strings.LastIndexFunc(window, unicode.IsSpace); space >= 0 && strings.TrimSpace(window[:space]) != "" {
		_, size := utf8.DecodeRuneInString(window[space:])
		return space + size
	}
	return end
}

// spans match what a split within a paragraph would break: code, links, and bold or struck text.
var spans = regexp.MustCompile("``[^\n]*?``|`[^`]+`|!?\\[[^\\]\n]*\\]\\([^)\\s]*\\)|\\*\\*[^*]+\\*\\*|__[^_]+__|~~[^~]+~~")

// outside returns the offset of a split, moved to the beginning of a span that it is within.
func outside(text string, at int) int {
	start := lastAfter(text[:at], "\n\n")
	paragraph, _, _ := strings.Cut(text[start:min(len(text), at+Limit)], "\n\n")
	for _, found := range spans.FindAllStringIndex(paragraph, -1) {
		if first := start + found[0]; first < at && at < start+found[1] && strings.TrimSpace(text[:first]) != "" {
			return first
		}
	}
	return at
}

// lastAfter returns the offset after the last of separators in text, or 0.
func lastAfter(text string, separators ...string) int {
	last := 0
	for _, separator := range separators {
		if i := strings.LastIndex(text, separator); i >= 0 {
			last = max(last, i+len(separator))
		}
	}
	return last
}

func length(text string) int { return utf8.RuneCountInString(text) }

// fence is an open code fence; the zero value is none.
type fence struct {
	marker string // the backticks or tildes
	line   string // the whole line that opened it, without indentation
}

// opening returns what opens the fence again in a new part; empty if it would take more
// than a quarter of the room.
func (f fence) opening(limit int) string {
	for _, line := range []string{f.line, f.marker} {
		if line != "" && length(line)+1 <= limit/4 {
			return line + "\n"
		}
	}
	return ""
}

// closing returns what closes the fence at the end of a part.
func (f fence) closing(limit int) string {
	if f.opening(limit) == "" {
		return ""
	}
	return "\n" + f.marker
}

// after returns the fence that is open after text, given that f is open before it.
func (f fence) after(text string) fence {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		marker := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		if marker == "" {
			marker = line[:len(line)-len(strings.TrimLeft(line, "~"))]
		}
		info := line[len(marker):]
		switch {
		case len(marker) < 3:
		case f.marker == "" && (marker[0] != '`' || !strings.Contains(info, "`")):
			f = fence{marker: marker, line: line}
		case f.marker != "" && marker[0] == f.marker[0] && len(marker) >= len(f.marker) && info == "":
			f = fence{}
		}
	}
	return f
}
