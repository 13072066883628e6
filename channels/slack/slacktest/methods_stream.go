package slacktest

import (
	"encoding/json"
	"maps"
	"strings"
)

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
		Streamed: true, Streaming: true, Args: maps.Clone(r.arguments),
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
	blocks, err := s.checkBlocks(r.raw("blocks"), maxBlocks)
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

// feed appends the content of a call. A stream uses either markdown_text or chunks
// throughout.
func (m *Message) feed(r *request) error {
	text := r.arguments["markdown_text"]
	chunks, added, err := readChunks(r.raw("chunks"))
	if err != nil {
		return err
	}
	mode := m.mode
	if text != "" {
		mode = "markdown_text"
	}
	if len(chunks) > 0 {
		mode = "chunks"
	}
	switch {
	case text != "" && len(chunks) > 0, m.mode != "" && m.mode != mode:
		return fail("streaming_mode_mismatch")
	case runes(text) > maxMarkdown:
		return fail("msg_too_long")
	}
	m.mode = mode
	m.Text += text + added
	m.Chunks = append(m.Chunks, chunks...)
	return nil
}

// readChunks returns chunks and the text in them.
func readChunks(raw json.RawMessage) (chunks []json.RawMessage, text string, err error) {
	if raw == nil {
		return nil, "", nil
	}
	if json.Unmarshal(raw, &chunks) != nil {
		return nil, "", fail("invalid_chunks")
	}
	var said strings.Builder
	for _, chunk := range chunks {
		var c struct{ Type, Text string }
		if json.Unmarshal(chunk, &c) != nil || c.Type == "" {
			return nil, "", fail("invalid_chunks")
		}
		if runes(c.Text) > maxMarkdown {
			return nil, "", fail("msg_too_long")
		}
		said.WriteString(c.Text)
	}
	return chunks, said.String(), nil
}

// EndStream ends a stream as Slack does after some minutes or, if byUser, as a person
// does.
func (s *Server) EndStream(channel, ts string, byUser bool) {
	defer s.act()()
	if m := s.must(channel).message(ts); m != nil {
		m.Streaming, m.stopped = false, byUser
	}
}
