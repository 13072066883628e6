package slacktest

import "slices"

// reach returns a conversation as the app may see it. The lock is held.
func (s *Server) reach(id string) (*channel, error) {
	c := s.find(id)
	if c == nil || c.Kind != Public && !c.has(BotUser) {
		return nil, fail("channel_not_found")
	}
	return c, nil
}

// inside is reach for methods that require membership.
func (s *Server) inside(id string) (*channel, error) {
	c, err := s.reach(id)
	if err == nil && !c.has(BotUser) {
		return nil, fail("not_in_channel")
	}
	return c, err
}

func (c *channel) wire() reply {
	out := reply{
		"id": c.ID, "created": 1712345678, "is_channel": c.Kind == Public, "is_group": c.Kind == Private, "is_im": c.Kind == IM,
		"is_mpim": c.Kind == MPIM, "is_private": c.Kind != Public, "is_archived": c.Archived, "is_member": c.has(BotUser),
		"context_team_id": Team, "num_members": len(c.Members),
	}
	if c.Kind == IM {
		out["user"], out["is_open"] = c.User, true
		return out
	}
	out["name"], out["name_normalized"], out["creator"] = c.Name, c.Name, Ana
	out["topic"], out["purpose"] = reply{"value": "", "creator": "", "last_set": 0}, reply{"value": "", "creator": "", "last_set": 0}
	return out
}

func (s *Server) conversationsInfo(r *request) (reply, error) {
	c, err := s.reach(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	return reply{"channel": c.wire()}, nil
}

func (s *Server) conversationsList(r *request) (reply, error) {
	return s.list(r, func(c *channel) bool { return c.Kind == Public || c.has(BotUser) })
}

func (s *Server) usersConversations(r *request) (reply, error) {
	user := r.by
	if id := r.arguments["user"]; id != "" {
		user = id
	}
	return s.list(r, func(c *channel) bool { return c.has(user) && (c.Kind == Public || c.has(BotUser)) })
}

func (s *Server) list(r *request, visible func(*channel) bool) (reply, error) {
	kinds := r.types()
	var found []reply
	for _, c := range s.channels {
		hidden := c.Archived && r.yes("exclude_archived")
		if slices.Contains(kinds, c.Kind) && visible(c) && !hidden {
			found = append(found, c.wire())
		}
	}
	page, next, err := paged(found, r, 100)
	if err != nil {
		return nil, err
	}
	return reply{"channels": slices.Concat([]reply{}, page), "response_metadata": reply{"next_cursor": next}}, nil
}

func (s *Server) conversationsMembers(r *request) (reply, error) {
	c, err := s.reach(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	page, next, err := paged(c.Members, r, 100)
	if err != nil {
		return nil, err
	}
	return reply{"members": page, "response_metadata": reply{"next_cursor": next}}, nil
}

func (s *Server) conversationsOpen(r *request) (reply, error) {
	users := r.list("users")
	if id := r.arguments["channel"]; id != "" {
		c, err := s.reach(id)
		if err != nil {
			return nil, err
		}
		return reply{"channel": c.opened(r), "no_op": true, "already_open": true}, nil
	}
	if len(users) != 1 {
		return nil, fail("users_list_not_supplied")
	}
	known := len(s.channels)
	c := s.direct(users[0])
	if c == nil {
		return nil, fail("user_not_found")
	}
	old := len(s.channels) == known
	return reply{"channel": c.opened(r), "no_op": old, "already_open": old}, nil
}

func (c *channel) opened(r *request) reply {
	if r.yes("return_im") {
		return c.wire()
	}
	return reply{"id": c.ID}
}

func (s *Server) conversationsJoin(r *request) (reply, error) {
	c, err := s.reach(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	switch {
	case c.Kind != Public:
		return nil, fail("method_not_supported_for_channel_type")
	case c.Archived:
		return nil, fail("is_archived")
	case c.has(BotUser):
		return reply{"channel": c.wire(), "warning": "already_in_channel", "response_metadata": reply{"warnings": []string{"already_in_channel"}}}, nil
	}
	s.enter(c, BotUser)
	return reply{"channel": c.wire()}, nil
}

func (s *Server) conversationsHistory(r *request) (reply, error) {
	c, err := s.inside(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	messages := slices.DeleteFunc(slices.Clone(c.messages), func(m *Message) bool { return m.ThreadTS != "" && !m.Broadcast })
	messages = window(messages, r)
	slices.Reverse(messages)
	return s.pageOf(c, messages, r, 100, func(m *Message, mark string) bool { return !before(m.TS, mark) })
}

func (s *Server) conversationsReplies(r *request) (reply, error) {
	c, err := s.inside(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	parent := c.message(r.arguments["ts"])
	if parent == nil {
		return nil, fail("thread_not_found")
	}
	messages := append([]*Message{parent}, window(c.replies(parent.TS), r)...)
	return s.pageOf(c, messages, r, 1000, func(m *Message, mark string) bool { return !before(mark, m.TS) })
}

// pageOf returns a page of messages. The cursor names the last message of the previous
// page, so that new and deleted messages do not shift the pages.
func (s *Server) pageOf(c *channel, all []*Message, r *request, otherwise int, seen func(m *Message, mark string) bool) (reply, error) {
	if cursor := r.arguments["cursor"]; cursor != "" {
		mark, err := decode(cursor)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(m *Message) bool { return seen(m, mark) })
	}
	limit := r.number("limit", otherwise)
	if limit > 1000 {
		return nil, fail("invalid_limit")
	}
	more, next := len(all) > limit, ""
	if more {
		all = all[:limit]
		next = encode(all[limit-1].TS)
	}
	messages := make([]reply, len(all))
	for i, m := range all {
		messages[i] = s.wire(c, m, r.yes("include_all_metadata"))
	}
	return reply{"messages": messages, "has_more": more, "response_metadata": reply{"next_cursor": next}}, nil
}
