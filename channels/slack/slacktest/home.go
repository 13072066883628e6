package slacktest

import "encoding/json"

// Limits of a view.
const (
	maxViewBlocks = 100
	maxMetadata   = 3000
)

// home is what the app shows a person in the Home tab.
type home struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	Blocks    json.RawMessage `json:"blocks"`
	Metadata  string          `json:"private_metadata"`
	published int
}

// Home returns the blocks of a person's Home tab, and how often it was published.
func (s *Server) Home(user string) (blocks json.RawMessage, published int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.homes[user]
	return h.Blocks, h.published
}

func (s *Server) viewsPublish(r *request) (reply, error) {
	var view home
	if s.user(r.arguments["user_id"]) == nil {
		return nil, fail("user_not_found")
	}
	if json.Unmarshal(r.raw("view"), &view) != nil || view.Type != "home" || runes(view.Metadata) > maxMetadata {
		return nil, fail("invalid_arguments")
	}
	blocks, err := s.checkBlocks(view.Blocks, maxViewBlocks)
	if err != nil {
		return nil, err
	}
	view.ID, view.Blocks, view.published = s.id("V"), blocks, s.homes[r.arguments["user_id"]].published+1
	s.homes = put(s.homes, r.arguments["user_id"], view)
	return reply{"view": s.wireHome(view)}, nil
}

func (s *Server) wireHome(h home) reply {
	return reply{
		"id": h.ID, "team_id": Team, "type": "home", "blocks": h.Blocks, "private_metadata": h.Metadata, "callback_id": "",
		"state": reply{"values": reply{}}, "hash": h.ID, "app_id": App, "bot_id": Bot, "root_view_id": h.ID,
	}
}

// OpenHome opens the app's Home tab.
func (s *Server) OpenHome(user string) Delivery {
	defer s.act()()
	inner := reply{"type": "app_home_opened", "user": user, "channel": s.direct(user).ID, "tab": "home", "event_ts": s.ts()}
	if h := s.homes[user]; h.ID != "" {
		inner["view"] = s.wireHome(h)
	}
	return Delivery{Events: []*Event{s.callback(inner)}}
}

// ClickHome presses a button in a person's Home tab. It panics if there is none.
func (s *Server) ClickHome(user, actionID, value string) Delivery {
	defer s.act()()
	h := s.homes[user]
	action := (&Message{Blocks: h.Blocks}).action(actionID, value)
	if action == nil {
		panic("slacktest: the Home tab of " + user + " has no action " + actionID + " with value " + value)
	}
	action["action_ts"] = s.ts()
	payload := s.interaction("block_actions", user, s.direct(user))
	delete(payload, "channel")
	payload["container"], payload["actions"], payload["view"] = reply{"type": "view", "view_id": h.ID}, []reply{action}, s.wireHome(h)
	return s.interact("", "block_actions", payload)
}
