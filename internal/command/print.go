package command

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	// keyLimit bounds a session key or workflow ID in a table. It is long enough for
	// all that Temporal accepts, so that users can copy them.
	keyLimit = 1000
	// lineLimit bounds free text on one line.
	lineLimit = 160
)

// oneLine is the beginning of s, printable and on one line.
func oneLine(s string, limit int) string {
	return text.Cut(text.Printable(text.Line(s)), limit)
}

// indented prefixes every line of s.
func indented(s, prefix string) string {
	lines := strings.Split(strings.TrimRight(text.Printable(s), "\n"), "\n")
	return prefix + strings.Join(lines, "\n"+prefix)
}

// shownTime is t in local time; "-" for the zero time.
func shownTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format(time.DateTime)
}

// shownDuration is d, rounded to a readable precision.
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

// yesNo prints a bool in a table.
func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// shownCost is a cost as text and as fields of JSON.
type shownCost struct {
	Microdollars int64 `json:"cost_microdollars"` // of calls with a known price
	Unpriced     int   `json:"unpriced_calls"`    // calls without one
}

// String implements [fmt.Stringer].
func (c shownCost) String() string { return domain.Dollars(c.Microdollars, c.Unpriced) }

// printJSON writes value as indented JSON.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
