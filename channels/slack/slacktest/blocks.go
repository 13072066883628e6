package slacktest

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Slack's limits, in characters.
const (
	maxText       = 40000
	maxUpdateText = 4000
	maxMarkdown   = 12000
	maxSection    = 3000
	maxHeader     = 150
	maxButton     = 75
	maxValue      = 2000
	maxActionID   = 255
	maxBlocks     = 50
	maxElements   = 25
	maxContext    = 5 // elements of context_actions
	maxRows       = 100
	maxColumns    = 20
)

// knownBlocks are the types that chat.postMessage takes.
var knownBlocks = map[string]bool{
	"actions": true, "call": true, "context": true, "context_actions": true, "divider": true, "file": true, "header": true,
	"image": true, "input": true, "markdown": true, "plan": true, "rich_text": true, "section": true, "table": true,
	"task_card": true, "video": true,
}

type block struct {
	Type      string          `json:"type"`
	ID        string          `json:"block_id"`
	Text      json.RawMessage `json:"text"` // a string in markdown blocks
	Elements  []element       `json:"elements"`
	Fields    []blockText     `json:"fields"`
	Accessory *element        `json:"accessory"`
	Rows      [][]struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"rows"` // of a table
}

type blockText struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type element struct {
	Type     string          `json:"type"`
	ActionID string          `json:"action_id"`
	Value    string          `json:"value"`
	Style    string          `json:"style"`
	Text     json.RawMessage `json:"text"`
	Positive *thumb          `json:"positive_button"` // of feedback_buttons
	Negative *thumb          `json:"negative_button"`
}

type thumb struct {
	Text  blockText `json:"text"`
	Value string    `json:"value"`
}

func (t *thumb) valid() bool {
	return t != nil && t.Text.Type == "plain_text" && t.Text.Text != "" && runes(t.Text.Text) <= maxButton && t.Value != "" && runes(t.Value) <= maxValue
}

// checkBlocks returns the blocks of a call, of which it takes limit, with block IDs filled in;
// nil without blocks.
func (s *Server) checkBlocks(raw json.RawMessage, limit int) (json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	var fields []map[string]json.RawMessage
	var blocks []block
	if json.Unmarshal(raw, &fields) != nil {
		return nil, fail("invalid_blocks_format")
	}
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return nil, invalidBlocks("%v", err)
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	if err := check(blocks, limit); err != nil {
		return nil, err
	}
	for i, b := range blocks {
		if b.ID == "" {
			fields[i]["block_id"], _ = json.Marshal(s.id("b"))
		}
	}
	out, err := json.Marshal(fields)
	return out, err
}

func check(blocks []block, limit int) error {
	if len(blocks) > limit {
		return invalidBlocks("no more than %d items allowed [json-pointer:/blocks]", limit)
	}
	markdown, tables, seen := 0, 0, map[string]bool{}
	for i, b := range blocks {
		if !knownBlocks[b.Type] {
			return invalidBlocks("unsupported type: %s [json-pointer:/blocks/%d/type]", b.Type, i)
		}
		if b.ID != "" && seen[b.ID] {
			return invalidBlocks("block_id already exists [json-pointer:/blocks/%d/block_id]", i)
		}
		seen[b.ID] = true
		if err := b.check(i); err != nil {
			return err
		}
		if b.Type == "markdown" {
			markdown += runes(plain(b.Text))
		}
		if b.Type == "table" {
			tables++
		}
	}
	if tables > 1 {
		return &problem{"invalid_attachments", reply{"response_metadata": reply{"messages": []string{"[ERROR] only_one_table_allowed"}}}}
	}
	if markdown > maxMarkdown {
		return invalidBlocks("must be less than %d characters [json-pointer:/blocks/text]", maxMarkdown+1)
	}
	return nil
}

func (b block) check(i int) error {
	limit := 0
	switch b.Type {
	case "section":
		limit = maxSection
		if len(b.Text) == 0 && len(b.Fields) == 0 {
			return invalidBlocks("missing required field: text [json-pointer:/blocks/%d]", i)
		}
	case "header":
		limit = maxHeader
	case "markdown":
		limit = maxMarkdown
		if plain(b.Text) == "" {
			return invalidBlocks("must be more than 0 characters [json-pointer:/blocks/%d/text]", i)
		}
	case "table":
		return b.checkTable(i)
	case "context_actions":
		if len(b.Elements) == 0 || len(b.Elements) > maxContext {
			return invalidBlocks("between 1 and %d items allowed [json-pointer:/blocks/%d/elements]", maxContext, i)
		}
	case "actions":
		if len(b.Elements) == 0 || len(b.Elements) > maxElements {
			return invalidBlocks("between 1 and %d items allowed [json-pointer:/blocks/%d/elements]", maxElements, i)
		}
	}
	if limit > 0 && runes(plain(b.Text)) > limit {
		return invalidBlocks("must be less than %d characters [json-pointer:/blocks/%d/text/text]", limit+1, i)
	}
	if b.Type != "actions" && b.Type != "context_actions" && b.Accessory == nil {
		return nil
	}
	seen := map[string]bool{}
	for j, e := range b.interactive() {
		at := fmt.Sprintf("[json-pointer:/blocks/%d/elements/%d]", i, j)
		switch {
		case e.ActionID != "" && seen[e.ActionID]:
			return invalidBlocks("action_id already exists %s", at)
		case b.Type == "context_actions" && e.Type != "feedback_buttons" && e.Type != "icon_button":
			return invalidBlocks("unsupported type: %s %s", e.Type, at)
		case e.Type == "feedback_buttons" && (!e.Positive.valid() || !e.Negative.valid()):
			return invalidBlocks("needs two buttons with a text and a value %s", at)
		case e.Type == "button" && (runes(plain(e.Text)) > maxButton || plain(e.Text) == ""):
			return invalidBlocks("must be 1 to %d characters %s", maxButton, at)
		case e.Type == "button" && e.Style != "" && e.Style != "primary" && e.Style != "danger":
			return invalidBlocks("must be a valid enum value %s", at)
		case runes(e.Value) > maxValue:
			return invalidBlocks("must be less than %d characters %s", maxValue+1, at)
		case runes(e.ActionID) > maxActionID:
			return invalidBlocks("must be less than %d characters %s", maxActionID+1, at)
		}
		seen[e.ActionID] = true
	}
	return nil
}

func (b block) checkTable(i int) error {
	if len(b.Rows) == 0 || len(b.Rows) > maxRows {
		return invalidBlocks("between 1 and %d items allowed [json-pointer:/blocks/%d/rows]", maxRows, i)
	}
	for j, row := range b.Rows {
		if len(row) == 0 || len(row) > maxColumns {
			return invalidBlocks("between 1 and %d items allowed [json-pointer:/blocks/%d/rows/%d]", maxColumns, i, j)
		}
		for k, cell := range row {
			if cell.Type == "raw_text" && cell.Text == "" {
				return invalidBlocks("must be more than 0 characters [json-pointer:/blocks/%d/rows/%d/%d/text]", i, j, k)
			}
		}
	}
	return nil
}

func (b block) interactive() []element {
	if b.Accessory != nil {
		return []element{*b.Accessory}
	}
	return b.Elements
}

// plain is the text of a text object or of a string.
func plain(raw json.RawMessage) string {
	var object blockText
	if json.Unmarshal(raw, &object) == nil {
		return object.Text
	}
	var text string
	_ = json.Unmarshal(raw, &text)
	return text
}

func runes(text string) int { return utf8.RuneCountInString(text) }

func invalidBlocks(format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &problem{"invalid_blocks", reply{"errors": []string{message}, "response_metadata": reply{"messages": []string{"[ERROR] " + message}}}}
}
