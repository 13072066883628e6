package slacktest

import (
	"encoding/json"
	"fmt"
)

// What a person does, and what it sends to the app. Channels and users must be
// there: these panic else.

// Mention is the bot as it is mentioned in a text.
const Mention = "<@" + BotUser + ">"

// SayOption changes what is said.
type SayOption func(*said)

type said struct {
	Message
	files []File
}

// InThread says it in the thread of a message.
func InThread(ts string) SayOption { return func(m *said) { m.ThreadTS = ts } }

// WithFiles shares files with it. IDs are made up where there are none.
func WithFiles(files ...File) SayOption { return func(m *said) { m.files = files } }

// WithSubtype gives it a subtype: "channel_join", "me_message" and so on.
func WithSubtype(subtype string) SayOption { return func(m *said) { m.Subtype = subtype } }

// WithBlocks gives it blocks, as JSON.
func WithBlocks(blocks string) SayOption {
	return func(m *said) { m.Blocks = json.RawMessage(blocks) }
}

// WithMetadata gives it metadata.
func WithMetadata(eventType, payload string) SayOption {
	return func(m *said) { m.Metadata = &Metadata{eventType, json.RawMessage(payload)} }
}

// AsBot has another app say it; the user is that app's.
func AsBot(botID string) SayOption { return func(m *said) { m.BotID = botID } }

// AlsoToChannel shows a reply in the channel too.
func AlsoToChannel() SayOption {
	return func(m *said) { m.Broadcast, m.Subtype = true, "thread_broadcast" }
}

// Say writes a message. The text is in Slack's form: mentions are <@U…>, and &,
// < and > are escaped.
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

// Join makes a user, or the bot, a member of a channel.
func (s *Server) Join(user, channel string) Delivery {
	defer s.act()()
	return Delivery{Events: s.enter(s.must(channel), user)}
}

// Leave takes a user, or the bot, out of a channel.
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
