package slacktest

import (
	"encoding/json"
	"fmt"
)

// Actions of a person, and what they send to the app. They panic if a channel or user
// does not exist.

// Mention is a mention of the bot in a text.
const Mention = "<@" + BotUser + ">"

// SayOption changes a message.
type SayOption func(*said)

type said struct {
	Message
	files []File
}

// InThread posts in the thread of a message.
func InThread(ts string) SayOption { return func(m *said) { m.ThreadTS = ts } }

// WithFiles attaches files. Missing IDs are generated.
func WithFiles(files ...File) SayOption { return func(m *said) { m.files = files } }

// WithSubtype sets a subtype: "channel_join", "me_message" and so on.
func WithSubtype(subtype string) SayOption { return func(m *said) { m.Subtype = subtype } }

// WithBlocks sets blocks, as JSON.
func WithBlocks(blocks string) SayOption {
	return func(m *said) { m.Blocks = json.RawMessage(blocks) }
}

// WithMetadata sets metadata.
func WithMetadata(eventType, payload string) SayOption {
	return func(m *said) { m.Metadata = &Metadata{eventType, json.RawMessage(payload)} }
}

// AsBot posts as another app; the user is that app's.
func AsBot(botID string) SayOption { return func(m *said) { m.BotID = botID } }

// AlsoToChannel also posts a reply to the channel.
func AlsoToChannel() SayOption {
	return func(m *said) { m.Broadcast, m.Subtype = true, "thread_broadcast" }
}

// Say posts a message. The text has Slack's form: mentions are <@U…>, and &, < and >
// are escaped.
func (s *Server) Say(user, channel, text string, options ...SayOption) Delivery {
	defer s.act()()
	c := s.must(channel)
	m := said{Message: Message{Channel: c.ID, User: user, Text: text}}
	for _, option := range options {
		option(&m)
	}
	for i := range m.files {
		f := m.files[i]
		f.User = user
		s.keep(&f)
		m.Files, m.Subtype = append(m.Files, f), "file_share"
	}
	if m.ThreadTS != "" {
		thread, err := c.threadFor(m.ThreadTS)
		if err != nil {
			panic("slacktest: there is no message " + m.ThreadTS)
		}
		m.ThreadTS = thread
	}
	events := s.post(c, &m.Message)
	return Delivery{TS: m.TS, Events: events}
}

// Edit changes a message.
func (s *Server) Edit(channel, ts, text string) Delivery {
	defer s.act()()
	c, m := s.mustMessage(channel, ts)
	previous := s.wire(c, m, false)
	m.Text, m.edited = text, s.ts()
	m.Edits++
	return Delivery{TS: ts, Events: s.announceChange(c, m, previous)}
}

// Delete deletes a message.
func (s *Server) Delete(channel, ts string) Delivery {
	defer s.act()()
	c, m := s.mustMessage(channel, ts)
	return Delivery{TS: ts, Events: s.remove(c, m)}
}

// React adds a reaction.
func (s *Server) React(user, channel, ts, name string) Delivery {
	defer s.act()()
	c, m := s.mustMessage(channel, ts)
	if !m.react(name, user) {
		return Delivery{TS: ts}
	}
	return Delivery{TS: ts, Events: s.announceReaction("reaction_added", c, m, name, user)}
}

// Join adds a user, or the bot, to a channel.
func (s *Server) Join(user, channel string) Delivery {
	defer s.act()()
	return Delivery{Events: s.enter(s.must(channel), user)}
}

// Leave removes a user, or the bot, from a channel.
func (s *Server) Leave(user, channel string) {
	defer s.act()()
	c := s.must(channel)
	members := []string{}
	for _, id := range c.Members {
		if id != user {
			members = append(members, id)
		}
	}
	c.Members = members
}

func (s *Server) mustMessage(id, ts string) (*channel, *Message) {
	c := s.must(id)
	m := c.message(ts)
	if m == nil {
		panic(fmt.Sprintf("slacktest: there is no message %s in %s", ts, id))
	}
	return c, m
}
