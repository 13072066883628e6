package slacktest

import (
	"encoding/json"
	"slices"
)

// Message is the current state of a message.
type Message struct {
	Channel     string
	TS          string
	ThreadTS    string // the thread it is a reply in; else empty
	User        string
	BotID       string // empty: written by a person
	Username    string
	Text        string
	Subtype     string
	Blocks      json.RawMessage // with block IDs filled in; nil: none
	Attachments json.RawMessage
	Metadata    *Metadata
	Files       []File
	Reactions   []Reaction
	Broadcast   bool
	Edits       int    // how often it was changed
	Recipient   string // whom a stream or an ephemeral message is for
	Streamed    bool   // made with chat.startStream
	Streaming   bool   // not stopped yet
	Chunks      []json.RawMessage
	Args        map[string]string // what it was posted with: mrkdwn, unfurl_links and so on

	edited  string            // when
	mode    string            // of a stream: the argument that its first call used
	stopped bool              // a person stopped the stream
	past    []json.RawMessage // earlier blocks
}

// Metadata is a message's metadata.
type Metadata struct {
	EventType    string          `json:"event_type"`
	EventPayload json.RawMessage `json:"event_payload"`
}

// Reaction is an emoji and who reacted with it.
type Reaction struct {
	Name  string   `json:"name"`
	Users []string `json:"users"`
	Count int      `json:"count"`
}

type reply map[string]any

func (m *Message) clone() Message {
	c := *m
	c.Files, c.Reactions, c.Chunks = slices.Clone(m.Files), slices.Clone(m.Reactions), slices.Clone(m.Chunks)
	for i, r := range c.Reactions {
		c.Reactions[i].Users = slices.Clone(r.Users)
	}
	return c
}

// root is the ts of the thread a message is in or could start.
func (m *Message) root() string {
	if m.ThreadTS != "" {
		return m.ThreadTS
	}
	return m.TS
}

// replies returns the replies to a message, oldest first.
func (c *channel) replies(ts string) []*Message {
	var found []*Message
	for _, m := range c.messages {
		if m.ThreadTS == ts {
			found = append(found, m)
		}
	}
	return found
}

// wire returns a message as the API does. The lock is held.
func (s *Server) wire(c *channel, m *Message, metadata bool) reply {
	out := reply{"type": "message", "ts": m.TS, "user": m.User, "text": m.Text, "team": Team}
	set := func(key string, value any, there bool) {
		if there {
			out[key] = value
		}
	}
	home := s.home(m.User)
	set("team", home, home != Team)
	set("user_team", home, home != Team)
	set("source_team", home, home != Team)
	set("subtype", m.Subtype, m.Subtype != "")
	set("blocks", m.Blocks, m.Blocks != nil)
	set("attachments", m.Attachments, m.Attachments != nil)
	set("metadata", m.Metadata, metadata && m.Metadata != nil)
	set("reactions", m.Reactions, len(m.Reactions) > 0)
	set("edited", reply{"user": m.User, "ts": m.edited}, m.edited != "")
	set("username", m.Username, m.Username != "")
	set("streaming_state", "in_progress", m.Streaming)
	if m.BotID != "" {
		out["bot_id"] = m.BotID
		app := App
		if m.BotID != Bot {
			app = "A" + m.BotID
		}
		out["app_id"] = app
		out["bot_profile"] = reply{"id": m.BotID, "app_id": app, "name": s.nameOf(m.User), "team_id": Team, "deleted": false}
	}
	if len(m.Files) > 0 {
		files := make([]reply, len(m.Files))
		for i := range m.Files {
			files[i] = s.sharedFile(&m.Files[i])
		}
		out["files"], out["upload"] = files, false
	}
	if m.ThreadTS != "" {
		out["thread_ts"] = m.ThreadTS
		if parent := c.message(m.ThreadTS); parent != nil {
			out["parent_user_id"] = parent.User
		}
	}
	if replies := c.replies(m.TS); len(replies) > 0 {
		var users []string
		for _, r := range replies {
			if !slices.Contains(users, r.User) {
				users = append(users, r.User)
			}
		}
		out["thread_ts"], out["reply_count"], out["latest_reply"] = m.TS, len(replies), replies[len(replies)-1].TS
		out["reply_users"], out["reply_users_count"], out["is_locked"], out["subscribed"] = users, len(users), false, true
	}
	return out
}
