package slacktest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// User is a person or a bot of the workspace.
type User struct {
	ID       string
	Name     string // the handle
	RealName string
	Display  string // display name; may be empty
	TZ       string
	TZOffset int // seconds
	Bot      bool
	Deleted  bool
	Team     string // the workspace of somebody from elsewhere; empty: Team
	Guest    bool   // is_restricted
	Visitor  bool   // is_ultra_restricted: a guest of one channel
}

// home returns the workspace of a user.
func (s *Server) home(user string) string {
	if u := s.user(user); u != nil && u.Team != "" {
		return u.Team
	}
	return Team
}

// SetGroup sets the members of a user group (S…), or adds one.
func (s *Server) SetGroup(id string, members ...string) {
	defer s.act()()
	s.groups = put(s.groups, id, members)
}

// Kind is a conversation's channel_type in events.
type Kind string

// The kinds of conversations.
const (
	Public  Kind = "channel"
	Private Kind = "group"
	IM      Kind = "im"
	MPIM    Kind = "mpim"
)

// Conversation is a channel or a direct message.
type Conversation struct {
	ID       string
	Name     string // empty for an IM
	Kind     Kind
	User     string // the other person of an IM
	Members  []string
	Archived bool
}

type channel struct {
	Conversation
	messages  []*Message // oldest first
	ephemeral []*Message
	deleted   map[string]bool // ts of deleted messages
	threads   map[string]*Assistant
}

// Assistant is what the app set for a thread with assistant.threads.*.
type Assistant struct {
	Status  string // empty once the app posted
	Loading []string
	Title   string
	Prompts string // JSON
}

func (s *Server) populate() {
	s.users = []*User{
		{ID: BotUser, Name: "holdfast", RealName: "Holdfast", Bot: true, TZ: "America/Los_Angeles", TZOffset: -25200},
		{ID: Ana, Name: "ana", RealName: "Ana Souza", Display: "ana", TZ: "Europe/Berlin", TZOffset: 7200},
		{ID: Ben, Name: "ben", RealName: "Ben Okafor", TZ: "America/New_York", TZOffset: -14400},
	}
	s.add(Conversation{ID: General, Name: "general", Kind: Public, Members: []string{BotUser, Ana, Ben}})
	s.add(Conversation{ID: Secret, Name: "secret", Kind: Private, Members: []string{BotUser, Ana}})
	s.add(Conversation{ID: DM, Kind: IM, User: Ana, Members: []string{BotUser, Ana}})
}

func (s *Server) add(c Conversation) *channel {
	added := &channel{Conversation: c, deleted: map[string]bool{}, threads: map[string]*Assistant{}}
	s.channels = append(s.channels, added)
	return added
}

// AddUser adds a user, or replaces the one with this ID.
func (s *Server) AddUser(u User) {
	defer s.act()()
	s.users = slices.DeleteFunc(s.users, func(old *User) bool { return old.ID == u.ID })
	s.users = append(s.users, &u)
}

// AddChannel adds a conversation and returns its ID, which is generated if empty.
func (s *Server) AddChannel(c Conversation) string {
	defer s.act()()
	if c.ID == "" {
		c.ID = s.id("C")
	}
	c.Members = slices.Clone(c.Members)
	return s.add(c).ID
}

// SetArchived archives or unarchives a channel.
func (s *Server) SetArchived(channel string, archived bool) {
	defer s.act()()
	s.must(channel).Archived = archived
}

// find returns a channel by ID, or nil. The lock is held.
func (s *Server) find(id string) *channel {
	return s.first(func(c *channel) bool { return c.ID == id })
}

// direct returns the IM with a user and creates it if necessary; nil if the user does
// not exist.
func (s *Server) direct(user string) *channel {
	if s.user(user) == nil {
		return nil
	}
	if c := s.first(func(c *channel) bool { return c.Kind == IM && c.User == user }); c != nil {
		return c
	}
	return s.add(Conversation{ID: s.id("D"), Kind: IM, User: user, Members: []string{BotUser, user}})
}

// named returns a channel by its name, with or without a #.
func (s *Server) named(name string) *channel {
	name = strings.TrimPrefix(name, "#")
	return s.first(func(c *channel) bool { return name != "" && c.Name == name })
}

func (s *Server) first(is func(*channel) bool) *channel {
	if i := slices.IndexFunc(s.channels, is); i >= 0 {
		return s.channels[i]
	}
	return nil
}

// must is find for arguments of a test.
func (s *Server) must(id string) *channel {
	c := s.find(id)
	if c == nil {
		panic(fmt.Sprintf("slacktest: there is no channel %q", id))
	}
	return c
}

func (s *Server) user(id string) *User {
	for _, u := range s.users {
		if u.ID == id {
			return u
		}
	}
	return nil
}

func (c *channel) has(user string) bool { return slices.Contains(c.Members, user) }

func (c *channel) message(ts string) *Message {
	for _, m := range c.messages {
		if m.TS == ts {
			return m
		}
	}
	return nil
}

// thread returns what the app set for a thread.
func (c *channel) thread(ts string) *Assistant {
	if c.threads[ts] == nil {
		c.threads[ts] = &Assistant{}
	}
	return c.threads[ts]
}

// id generates an ID. The lock is held.
func (s *Server) id(prefix string) string {
	s.minted++
	return fmt.Sprintf("%s%08d", prefix, s.minted)
}

// ts generates a timestamp later than all earlier ones. The lock is held.
func (s *Server) ts() string {
	s.stamp = max(s.stamp+1, time.Now().UnixMicro())
	return fmt.Sprintf("%d.%06d", s.stamp/1e6, s.stamp%1e6)
}
