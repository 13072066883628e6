package tool

import "unicode/utf8"

// WholeRunes is text without a character that was cut in two at its end.
func WholeRunes[T ~string | ~[]byte](text T) T {
	for i := len(text) - 1; i >= max(0, len(text)-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune([]byte(text[i:])) {
				return text[:i]
			}
			break
		}
	}
	return text
}
