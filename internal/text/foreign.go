package text

import (
	"regexp"
	"strings"
)

const nameLimit = 80 // characters

// Name returns a name that someone chose for themselves as a prompt shows it: a short line.
func Name(s string) string { return CutRunes(Line(s), nameLimit) }

// Quote returns what someone said as a prompt quotes it: each line starts with "> ".
func Quote(s string) string {
	return "> " + strings.ReplaceAll(strings.Trim(visible(breaks.Replace(s)), "\n"), "\n", "\n> ")
}

// Escape returns text as a prompt shows it between lines of Holdfast's own: a backslash
// precedes what looks like one of these.
func Escape(s string) string { return headings.ReplaceAllString(s, `$1\$2`) }

// headings are the beginnings of Holdfast's own lines in prompts.
var headings = regexp.MustCompile(`(?i)((?:^|[\n\r\v\f\x{85}\x{2028}\x{2029}])[\s\p{Cf}]*)([[［][\s\p{Cf}]*(?:` + strings.Join([]string{
	"runtime context", "sender:", "earlier in this thread", "request", "attached:", "transcription of", "not available:",
	"scheduled job", "this was scheduled", "heartbeat", "report of the subagent", "tell the user",
}, "|") + `))`)

// breaks replaces everything that breaks a line by line feeds.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
