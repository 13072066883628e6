package slacktest

import (
	"maps"
	"strings"
)

// announce tells the app of a message: "message", and "app_mention" if it
// mentions the bot outside of direct messages. The lock is held.
func (s *Server) announce(c *channel, m *Message) []*Event {
	inner := s.inner(c, m)
	events := s.emit(c, "message."+plural[c.Kind], m.User, inner)
	if c.Kind == IM || m.User == BotUser || m.Subtype != "" && m.Subtype != "file_share" && m.Subtype != "bot_message" || !mentions(m.Text) {
		return events
	}
	mention := maps.Clone(inner)
	mention["type"] = "app_mention"
	delete(mention, "channel_type")
	delete(mention, "parent_user_id")
	delete(mention, "subtype")
	return append(events, s.emit(c, "app_mention", m.User, mention)...)
}

var plural = map[Kind]string{Public: "channels", Private: "groups", IM: "im", MPIM: "mpim"}

// inner returns the event of a message.
func (s *Server) inner(c *channel, m *Message) reply {
	inner := s.wire(c, m, false)
	inner["channel"], inner["channel_type"], inner["event_ts"] = c.ID, c.Kind, m.TS
	if m.BotID == "" && m.Subtype == "" {
		inner["client_msg_id"] = s.id("client-")
	}
	return inner
}

func mentions(text string) bool {
	return strings.Contains(text, "<@"+BotUser+">") || strings.Contains(text, "<@"+BotUser+"|")
}

func (s *Server) announceChange(c *channel, m *Message, previous reply) []*Event {
	return s.emit(c, "message."+plural[c.Kind], m.User, reply{
		"type": "message", "subtype": "message_changed", "hidden": true, "channel": c.ID, "channel_type": c.Kind,
		"message": s.wire(c, m, false), "previous_message": previous, "ts": s.ts(), "event_ts": s.ts(),
	})
}

func (s *Server) announceDeletion(c *channel, m *Message, previous reply) []*Event {
	return s.emit(c, "message."+plural[c.Kind], text(previous["user"]), reply{
		"type": "message", "subtype": "message_deleted", "hidden": true, "channel": c.ID, "channel_type": c.Kind,
		"deleted_ts": m.TS, "previous_message": previous, "ts": s.ts(), "event_ts": s.ts(),
	})
}

func (s *Server) announceReaction(kind string, c *channel, m *Message, name, user string) []*Event {
	return s.emit(c, kind, user, reply{
		"type": kind, "user": user, "reaction": name, "item_user": m.User,
		"item": reply{"type": "message", "channel": c.ID, "ts": m.TS}, "event_ts": s.ts(),
	})
}

// enter makes a user a member and tells the app.
func (s *Server) enter(c *channel, user string) []*Event {
	if !c.has(user) {
		c.Members = append(c.Members, user)
	}
	return s.emit(c, "member_joined_channel", user, reply{
		"type": "member_joined_channel", "user": user, "channel": c.ID, "channel_type": string(c.ID[0]), "team": Team, "event_ts": s.ts(),
	})
}

// emit sends an event of a conversation, caused by a user, if the app is a
// member and subscribed.
func (s *Server) emit(c *channel, name, user string, inner reply) []*Event {
	if !c.has(BotUser) || s.subscribed != nil && !s.subscribed[name] || s.silent && user == BotUser {
		return nil
	}
	return []*Event{s.callback(inner)}
}

// SendEvent sends any other event; inner is its "event" field.
func (s *Server) SendEvent(inner map[string]any) Delivery {
	defer s.act()()
	return Delivery{Events: []*Event{s.callback(inner)}}
}

// callback sends an event.
func (s *Server) callback(inner reply) *Event {
	id := s.id("Ev")
	return s.dispatch(&Event{ID: id, Type: EventsAPI, Name: text(inner["type"])}, reply{
		"token": verification, "team_id": Team, "context_team_id": Team, "context_enterprise_id": nil, "api_app_id": App,
		"event": inner, "type": "event_callback", "event_id": id, "event_time": s.stamp / 1e6,
		"authorizations": []reply{{
			"enterprise_id": nil, "team_id": Team, "user_id": BotUser, "is_bot": true, "is_enterprise_install": false,
		}},
		"is_ext_shared_channel": false, "event_context": "4-" + id,
	})
}

// verification is the deprecated token of events.
const verification = "verification-token"
