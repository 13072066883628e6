package feishu

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

const (
	// cardLimit leaves room for notes, buttons and what surrounds the text: the platform takes
	// cards of up to 30,000 bytes of JSON.
	cardLimit = 26_000
	// tablesPerCard and rowsPerTable are what the platform renders (error 11310).
	tablesPerCard = 1
	rowsPerTable  = 45
)

// sizeOf measures Markdown in bytes of a card.
func sizeOf(text string) int {
	encoded, _ := json.Marshal(rendered(text)) // a string can be encoded
	return len(encoded)
}

// cutTables cuts a text so that each piece has as many tables as a card may have.
func cutTables(text string) []string { return markdown.CutTables(text, tablesPerCard) }

// tag matches the beginning of markup by which a card mentions somebody.
var tag = regexp.MustCompile(`(?i)<(/?(?:at|person)\b)`)

// rendered returns Markdown as a card shows it: without mentions, with links in place of
// pictures (which a card takes by the platform's keys only), and with the tables drawn that
// a card cannot have.
func rendered(text string) string {
	var b strings.Builder
	for i, piece := range cutTables(text) {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(markdown.Rewrite(piece, i > 0 || hasOddTable(piece), prose, quiet))
	}
	return b.String()
}

func prose(text string) string { return strings.ReplaceAll(quiet(text), "![", "[") }

// quiet keeps text from mentioning anybody.
func quiet(text string) string { return tag.ReplaceAllString(text, "<\u200b$1") }

// hasOddTable reports whether a text has a table that is too long, or within a list or quote.
func hasOddTable(text string) (odd bool) {
	if markdown.TooLong(text) {
		return false
	}
	_ = ast.Walk(markdown.Parse([]byte(text)), func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		if n.Kind() == extast.KindTable {
			odd = odd || n.ChildCount() > rowsPerTable || n.Parent().Kind() != ast.KindDocument
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return odd
}

// withMentions returns Markdown in which known people addressed by name are mentioned.
// Code stays as it is.
func (p *platform) withMentions(text string) string {
	return markdown.Rewrite(text, false, func(prose string) string { return p.people.Mention(prose, mentionOf) }, func(code string) string { return code })
}

func mentionOf(person string) string { return "<at id=" + person + "></at>" }

// approver is a person as approvals name them.
var approver = regexp.MustCompile(`\b` + Name + `:(ou_[A-Za-z0-9_-]+)`)

// withApprovers mentions people named as approvers.
func withApprovers(text string) string {
	return approver.ReplaceAllStringFunc(text, func(named string) string { return mentionOf(strings.TrimPrefix(named, Name+":")) })
}
