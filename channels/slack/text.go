package slack

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

// markup is one of Slack's <…>: a link, a date, or a mention of a user, channel, group or
// everybody; with or without a label after a bar.
var markup = regexp.MustCompile(`<((?:[@#!]|[a-zA-Z][a-zA-Z0-9+.-]*:)[^<>|\n]+)(?:\|([^<>\n]*))?>`)

// unescape undoes Slack's escaping.
var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// readable returns a message's text as a person reads it: without a leading mention of
// self (our user ID), with links as Markdown, without escapes and control characters.
// Mentions of people, and of channels without a name, stay as they are: [chat.Enricher]
// looks up their names.
func readable(text, self string) string {
	text = strings.Map(printable, text)
	text = withoutMention(text, self)
	var b strings.Builder
	for text != "" {
		at := markup.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		b.WriteString(unescape.Replace(text[:at[0]]))
		target, label := text[at[2]:at[3]], ""
		if at[4] >= 0 {
			label = text[at[4]:at[5]]
		}
		b.WriteString(meaning(target, label))
		text = text[at[1]:]
	}
	b.WriteString(unescape.Replace(text))
	return strings.TrimSpace(b.String())
}

// withoutMention removes a leading mention of self and the punctuation after it.
func withoutMention(text, self string) string {
	text = strings.TrimSpace(text)
	if self == "" || !strings.HasPrefix(text, "<@"+self) {
		return text
	}
	at := markup.FindStringSubmatchIndex(text)
	if at == nil || at[0] != 0 || text[at[2]:at[3]] != "@"+self {
		return text
	}
	rest := strings.TrimLeft(text[at[1]:], " \t\u00a0")
	if strings.HasPrefix(rest, ":") && !emoji.MatchString(rest) || strings.HasPrefix(rest, ",") {
		rest = rest[1:]
	}
	return strings.TrimSpace(rest)
}

var emoji = regexp.MustCompile(`^:[a-z0-9_+'-]+:`)

// meaning returns the text of a <target|label>.
func meaning(target, label string) string {
	target, label = unescape.Replace(target), unescape.Replace(label)
	switch {
	case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#") && label == "":
		return "<" + target + ">"
	case strings.HasPrefix(target, "#"):
		return "#" + label
	case strings.HasPrefix(target, "!subteam^"):
		return "@" + strings.TrimPrefix(cmp.Or(label, strings.TrimPrefix(target, "!subteam^")), "@")
	case strings.HasPrefix(target, "!date^"):
		return label
	case strings.HasPrefix(target, "!"):
		return "@" + strings.TrimPrefix(cmp.Or(label, target[1:]), "@")
	case strings.HasPrefix(target, "mailto:"), strings.HasPrefix(target, "tel:"):
		_, address, _ := strings.Cut(target, ":")
		return cmp.Or(label, address)
	case label == "" || label == target || "http://"+label == target || "https://"+label == target:
		return target
	}
	return "[" + label + "](" + target + ")"
}

// printable drops control characters except line breaks and tabs.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
