package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/mattn/go-isatty"
)

// clean removes escape sequences and control characters, which a terminal would
// interpret.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, ansi.Strip(s))
}

// cleanFor returns text as it is written to w: cleaned for a terminal, unchanged for
// a file or a pipe.
func cleanFor(w io.Writer, text string) string {
	if !isTerminal(w) {
		return text
	}
	return clean(text)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// style turns a text attribute on and off again, so that styles can be nested.
func style(on, off int, s string) string {
	return fmt.Sprintf("\x1b[%dm%s\x1b[%dm", on, s, off)
}

func bold(s string) string  { return style(1, 22, s) }
func faint(s string) string { return style(2, 22, s) }

// wrap breaks s into lines of at most width cells.
func wrap(s string, width int) []string {
	if s == "" {
		return nil
	}
	return strings.Split(lipgloss.Wrap(s, width, ""), "\n")
}
