package slacktest

import (
	"encoding/json"
	"maps"
	"slices"
)

func (s *Server) postMessage(r *request) (reply, error) {
	m, c, err := s.compose(r)
	if err != nil {
		return nil, err
	}
	s.post(c, m)
	return reply{"channel": c.ID, "ts": m.TS, "message": s.wire(c, m, true)}, nil
}

func (s *Server) postEphemeral(r *request) (reply, error) {
	m, c, err := s.compose(r)
	if err != nil {
		return nil, err
	}
	if !c.has(r.arguments["user"]) {
		return nil, fail("user_not_in_channel")
	}
	m.TS, m.Recipient = s.ts(), r.arguments["user"]
	c.ephemeral = append(c.ephemeral, m)
	return reply{"channel": c.ID, "message_ts": m.TS}, nil
}

// compose builds the message of a call.
func (s *Server) compose(r *request) (*Message, *channel, error) {
	c, err := s.writable(r.arguments["channel"])
	if err != nil {
		return nil, nil, err
	}
	text, err := r.content()
	if err != nil {
		return nil, nil, err
	}
	m := &Message{
		Channel: c.ID, User: BotUser, BotID: Bot, Username: r.arguments["username"], Text: text,
		Attachments: r.raw("attachments"), Args: maps.Clone(r.arguments),
	}
	if m.Blocks, err = s.checkBlocks(r.raw("blocks"), maxBlocks); err != nil {
		return nil, nil, err
	}
	if m.Text == "" && m.Blocks == nil && m.Attachments == nil {
		return nil, nil, fail("no_text")
	}
	if runes(m.Text) > maxText {
		return nil, nil, fail("msg_too_long")
	}
	if m.Metadata, err = metadata(r.raw("metadata")); err != nil {
		return nil, nil, err
	}
	if m.ThreadTS, err = c.threadFor(r.arguments["thread_ts"]); err != nil {
		return nil, nil, err
	}
	if m.Broadcast = m.ThreadTS != "" && r.yes("reply_broadcast"); m.Broadcast {
		m.Subtype = "thread_broadcast"
	}
	return m, c, nil
}

// content returns the text of a call, also if given as markdown_text.
func (r *request) content() (string, error) {
	markdown := r.arguments["markdown_text"]
	switch {
	case markdown == "":
		return r.arguments["text"], nil
	case r.arguments["text"] != "" || r.arguments["blocks"] != "":
		return "", fail("markdown_text_conflict")
	case runes(markdown) > maxMarkdown:
		return "", fail("msg_too_long")
	}
	return markdown, nil
}

// writable returns a conversation that the app may post in. It accepts a user's ID or a
// channel's name, too.
func (s *Server) writable(id string) (*channel, error) {
	for _, c := range []*channel{s.direct(id), s.named(id)} {
		if c != nil {
			id = c.ID
		}
	}
	c, err := s.reach(id)
	switch {
	case err != nil:
		return nil, err
	case c.Archived:
		return nil, fail("is_archived")
	case !c.has(BotUser) && !slices.Contains(s.scopes, "chat:write.public"):
		return nil, fail("not_in_channel")
	}
	return c, nil
}

// threadFor returns the thread of a reply. A reply to a reply belongs to its thread, one
// to a deleted message without replies to the channel.
func (c *channel) threadFor(ts string) (string, error) {
	if ts == "" {
		return "", nil
	}
	if parent := c.message(ts); parent != nil {
		return parent.root(), nil
	}
	if c.deleted[ts] {
		return "", nil
	}
	return "", fail("thread_not_found")
}

func metadata(raw json.RawMessage) (*Metadata, error) {
	if raw == nil || string(raw) == "{}" {
		return nil, nil
	}
	var m Metadata
	var payload map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return nil, fail("invalid_metadata_format")
	}
	if m.EventType == "" || json.Unmarshal(m.EventPayload, &payload) != nil {
		return nil, fail("invalid_metadata_schema")
	}
	return &m, nil
}

// post stores a message and tells the app. The lock is held.
func (s *Server) post(c *channel, m *Message) []*Event {
	m.TS = s.ts()
	c.messages = append(c.messages, m)
	if m.ThreadTS != "" && m.BotID == Bot {
		c.thread(m.ThreadTS).Status = ""
	}
	return s.announce(c, m)
}

// own returns a message that the app may edit.
func (s *Server) own(r *request, key, foreign string) (*channel, *Message, error) {
	c, err := s.reach(r.arguments["channel"])
	if err != nil {
		return nil, nil, err
	}
	m := c.message(r.arguments[key])
	switch {
	case m == nil || m.Subtype == tombstone:
		return nil, nil, fail("message_not_found")
	case m.BotID != Bot:
		return nil, nil, fail(foreign)
	}
	return c, m, nil
}

func (s *Server) updateMessage(r *request) (reply, error) {
	c, m, err := s.own(r, "ts", "cant_update_message")
	if err != nil {
		return nil, err
	}
	text, err := r.content()
	if err != nil {
		return nil, err
	}
	blocks, err := s.checkBlocks(r.raw("blocks"), maxBlocks)
	if err != nil {
		return nil, err
	}
	meta, err := metadata(r.raw("metadata"))
	if err != nil {
		return nil, err
	}
	_, blocksGiven := r.arguments["blocks"]
	switch {
	case m.Streaming:
		return nil, fail("streaming_state_conflict")
	case c.Archived:
		return nil, fail("is_archived")
	case text == "" && !blocksGiven && r.raw("attachments") == nil:
		return nil, fail("no_text")
	case blocks == nil && runes(text) > maxUpdateText:
		return nil, fail("msg_too_long")
	}
	previous := s.wire(c, m, false)
	if text != "" {
		m.Text = text
	}
	if blocksGiven || text != "" {
		m.setBlocks(blocks)
	}
	if raw := r.raw("attachments"); raw != nil {
		m.Attachments = raw
	}
	if r.raw("metadata") != nil {
		m.Metadata = meta
	}
	m.Edits++
	if blocks == nil {
		m.edited = s.ts()
	}
	s.announceChange(c, m, previous)
	return reply{"channel": c.ID, "ts": m.TS, "text": m.Text, "message": s.wire(c, m, true)}, nil
}

func (m *Message) setBlocks(blocks json.RawMessage) {
	if m.Blocks != nil {
		m.past = append(m.past, m.Blocks)
	}
	m.Blocks = blocks
}

func (s *Server) deleteMessage(r *request) (reply, error) {
	c, m, err := s.own(r, "ts", "cant_delete_message")
	if err != nil {
		return nil, err
	}
	if m.Streaming {
		return nil, fail("cant_delete_message")
	}
	s.remove(c, m)
	return reply{"channel": c.ID, "ts": m.TS}, nil
}

const tombstone = "tombstone"

// remove deletes a message; one with replies leaves a tombstone.
func (s *Server) remove(c *channel, m *Message) []*Event {
	previous := s.wire(c, m, false)
	c.deleted[m.TS] = true
	if len(c.replies(m.TS)) > 0 {
		*m = Message{Channel: c.ID, TS: m.TS, User: "USLACKBOT", Subtype: tombstone, Text: "This message was deleted."}
	} else {
		c.messages = slices.DeleteFunc(c.messages, func(other *Message) bool { return other == m })
	}
	return s.announceDeletion(c, m, previous)
}

func (s *Server) getPermalink(r *request) (reply, error) {
	c, err := s.reach(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	m := c.message(r.arguments["message_ts"])
	if m == nil {
		return nil, fail("message_not_found")
	}
	return reply{"channel": c.ID, "permalink": s.permalink(m)}, nil
}
