package fs

import (
	"bytes"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	closeEnough  = 0.5       // minimum similarity of a line to show
	compareLimit = 300       // bytes of a line to compare and show
	searchLimit  = 100 << 10 // lines to compare
)

// closest finds the line of content that is most similar to the first non-blank line
// of passage. number is 0 if no line is similar.
func closest(content []byte, passage string) (number int, line string) {
	wanted := firstLine(passage)
	if wanted == "" {
		return 0, ""
	}
	pairs, best := bigrams(wanted), closeEnough
	i := 0
	for raw := range bytes.Lines(content) {
		if i++; i > searchLimit {
			break
		}
		candidate := string(text.WholeRunes(raw[:min(len(raw), compareLimit)]))
		if score := alike(pairs, bigrams(squeeze(candidate))); score > best {
			best, number, line = score, i, strings.TrimRight(candidate, "\r\n")
		}
	}
	return number, line
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if squeezed := squeeze(line); squeezed != "" {
			return squeezed[:min(len(squeezed), compareLimit)]
		}
	}
	return ""
}

// squeeze removes white space, the most frequent mistake in old texts.
func squeeze(line string) string { return strings.Join(strings.Fields(line), "") }

// bigrams counts the pairs of adjacent bytes.
func bigrams(s string) map[string]int {
	pairs := make(map[string]int, len(s))
	for i := range max(len(s)-1, 0) {
		pairs[s[i:i+2]]++
	}
	if len(s) == 1 {
		pairs[s] = 1
	}
	return pairs
}

// alike returns the share of pairs that a and b have in common (Dice coefficient).
func alike(a, b map[string]int) float64 {
	common, all := 0, 0
	for pair, n := range a {
		common += min(n, b[pair])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(common) / float64(all)
}
