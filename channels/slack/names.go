package slack

import (
	"context"
	"regexp"
	"strings"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// reference is a user or a channel in a text that [readable] made.
var reference = regexp.MustCompile(`<([@#])([A-Z][A-Z0-9]{2,})>`)

// WithNames implements [chat.Namer]. Users and channels that Slack does not tell stay as
// they are.
func (p *platform) WithNames(ctx context.Context, text string) (string, error) {
	var failed error
	text = reference.ReplaceAllStringFunc(text, func(m string) string {
		found := reference.FindStringSubmatch(m)
		who, err := p.people.Who(ctx, found[2])
		if err != nil {
			failed = err
		}
		if who.Name == "" {
			return m
		}
		return found[1] + who.Name
	})
	return text, lacking(failed)
}

// withMentions is Markdown in which people who are addressed by name (@ana) are
// mentioned.
func (p *platform) withMentions(markdown string) string {
	if !strings.Contains(markdown, "@") {
		return markdown
	}
	return md.Rewrite(markdown, false, func(prose string) string { return p.people.Mention(prose, p.Mention) }, unchanged)
}
