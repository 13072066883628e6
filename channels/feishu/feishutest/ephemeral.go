package feishutest

import (
	"encoding/json"
	"slices"
)

// Ephemeral is a card that one person sees.
type Ephemeral struct{ Chat, Person, Card string }

// Ephemerals returns the cards that only one person each sees.
func (s *Server) Ephemerals() []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ephemeral)
}

func (s *Server) sendEphemeral(c *call) any {
	in := s.chats[c.text("chat_id")]
	if in == nil || in.Person != "" || in.Topics || !slices.Contains(in.Members, c.text("open_id")) {
		return refuse(18053, "the user is not in the group")
	}
	card, _ := json.Marshal(c.body["card"])
	s.ephemeral = append(s.ephemeral, Ephemeral{in.ID, c.text("open_id"), string(card)})
	return ok(map[string]any{"message_id": s.id("om_")})
}
