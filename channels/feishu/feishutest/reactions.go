package feishutest

import (
	"slices"
)

// Reaction is a reaction to a message.
type Reaction struct{ ID, Message, Emoji string }

// Reactions returns the bot's reactions to a message.
func (s *Server) Reactions(message string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, r := range s.reactions {
		if r.Message == message {
			found = append(found, r.Emoji)
		}
	}
	return found
}

func (s *Server) react(c *call) any {
	m := s.find(c.PathValue("id"))
	kind, _ := c.body["reaction_type"].(map[string]any)
	emoji, _ := kind["emoji_type"].(string)
	switch {
	case !s.has(ScopeReactions):
		return refuse(99991672, "Access denied. One of the following scopes is required: [im:message.reactions:write_only]")
	case m == nil || m.Deleted:
		return refuse(231003, "The message is not found or withdrawn.")
	case emoji == "":
		return refuse(231001, "The reaction type is invalid.")
	}
	for _, r := range s.reactions {
		if r.Message == m.ID && r.Emoji == emoji {
			return ok(map[string]any{"reaction_id": r.ID})
		}
	}
	r := &Reaction{s.id("r_"), m.ID, emoji}
	s.reactions = append(s.reactions, r)
	return ok(map[string]any{"reaction_id": r.ID})
}

func (s *Server) listReactions(c *call) any {
	var items []any
	for _, r := range s.reactions {
		if r.Message == c.PathValue("id") && r.Emoji == c.URL.Query().Get("reaction_type") {
			items = append(items, map[string]any{
				"reaction_id": r.ID, "operator": map[string]any{"operator_id": AppID, "operator_type": "app"}, "reaction_type": map[string]any{"emoji_type": r.Emoji},
			})
		}
	}
	return ok(map[string]any{"items": items, "has_more": false})
}

func (s *Server) unreact(c *call) any {
	s.reactions = slices.DeleteFunc(s.reactions, func(r *Reaction) bool { return r.ID == c.PathValue("reaction") })
	return ok(map[string]any{})
}
