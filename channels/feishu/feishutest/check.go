package feishutest

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

var elementID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,19}$`)

var picture = regexp.MustCompile(`!\[[^\]]*\]\(([^)]*)\)`)

// checkCard refuses a card that is too long, has an ID twice, tables that it may not have, or
// pictures that were not uploaded.
func (s *Server) checkCard(raw string) refusal {
	if len(raw) > maxCard {
		return refuse(230025, "The length of the message content reaches its limit.")
	}
	var card map[string]any
	if json.Unmarshal([]byte(raw), &card) != nil {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: parse card json err;")
	}
	tables, ids := 0, map[string]bool{}
	var why refusal
	walk(card, func(element map[string]any) {
		if id, has := element["element_id"].(string); has {
			if !elementID.MatchString(id) || ids[id] {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 300301; ErrMsg: element_id is invalid or duplicated;")
			}
			ids[id] = true
		}
		switch element["tag"] {
		case "img":
			key, _ := element["img_key"].(string)
			if s.files[key].Kind != "image" {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 11247; ErrMsg: image key is invalid;")
			}
		case "markdown":
			content, _ := element["content"].(string)
			if content == "" {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: content is required;")
			}
			tables += tablesIn(content)
			if withoutCode := outsideCode(content); picture.MatchString(withoutCode) {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 11246; ErrMsg: markdown image key is invalid;")
			}
		}
	})
	if tables > maxTables {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: card table number over limit;")
	}
	return why
}

// walk calls see for every element of a card.
func walk(part any, see func(map[string]any)) {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			walk(p, see)
		}
	case map[string]any:
		if part["tag"] != nil {
			see(part)
		}
		for _, p := range part {
			walk(p, see)
		}
	}
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.Table))

func tablesIn(markdown string) (n int) {
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader([]byte(markdown))), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && node.Kind() == extast.KindTable {
			n++
		}
		return ast.WalkContinue, nil
	})
	return n
}

var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

func outsideCode(markdown string) string { return code.ReplaceAllString(markdown, "") }

// Text returns what the message says: of a card the texts of its markdown.
func (m Message) Text() string {
	var content map[string]any
	if json.Unmarshal([]byte(m.Content), &content) != nil {
		return ""
	}
	if m.Type == "text" {
		said, _ := content["text"].(string)
		return said
	}
	var texts []string
	body, _ := content["body"].(map[string]any)
	elements, _ := body["elements"].([]any)
	for _, e := range elements {
		element, _ := e.(map[string]any)
		if said, is := element["content"].(string); is && element["tag"] == "markdown" {
			texts = append(texts, said)
		}
		if inner, is := element["text"].(map[string]any); is && element["tag"] == "div" {
			said, _ := inner["content"].(string)
			texts = append(texts, said)
		}
	}
	return strings.Join(texts, "\n")
}
