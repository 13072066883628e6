package feishutest

import (
	"encoding/json"
	"slices"
)

func (c *call) text(field string) string {
	value, _ := c.body[field].(string)
	return value
}

func (s *Server) create(c *call) any {
	to := c.text("receive_id")
	var in *Chat
	switch c.URL.Query().Get("receive_id_type") {
	case "chat_id":
		in = s.chats[to]
	case "open_id":
		if s.people[to] == "" {
			return refuse(230013, "Bot has NO availability to this user.")
		}
		in = s.direct(to)
	default:
		return refuse(99992402, "field validation failed")
	}
	if in == nil {
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid receive_id.")
	}
	return s.post(c, Message{Chat: in.ID})
}

func (s *Server) reply(c *call) any {
	parent := s.find(c.PathValue("id"))
	if parent == nil {
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid message_id.")
	}
	if parent.Deleted {
		return refuse(230011, "The message was withdrawn.")
	}
	m := Message{Chat: parent.Chat, Parent: parent.ID, Root: parent.ID, Thread: parent.Thread}
	if parent.Root != "" {
		m.Root = parent.Root
	}
	if c.body["reply_in_thread"] == true && m.Thread == "" {
		m.Thread = s.id("omt_")
		parent.Thread = m.Thread
	}
	return s.post(c, m)
}

// post posts a message of the bot, unless one with its key was posted within the hour.
func (s *Server) post(c *call, m Message) any {
	in := s.chats[m.Chat]
	switch {
	case in.Closed:
		return refuse(232009, "Your request specifies a chat which has already been dissolved.")
	case !slices.Contains(in.Members, Bot):
		return refuse(230002, "The bot can not be outside the group.")
	}
	m.Type, m.Content, m.Key, m.Sender = c.text("msg_type"), c.text("content"), c.text("uuid"), Bot
	if len(m.Key) > 50 {
		return refuse(99992402, "field validation failed: the max len is 50")
	}
	if first, known := s.keys[m.Key]; known && m.Key != "" && s.now().Sub(first.at) < keyLasts {
		return ok(s.describeMessage(s.find(first.message), ""))
	}
	if why := s.check(&m); why.Code != 0 {
		return why
	}
	posted := s.add(m)
	if m.Key != "" {
		s.keys[m.Key] = sentKey{posted.ID, s.now()}
	}
	return ok(s.describeMessage(posted, ""))
}

// check refuses content that the platform does.
func (s *Server) check(m *Message) refusal {
	var content map[string]any
	if json.Unmarshal([]byte(m.Content), &content) != nil {
		return refuse(230001, "Your request contains an invalid request parameter, ext=content is not a string in json format.")
	}
	switch m.Type {
	case "text":
		if len(m.Content) > maxText {
			return refuse(230025, "The length of the message content reaches its limit.")
		}
	case "interactive":
		if data, is := content["data"].(map[string]any); is && content["type"] == "card" {
			m.CardID, _ = data["card_id"].(string)
			card := s.cards[m.CardID]
			if card == nil || card.Message {
				return refuse(230099, "Failed to create card content, ext=ErrCode: 200740; ErrMsg: card id is invalid;")
			}
			card.Message = true
			return refusal{}
		}
		return s.checkCard(m.Content)
	case "file", "image":
		key, _ := content[m.Type+"_key"].(string)
		if f, known := s.files[key]; !known || f.Kind != m.Type {
			return refuse(230001, "Your request contains an invalid request parameter, ext=invalid "+m.Type+"_key.")
		}
	default:
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid msg_type.")
	}
	return refusal{}
}

func (s *Server) patch(c *call) any {
	m := s.find(c.PathValue("id"))
	switch {
	case m == nil:
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid message_id.")
	case m.Deleted:
		return refuse(230011, "The message was withdrawn.")
	case m.Sender != Bot:
		return refuse(230071, "Only the sender can update the message.")
	case s.now().Sub(m.At) > editWindow:
		return refuse(230031, "The message was sent more than 14 days ago.")
	case m.Type != "interactive":
		return refuse(230001, "Your request contains an invalid request parameter, ext=not a card.")
	}
	content := c.text("content")
	if why := s.checkCard(content); why.Code != 0 {
		return why
	}
	m.Content, m.CardID = content, ""
	m.Edits++
	return ok(map[string]any{})
}

func (s *Server) remove(c *call) any {
	m := s.find(c.PathValue("id"))
	switch {
	case m == nil:
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid message_id.")
	case m.Deleted:
		return refuse(230011, "The message was withdrawn.")
	case m.Sender != Bot:
		return refuse(230026, "No permission to recall this message.")
	}
	m.Deleted = true
	return ok(map[string]any{})
}
