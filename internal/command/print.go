package command

import (
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// keyLimit bounds a session key or workflow ID in a table. All that Temporal
	// takes is shown: it has to be copied.
	keyLimit = 1000
	// lineLimit bounds what is shown in a line of somebody's text.
	lineLimit = 160
)

// printable makes text from anywhere safe to show: a terminal obeys control
// characters. Line breaks and tabs stay.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}

// oneLine is the beginning of text, on one line.
func oneLine(s string, limit int) string {
	return text.Cut(printable(strings.Join(strings.Fields(s), " ")), limit)
}

// indented puts every line of text under prefix.
func indented(text, prefix string) string {
	lines := strings.Split(strings.TrimRight(printable(text), "\n"), "\n")
	return prefix + strings.Join(lines, "\n"+prefix)
}

func shownTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

// shownDuration is d with as much precision as a person reads.
func shownDuration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	default:
		return d.Round(time.Second).String()
	}
}
