package feishutest

import (
	"encoding/json"
	"fmt"
)

// Card is a card that exists apart from its message.
type Card struct {
	Content  string // JSON
	Message  bool   // it was sent
	sequence float64
}

func (s *Server) createCard(c *call) any {
	switch {
	case !s.has(ScopeCards):
		return refuse(99991672, "Access denied. One of the following scopes is required: [cardkit:card:write]")
	case c.body["type"] != "card_json":
		return refuse(99992402, "field validation failed")
	}
	if why := s.checkCard(c.text("data")); why.Code != 0 {
		return why
	}
	s.serial++
	id := fmt.Sprintf("7%018d", s.serial)
	s.cards[id] = &Card{Content: c.text("data")}
	return ok(map[string]any{"card_id": id})
}

// cardFor returns the card of a change whose number rises.
func (s *Server) cardFor(c *call) (*Card, refusal) {
	card := s.cards[c.PathValue("id")]
	if card == nil {
		return nil, refuse(300313, "card not exist")
	}
	number, _ := c.body["sequence"].(float64)
	if number <= card.sequence || number > 1<<31 {
		return nil, refuse(300317, "sequence number compare failed")
	}
	card.sequence = number
	return card, refusal{}
}

func (s *Server) updateCard(c *call) any {
	card, why := s.cardFor(c)
	if why.Code != 0 {
		return why
	}
	given, _ := c.body["card"].(map[string]any)
	content, _ := given["data"].(string)
	if why := s.checkCard(content); why.Code != 0 {
		return why
	}
	card.Content = content
	return ok(map[string]any{})
}

func (s *Server) updateText(c *call) any {
	card, why := s.cardFor(c)
	if why.Code != 0 {
		return why
	}
	var content map[string]any
	_ = json.Unmarshal([]byte(card.Content), &content) // it was checked
	if config, _ := content["config"].(map[string]any); config["streaming_mode"] != true {
		return refuse(300309, "streaming mode is closed")
	}
	found := false
	walk(content, func(element map[string]any) {
		if element["element_id"] == c.PathValue("element") && element["tag"] == "markdown" {
			element["content"], found = c.text("content"), true
		}
	})
	if !found {
		return refuse(300314, "element not exist")
	}
	changed, _ := json.Marshal(content)
	if why := s.checkCard(string(changed)); why.Code != 0 {
		return why
	}
	card.Content = string(changed)
	return ok(map[string]any{})
}
