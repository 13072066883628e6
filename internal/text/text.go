// Package text shortens and cleans up text for payloads, logs, models and people.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns s on one line: white space and control characters become single spaces. It
// drops characters that change the direction of text.
func Line(s string) string { return strings.Join(strings.Fields(visible(s)), " ") }

// visible is [Printable] without replacement characters.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r) && r != '\n' && r != '\t':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// FirstRunes returns at most the first n characters of s.
func FirstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// CutRunes shortens s to at most limit characters and marks the cut with an ellipsis.
func CutRunes(s string, limit int) string {
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return FirstRunes(s, limit-1) + "…"
}

// Boundary returns the start of the character at byte n of s; n itself if s is not
// valid UTF-8 there.
func Boundary[T ~string | ~[]byte](s T, n int) int {
	for at := n; at > max(0, n-utf8.UTFMax); at-- {
		if at >= len(s) || utf8.RuneStart(s[at]) {
			return at
		}
	}
	return n
}

// WholeRunes returns s without an incomplete character at its end.
func WholeRunes[T ~string | ~[]byte](s T) T {
	for i := len(s) - 1; i >= max(0, len(s)-utf8.UTFMax); i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRune([]byte(s[i:])) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// Clean makes s valid in a JSON request: it drops a byte order mark and NUL characters
// and replaces invalid UTF-8.
func Clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(strings.TrimPrefix(s, "\uFEFF"), "\uFFFD"), "\x00", "")
}

// Printable replaces the control characters that a terminal would interpret, and those
// that change the direction of text. Line breaks and tabs stay.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n"))
}

// Count is a number of things: "1 turn", "2 turns".
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
