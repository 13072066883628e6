package command

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

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

// jsonFlag adds the flag --json.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}

// printList prints rows as JSON, or as a table with a head and the cells of each row; an
// empty table is the text none.
func printList[T any](w io.Writer, asJSON bool, rows []T, none, head string, cells func(T) []any) error {
	if asJSON {
		return printJSON(w, append([]T{}, rows...)) // not null
	}
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, none)
		return err
	}
	table := newTable(w)
	fmt.Fprintln(table, head)
	for _, row := range rows {
		printRow(table, cells(row)...)
	}
	return table.Flush()
}

// newTable aligns cells that are separated by tabs.
func newTable(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printRow prints the cells of a table's row.
func printRow(table io.Writer, cells ...any) {
	fmt.Fprintf(table, strings.TrimSuffix(strings.Repeat("%v\t", len(cells)), "\t")+"\n", cells...)
}

// printJSON writes value as indented JSON.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}
