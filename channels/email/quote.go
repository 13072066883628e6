package email

import (
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

var (
	forwardSubject = regexp.MustCompile(`(?i)^(fwd?|wg|tr|rv|doorst|i)\s*:`)
	// divider is the line above earlier mail in the manner of Outlook.
	divider = regexp.MustCompile(`(?i)^(-{3,} ?original message ?-{3,}|_{20,})$`)
	// introduction begins the lines that say who wrote what is quoted, and when.
	introduction = regexp.MustCompile(`(?i)^(on|am|le|el|il|op|den|em|dnia|20\d\d)\b`)
	// quoteHead is the first of the lines From, Sent, To and Subject.
	quoteHead = regexp.MustCompile(`(?i)^\*?(from|von|de|da|van):\*? ?\S`)
)

// forwards reports whether the mail passes on another one.
func (m *mail) forwards(body string) bool {
	return forwardSubject.MatchString(m.subject) || strings.Contains(body, "- Forwarded message -") || strings.Contains(body, "Begin forwarded message:")
}

// splitQuoted divides a text into what was written and the earlier mail that is quoted
// below. Quotes between which something was written stay. Text is not left empty.
func splitQuoted(text string) (written, quoted string) {
	lines := strings.Split(text, "\n")
	cut := len(lines)
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ">") {
			continue
		}
		if divider.MatchString(line) || quoteHead.MatchString(line) && headed(lines[i+1:]) {
			cut = i
			break
		}
	}
	end := cut
	for end > 0 && (strings.TrimSpace(lines[end-1]) == "" || strings.HasPrefix(lines[end-1], ">")) {
		end--
	}
	if hasQuote(lines[end:cut]) {
		cut = attribution(lines, end)
	}
	written = strings.TrimSpace(strings.Join(lines[:cut], "\n"))
	if written == "" || cut == len(lines) {
		return strings.TrimSpace(text), ""
	}
	return written, strings.TrimSpace(strings.Join(lines[cut:], "\n"))
}

// headed reports whether more lines of a header follow.
func headed(lines []string) bool {
	fields := 0
	for _, line := range lines[:min(4, len(lines))] {
		if name, _, found := strings.Cut(line, ":"); found && len(strings.Fields(name)) == 1 {
			fields++
		}
	}
	return fields >= 2
}

func hasQuote(lines []string) bool {
	for _, line := range lines {
		if strings.HasPrefix(line, ">") {
			return true
		}
	}
	return false
}

// attribution returns where the lines that introduce a quote begin: one that ends with a
// colon, or up to three, such as "On …, Ana wrote:".
func attribution(lines []string, end int) int {
	if end == 0 || !strings.HasSuffix(strings.TrimSpace(lines[end-1]), ":") {
		return end
	}
	for at := end - 1; at >= max(0, end-3) && strings.TrimSpace(lines[at]) != ""; at-- {
		if introduction.MatchString(lines[at]) {
			return at
		}
	}
	return end - 1
}

// commandIn returns the command that a mail consists of, apart from a signature.
func commandIn(text string) string {
	text, _, _ = strings.Cut(text+"\n", "\n-- \n")
	first, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if strings.TrimSpace(first) == "" {
		return ""
	}
	if command, _ := domain.ParseCommand(first); command != domain.CommandNone {
		return strings.TrimSpace(first)
	}
	word := strings.ToLower(strings.Trim(first, " .!*\t"))
	if _, known := domain.LookupCommand(domain.Command(word)); known && strings.TrimSpace(rest) == "" {
		return "/" + word
	}
	return ""
}

// decisions are the words that answer a question.
var decisions = map[domain.Command]bool{domain.CommandApprove: true, domain.CommandDeny: true}

// answerIn returns the answer to a question that a mail gives with its first line: a
// reply often ends with a signature that is not marked as one.
func answerIn(text, question string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	command, id := domain.ParseAnswer(strings.Trim(first, " *\t"))
	if !decisions[command] || id != "" && id != question {
		return ""
	}
	return "/" + string(command) + " " + question
}
