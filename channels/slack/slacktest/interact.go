package slacktest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Click presses a button of a message, or picks value in one of its menus. It also finds
// earlier buttons of the message, because a person may not have seen the change yet. An
// empty value matches any.
func (s *Server) Click(user, channel, ts, actionID, value string) Delivery {
	defer s.act()()
	c := s.must(channel)
	m, ephemeral := c.message(ts), false
	if m == nil {
		i := slices.IndexFunc(c.ephemeral, func(e *Message) bool { return e.TS == ts })
		if i < 0 {
			panic(fmt.Sprintf("slacktest: there is no message %s in %s", ts, channel))
		}
		m, ephemeral = c.ephemeral[i], true
	}
	action := m.action(actionID, value)
	if action == nil {
		panic(fmt.Sprintf("slacktest: message %s has no action %q with value %q", ts, actionID, value))
	}
	action["action_ts"] = s.ts()
	payload := s.interaction("block_actions", user, c)
	container := reply{"type": "message", "message_ts": ts, "channel_id": c.ID, "is_ephemeral": ephemeral}
	if m.ThreadTS != "" {
		container["thread_ts"] = m.ThreadTS
	}
	payload["container"], payload["actions"], payload["state"] = container, []reply{action}, reply{"values": reply{}}
	payload["response_url"] = s.responseURL("actions", user, c, m)
	if !ephemeral {
		payload["message"] = s.wire(c, m, false)
	}
	return s.interact(ts, "block_actions", payload)
}

// Shortcut uses a message shortcut on a message.
func (s *Server) Shortcut(user, channel, ts, callbackID string) Delivery {
	defer s.act()()
	c, m := s.mustMessage(channel, ts)
	payload := s.interaction("message_action", user, c)
	payload["callback_id"], payload["message"], payload["message_ts"] = callbackID, s.wire(c, m, false), ts
	payload["action_ts"], payload["response_url"] = s.ts(), s.responseURL("actions", user, c, m)
	return s.interact(ts, "message_action", payload)
}

func (s *Server) interact(ts, name string, payload reply) Delivery {
	e := s.dispatch(&Event{ID: s.id("In"), Type: Interactive, Name: name}, payload)
	return Delivery{TS: ts, Events: []*Event{e}}
}

func (s *Server) interaction(kind, user string, c *channel) reply {
	return reply{
		"type": kind, "token": verification, "api_app_id": App, "trigger_id": s.id("trigger."), "is_enterprise_install": false,
		"enterprise": nil, "team": reply{"id": s.home(user), "domain": "holdfast"},
		"user":    reply{"id": user, "username": s.nameOf(user), "name": s.nameOf(user), "team_id": s.home(user)},
		"channel": reply{"id": c.ID, "name": c.nameInPayloads()},
	}
}

func (s *Server) nameOf(user string) string {
	if u := s.user(user); u != nil {
		return u.Name
	}
	return user
}

func (c *channel) nameInPayloads() string {
	switch c.Kind {
	case IM:
		return "directmessage"
	case Private:
		return "privategroup"
	default:
		return c.Name
	}
}

// action finds an interactive element in the current or earlier blocks.
func (m *Message) action(actionID, value string) reply {
	for _, raw := range append([]json.RawMessage{m.Blocks}, m.past...) {
		var blocks []block
		if json.Unmarshal(raw, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			for _, e := range b.interactive() {
				if found := e.chosen(actionID, value); found != nil {
					found["block_id"] = b.ID
					return found
				}
			}
		}
	}
	return nil
}

func (e element) chosen(actionID, value string) reply {
	if e.ActionID != actionID {
		return nil
	}
	out := reply{"type": e.Type, "action_id": e.ActionID}
	switch {
	case e.Type == "feedback_buttons":
		for _, t := range []*thumb{e.Positive, e.Negative} {
			if value == "" || t.Value == value {
				out["text"], out["value"] = t.Text, t.Value
				return out
			}
		}
		return nil
	case e.Type != "button":
		out["selected_option"] = reply{"value": value, "text": blockText{"plain_text", value}}
	case value != "" && e.Value != value:
		return nil
	default:
		out["text"], out["value"] = e.label(), e.Value
		if e.Style != "" {
			out["style"] = e.Style
		}
	}
	return out
}

// label returns a button's text with Slack's defaults.
func (e element) label() reply {
	return reply{"type": "plain_text", "text": plain(e.Text), "emoji": true}
}

// StopAgent clicks the stop button that Slack itself shows in a thread of the agent view, which
// ends the app's open streams there.
func (s *Server) StopAgent(user, channel, thread string) Delivery {
	defer s.act()()
	c := s.must(channel)
	streams := []string{}
	for _, m := range c.messages {
		if m.Streaming && m.ThreadTS == thread {
			m.Streaming, m.stopped = false, true
			streams = append(streams, m.TS)
		}
	}
	at := s.ts()
	return Delivery{TS: thread, Events: s.emit(c, "agent_session_stopped", user, reply{
		"type": "agent_session_stopped", "channel": c.ID, "thread_ts": thread, "user": user, "event_ts": at, "streaming_message_ts": streams,
	})}
}

// Slash runs a slash command: "/holdfast" and its text.
func (s *Server) Slash(user, channel, command, text string) Delivery {
	defer s.act()()
	c := s.must(channel)
	address := s.responseURL("commands", user, c, nil)
	e := &Event{ID: s.id("Sl"), Type: Commands, Name: command, respond: func(body []byte) { s.respond(address, body) }}
	s.dispatch(e, reply{
		"token": verification, "team_id": s.home(user), "team_domain": "holdfast", "channel_id": c.ID, "channel_name": c.nameInPayloads(),
		"user_id": user, "user_name": s.nameOf(user), "command": command, "text": text, "api_app_id": App,
		"is_enterprise_install": "false", "response_url": address, "trigger_id": s.id("trigger."),
	})
	return Delivery{Events: []*Event{e}}
}
