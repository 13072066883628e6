package telegramtest

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
)

// elements are the entities by the tags that stand for them.
var elements = map[string]string{
	"b": "bold", "strong": "bold", "i": "italic", "em": "italic", "u": "underline", "ins": "underline", "s": "strikethrough",
	"strike": "strikethrough", "del": "strikethrough", "tg-spoiler": "spoiler", "span": "spoiler", "a": "text_link", "code": "code",
	"pre": "pre", "blockquote": "blockquote", "tg-emoji": "custom_emoji",
}

var attribute = regexp.MustCompile(`([a-z-]+)\s*=\s*"([^"]*)"`)

// references are the character references that Telegram knows, besides numbers.
var references = regexp.MustCompile(`&(?:lt|gt|amp|quot|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});`)

type element struct {
	Entity
	tag string
}

// parseHTML reads Telegram's HTML: its text and entities.
func parseHTML(source string) (string, []Entity, error) {
	var text strings.Builder
	var open []element
	var entities []Entity
	for at := 0; at < len(source); {
		if source[at] != '<' {
			end := strings.IndexByte(source[at:], '<')
			if end < 0 {
				end = len(source) - at
			}
			text.WriteString(references.ReplaceAllStringFunc(source[at:at+end], html.UnescapeString))
			at += end
			continue
		}
		end := strings.IndexByte(source[at:], '>')
		if end < 0 {
			return "", nil, fmt.Errorf("Unclosed start tag at byte offset %d", at) //nolint:staticcheck // Telegram's words
		}
		tag := source[at+1 : at+end]
		if name, closing := strings.CutPrefix(tag, "/"); closing {
			if len(open) == 0 {
				return "", nil, fmt.Errorf("Unexpected end tag at byte offset %d", at) //nolint:staticcheck // Telegram's words
			}
			last := open[len(open)-1]
			if name != "" && strings.TrimSpace(name) != last.tag {
				return "", nil, fmt.Errorf("Unmatched end tag at byte offset %d, expected \"</%s>\", found \"</%s>\"", at, last.tag, name) //nolint:staticcheck // Telegram's words
			}
			open = open[:len(open)-1]
			if last.Length = Units(text.String()) - last.Offset; last.Length > 0 && last.Type != "" {
				entities = append(entities, last.Entity)
			}
			at += end + 1
			continue
		}
		name, rest, _ := strings.Cut(tag, " ")
		kind, known := elements[strings.ToLower(name)]
		if !known {
			return "", nil, fmt.Errorf("Unsupported start tag %q at byte offset %d", name, at) //nolint:staticcheck // Telegram's words
		}
		e := element{Entity{Type: kind, Offset: Units(text.String())}, strings.ToLower(name)}
		for _, found := range attribute.FindAllStringSubmatch(rest, -1) {
			switch value := html.UnescapeString(found[2]); found[1] {
			case "href":
				e.URL = value
			case "class":
				e.Language = strings.TrimPrefix(value, "language-")
			}
		}
		if e.tag == "code" && len(open) > 0 && open[len(open)-1].tag == "pre" { // it only names the language
			open[len(open)-1].Language = e.Language
			e.Type = ""
		}
		open = append(open, e)
		at += end + 1
	}
	if len(open) > 0 {
		return "", nil, fmt.Errorf("Can't find end tag corresponding to start tag %q", open[len(open)-1].tag) //nolint:staticcheck // Telegram's words
	}
	slices.SortStableFunc(entities, func(a, b Entity) int { return a.Offset - b.Offset })
	return text.String(), entities, nil
}

// Text returns the text of a message in Telegram's HTML, or Telegram's complaint.
func Text(source string) (string, error) {
	text, _, err := parseHTML(source)
	return text, err
}
