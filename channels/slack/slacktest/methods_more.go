package slacktest

import (
	"encoding/json"
	"slices"
)

// View is a modal that the app opened.
type View struct {
	ID        string
	TriggerID string
	JSON      json.RawMessage
}

// Views returns the modals that the app opened.
func (s *Server) Views() []View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.views)
}

func (s *Server) viewsOpen(r *request) (reply, error) {
	var view map[string]any
	switch {
	case r.arguments["trigger_id"] == "":
		return nil, fail("invalid_trigger_id")
	case json.Unmarshal(r.raw("view"), &view) != nil:
		return nil, fail("invalid_arguments")
	}
	id := s.id("V")
	s.views = append(s.views, View{ID: id, TriggerID: r.arguments["trigger_id"], JSON: r.raw("view")})
	view["id"], view["team_id"], view["app_id"], view["bot_id"] = id, Team, App, Bot
	return reply{"view": view}, nil
}

func (s *Server) reactionTo(r *request) (*channel, *Message, string, error) {
	c, err := s.inside(r.arguments["channel"])
	if err != nil {
		return nil, nil, "", err
	}
	m := c.message(r.arguments["timestamp"])
	switch {
	case m == nil:
		return nil, nil, "", fail("message_not_found")
	case r.arguments["name"] == "":
		return nil, nil, "", fail("invalid_name")
	}
	return c, m, r.arguments["name"], nil
}

func (s *Server) addReaction(r *request) (reply, error) {
	c, m, name, err := s.reactionTo(r)
	if err != nil {
		return nil, err
	}
	if !m.react(name, r.by) {
		return nil, fail("already_reacted")
	}
	s.announceReaction("reaction_added", c, m, name, r.by)
	return reply{}, nil
}

func (s *Server) removeReaction(r *request) (reply, error) {
	c, m, name, err := s.reactionTo(r)
	if err != nil {
		return nil, err
	}
	if !m.unreact(name, r.by) {
		return nil, fail("no_reaction")
	}
	s.announceReaction("reaction_removed", c, m, name, r.by)
	return reply{}, nil
}

func (m *Message) react(name, user string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == name })
	if i < 0 {
		m.Reactions = append(m.Reactions, Reaction{Name: name, Users: []string{user}, Count: 1})
		return true
	}
	r := &m.Reactions[i]
	if slices.Contains(r.Users, user) {
		return false
	}
	r.Users, r.Count = append(r.Users, user), r.Count+1
	return true
}

func (m *Message) unreact(name, user string) bool {
	i := slices.IndexFunc(m.Reactions, func(r Reaction) bool { return r.Name == name && slices.Contains(r.Users, user) })
	if i < 0 {
		return false
	}
	r := &m.Reactions[i]
	r.Users, r.Count = slices.DeleteFunc(slices.Clone(r.Users), func(u string) bool { return u == user }), r.Count-1
	if r.Count == 0 {
		m.Reactions = slices.Delete(m.Reactions, i, i+1)
	}
	return true
}

// assisted returns the thread that an assistant.threads method is about.
func (s *Server) assisted(r *request) (*Assistant, error) {
	c, err := s.inside(r.arguments["channel_id"])
	if err != nil {
		return nil, err
	}
	thread, err := c.threadFor(r.arguments["thread_ts"])
	if err != nil || thread == "" {
		return nil, fail("invalid_thread_ts")
	}
	return c.thread(thread), nil
}

func (s *Server) setStatus(r *request) (reply, error) {
	a, err := s.assisted(r)
	if err != nil {
		return nil, err
	}
	a.Status, a.Loading = r.arguments["status"], nil
	if raw := r.arguments["loading_messages"]; raw != "" && json.Unmarshal([]byte(raw), &a.Loading) != nil {
		a.Loading = r.list("loading_messages")
	}
	return reply{}, nil
}

func (s *Server) setTitle(r *request) (reply, error) {
	a, err := s.assisted(r)
	if err != nil {
		return nil, err
	}
	a.Title = r.arguments["title"]
	return reply{}, nil
}

func (s *Server) setPrompts(r *request) (reply, error) {
	a, err := s.assisted(r)
	if err != nil {
		return nil, err
	}
	a.Prompts = r.arguments["prompts"]
	return reply{}, nil
}
