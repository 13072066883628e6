package slack

import (
	"context"
	"regexp"
	"strings"
)

var (
	// reference is a user or a channel in a text that [readable] made.
	reference = regexp.MustCompile(`<([@#])([A-Z][A-Z0-9]{2,})>`)
	// address is somebody addressed by a name, which may be of up to three words.
	address = regexp.MustCompile(`(^|[^\pL\pN_<@/.])@([\pL\pN_][\pL\pN_.'’-]*(?: [\pL\pN_][\pL\pN_.'’-]*){0,2})`)
)

// withNames puts names in place of the users and channels in a text that [readable]
// made. Those that Slack does not tell stay as they are.
func (c *Channel) withNames(ctx context.Context, text string) (string, error) {
	var failed error
	text = reference.ReplaceAllStringFunc(text, func(m string) string {
		found := reference.FindStringSubmatch(m)
		k, err := c.who(ctx, found[2])
		if err != nil {
			failed = err
		}
		if k.name == "" {
			return m
		}
		return found[1] + k.name
	})
	return text, failed
}

// withMentions is Markdown in which people that are addressed by a name (@ana) are
// mentioned, if we know one of that name and no other.
func (c *Channel) withMentions(markdown string) string {
	if !strings.Contains(markdown, "@") {
		return markdown
	}
	same := func(code string) string { return code }
	return rewrite(markdown, false, func(prose string) string {
		return address.ReplaceAllStringFunc(prose, c.mentionIn)
	}, same)
}

// mentionIn replaces the longest name in a match of address.
func (c *Channel) mentionIn(match string) string {
	found := address.FindStringSubmatch(match)
	name := found[2]
	for {
		if id := c.people.named(name, true); id != "" {
			return found[1] + "<@" + id + ">" + found[2][len(name):]
		}
		if trimmed := strings.TrimRight(name, ".'’-"); trimmed != name {
			name = trimmed
			continue
		}
		at := strings.LastIndexByte(name, ' ')
		if at < 0 {
			return match
		}
		name = name[:at]
	}
}
