package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	textLimit     = 4_000  // characters that chat.update accepts as a text
	postTextLimit = 40_000 // those that chat.postMessage does
)

var (
	// mention matches the mentions that are allowed: of one person, or of a channel.
	mention = regexp.MustCompile(`<(?:@[UW]|#[CG])[A-Z0-9]{2,}>`)
	// everybody matches mentions that notify all members of a channel or a workspace.
	everybody = regexp.MustCompile(`(?i)(^|[^\pL\pN_<@/.])@(channel|here|everyone)\b`)
	// absolute matches a link that works inside Slack.
	absolute = regexp.MustCompile(`^(?i:https?|mailto|tel|ftp|sftp|ssh|slack):[^\s<>]+$`)
)

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escape escapes text for Slack's markup.
func escape(text string) string { return escaper.Replace(text) }

// prose escapes text for Slack's markup except mentions of a person or a channel.
func prose(text string) string {
	var b strings.Builder
	for text != "" {
		at := mention.FindStringIndex(text)
		if at == nil {
			break
		}
		b.WriteString(quiet(escape(text[:at[0]])))
		b.WriteString(text[at[0]:at[1]])
		text = text[at[1]:]
	}
	b.WriteString(quiet(escape(text)))
	return b.String()
}

// quiet keeps text from notifying everyone without changing its appearance.
func quiet(text string) string { return everybody.ReplaceAllString(text, "$1@\u200b$2") }

// link returns a link in Slack's markup; the label is already in it.
func link(label, target string) string {
	target = strings.ReplaceAll(escape(target), "|", "%7C")
	if !absolute.MatchString(target) {
		if target = quiet(target); label != target {
			return strings.TrimSpace(label + " (" + target + ")")
		}
		return label
	}
	label = strings.NewReplacer("|", "¦", "<", "", ">", "", "\n", " ").Replace(label)
	if label == "" || label == target {
		return "<" + target + ">"
	}
	return "<" + target + "|" + label + ">"
}

// cutMarkup cuts text in Slack's markup to limit characters. It does not cut inside a link
// or an escape, and closes an open fence.
func cutMarkup(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	const fenceEnd = "\n```"
	runes := []rune(text)
	text = string(runes[:limit-len(fenceEnd)-1])
	if at := strings.LastIndexByte(text, '<'); at >= 0 && !strings.Contains(text[at:], ">") {
		text = text[:at]
	}
	if at := strings.LastIndexByte(text, '&'); at >= 0 && !strings.Contains(text[at:], ";") {
		text = text[:at]
	}
	text += "…"
	if strings.Count(text, "```")%2 == 1 {
		text += fenceEnd
	}
	return text
}
