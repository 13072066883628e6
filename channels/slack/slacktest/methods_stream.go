package slacktest

import (
	"encoding/json"
	"maps"
)

// A stream takes what its first call gave it: markdown_text, or chunks.

func (s *Server) startStream(r *request) (reply, error) {
	c, err := s.writable(r.arguments["channel"])
	if err != nil {
		return nil, err
	}
	switch {
	case r.arguments["thread_ts"] == "":
		return nil, missing("thread_ts")
	case c.Kind != IM && r.arguments["recipient_user_id"] == "":
		return nil, fail("missing_recipient_user_id")
	case c.Kind != IM && r.arguments["recipient_team_id"] == "":
		return nil, fail("missing_recipient_team_id")
	}
	thread, err := c.threadFor(r.arguments["thread_ts"])
	if err != nil {
		return nil, err
	}
	m := &Message{
		Channel: c.ID, ThreadTS: thread, User: BotUser, BotID: Bot, Recipient: r.arguments["recipient_user_id"],
		Streamed: true, Streaming: true, chunked: r.arguments["chunks"] != "", Args: maps.Clone(r.arguments),
	}
	if err := m.feed(r); err != nil {
		return nil, err
	}
	s.post(c, m)
	return reply{"channel": c.ID, "ts": m.TS}, nil
}

func (s *Server) appendStream(r *request) (reply, error) {
	c, m, err := s.stream(r)
	if err != nil {
		return nil, err
	}
	if r.arguments["markdown_text"] == "" && r.arguments["chunks"] == "" {
		return nil, fail("no_text")
	}
	if m.Text == "" && len(m.Chunks) == 0 {
		m.chunked = r.arguments["chunks"] != ""
	}
	if err := m.feed(r); err != nil {
		return nil, err
	}
	return reply{"channel": c.ID, "ts": m.TS}, nil
}

func (s *Server) stopStream(r *request) (reply, error) {
	c, m, err := s.stream(r)
	if err != nil {
		return nil, err
	}
	blocks, err := s.checkBlocks(r.raw("blocks"))
	if err != nil {
		return nil, err
	}
	meta, err := metadata(r.raw("metadata"))
	if err != nil {
		return nil, err
	}
	if err := m.feed(r); err != nil {
		return nil, err
	}
	previous := s.wire(c, m, false)
	m.Streaming, m.Blocks = false, blocks
	if meta != nil {
		m.Metadata = meta
	}
	s.announceChange(c, m, previous)
	return reply{"channel": c.ID, "ts": m.TS, "message": s.wire(c, m, true)}, nil
}

// stream returns the message that a call streams to.
func (s *Server) stream(r *request) (*channel, *Message, error) {
	c, m, err := s.own(r, "ts", "message_not_owned_by_app")
	switch {
	case err != nil:
		return nil, nil, err
	case m.stopped:
		return nil, nil, fail("stopped_by_user")
	case !m.Streaming:
		return nil, nil, fail("message_not_in_streaming_state")
	}
	return c, m, nil
}

// feed adds what a call brings.
func (m *Message) feed(r *request) error {
	text, raw := r.arguments["markdown_text"], r.raw("chunks")
	if text != "" && m.chunked || raw != nil && !m.chunked {
		return fail("streaming_mode_mismatch")
	}
	if runes(text) > maxMarkdown {
		return fail("msg_too_long")
	}
	if raw == nil {
		m.Text += text
		return nil
	}
	var chunks []json.RawMessage
	if json.Unmarshal(raw, &chunks) != nil {
		return fail("invalid_chunks")
	}
	added := ""
	for _, chunk := range chunks {
		var c struct{ Type, Text string }
		if json.Unmarshal(chunk, &c) != nil || c.Type == "" {
			return fail("invalid_chunks")
		}
		if runes(c.Text) > maxMarkdown {
			return fail("msg_too_long")
		}
		added += c.Text
	}
	m.Text += added
	m.Chunks = append(m.Chunks, chunks...)
	return nil
}

// EndStream ends a stream as Slack does with one that is minutes old, or, if
// byUser, as a person does who stops it.
func (s *Server) EndStream(channel, ts string, byUser bool) {
	defer s.act()()
	if m := s.must(channel).message(ts); m != nil {
		m.Streaming, m.stopped = false, byUser
	}
}
