package telegramtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"reflect"
	"slices"
	"strings"
)

const (
	textLimit    = 4096 // UTF-16 units
	captionLimit = 1024
	dataLimit    = 64 // bytes of a button
)

// perform carries out a call.
func (s *Server) perform(r *http.Request, c *Call) any {
	a := arguments(c.Arguments)
	switch c.Method {
	case "getUpdates":
		return s.getUpdates(r.Context(), a)
	case "setWebhook":
		return s.setWebhook(a) //nolint:contextcheck // it outlives the request
	case "deleteWebhook":
		return s.setWebhook(arguments{"drop_pending_updates": a["drop_pending_updates"]}) //nolint:contextcheck // as above
	case "getWebhookInfo":
		return s.webhookInfo()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Changed()
	switch c.Method {
	case "getMe":
		return s.me()
	case "setMyCommands":
		_ = json.Unmarshal([]byte(a["commands"]), &s.commands)
		return true
	case "getMyCommands":
		return s.commands
	case "answerCallbackQuery":
		return s.answerClick(a)
	case "getFile":
		return s.getFile(a)
	case "close", "logOut":
		return true
	}
	return s.inChat(c, a)
}

func (s *Server) me() any {
	u := s.people[BotID]
	return map[string]any{
		"id": u.ID, "is_bot": true, "first_name": u.FirstName, "username": u.Username, "can_join_groups": true,
		"can_read_all_group_messages": !s.privacy, "supports_inline_queries": false,
	}
}

func (s *Server) answerClick(a arguments) any {
	c := s.clicks[a["callback_query_id"]]
	if c == nil || c.Answered {
		return refused(http.StatusBadRequest, "Bad Request: query is too old and response timeout expired or query ID is invalid")
	}
	c.Answered, c.Answer = true, a["text"]
	return true
}

// chatOf returns the chat that a call is for; nil if there is none.
func (s *Server) chatOf(a arguments) *chat {
	if name, is := strings.CutPrefix(a["chat_id"], "@"); is {
		for _, c := range s.chats {
			if c.Username == name && c.Type != "private" {
				return c
			}
		}
	}
	return s.chats[a.number("chat_id")]
}

// inChat carries out a call for a chat.
func (s *Server) inChat(c *Call, a arguments) any {
	in := s.chatOf(a)
	if in == nil {
		return refused(http.StatusBadRequest, "Bad Request: chat not found")
	}
	switch c.Method {
	case "getChat":
		if in.Type == "private" && !s.people[in.ID].met {
			return refused(http.StatusBadRequest, "Bad Request: chat not found")
		}
		return in
	case "getChatMember":
		return s.member(in, a)
	}
	if no := s.writable(in); no != nil {
		return no
	}
	switch c.Method {
	case "sendChatAction":
		return true
	case "deleteMessage":
		return s.remove(in, a)
	}
	if no := s.flooded(in.ID); no != nil {
		return no
	}
	switch c.Method {
	case "sendMessage", "editMessageText":
		return s.write(c.Method, in, a)
	case "sendDocument", "sendPhoto", "sendAudio", "sendVoice", "sendVideo":
		return s.sendFile(c, in, a)
	}
	return refused(http.StatusNotFound, "Not Found: method not found")
}

func (s *Server) member(in *chat, a arguments) any {
	who := s.people[a.number("user_id")]
	if who == nil {
		return refused(http.StatusBadRequest, "Bad Request: user not found")
	}
	status := "left"
	if slices.Contains(in.members, who.ID) {
		status = "member"
	}
	return map[string]any{"user": who, "status": status}
}

func (s *Server) remove(in *chat, a arguments) any {
	m := in.find(a.number("message_id"))
	switch {
	case m == nil:
		return refused(http.StatusBadRequest, "Bad Request: message to delete not found")
	case m.From.ID != BotID && in.Type != "private" || s.now().Unix()-m.Date > int64(48*60*60):
		return refused(http.StatusBadRequest, "Bad Request: message can't be deleted")
	}
	m.Deleted = true
	return true
}

// formatted reads a text with its markup.
func formatted(a arguments, name string) (string, []Entity, *refusal) {
	text := a[name]
	var entities []Entity
	switch a["parse_mode"] {
	case "":
		_ = json.Unmarshal([]byte(a["entities"]), &entities)
	case "HTML":
		var err error
		if text, entities, err = parseHTML(text); err != nil {
			return "", nil, refused(http.StatusBadRequest, "Bad Request: can't parse entities: "+err.Error())
		}
	default:
		return "", nil, refused(http.StatusBadRequest, "Bad Request: unsupported parse_mode")
	}
	return strings.TrimSpace(text), entities, nil
}

func buttons(a arguments) (*Keyboard, *refusal) {
	if a["reply_markup"] == "" {
		return nil, nil
	}
	var k Keyboard
	if err := json.Unmarshal([]byte(a["reply_markup"]), &k); err != nil {
		return nil, refused(http.StatusBadRequest, "Bad Request: can't parse reply keyboard markup JSON object")
	}
	for _, row := range k.Rows {
		for _, b := range row {
			if len(b.Data) > dataLimit {
				return nil, refused(http.StatusBadRequest, "Bad Request: BUTTON_DATA_INVALID")
			}
		}
	}
	if len(k.Rows) == 0 {
		return nil, nil
	}
	return &k, nil
}

// write is sendMessage and editMessageText.
func (s *Server) write(method string, in *chat, a arguments) any {
	text, entities, no := formatted(a, "text")
	if no != nil {
		return no
	}
	switch {
	case text == "":
		return refused(http.StatusBadRequest, "Bad Request: message text is empty")
	case Units(text) > textLimit:
		return refused(http.StatusBadRequest, "Bad Request: message is too long")
	}
	markup, no := buttons(a)
	if no != nil {
		return no
	}
	if method == "editMessageText" {
		return s.edit(in, a, text, entities, markup)
	}
	m := &Message{Text: text, Entities: entities, Markup: markup}
	return s.add(in, a, m)
}

func (s *Server) edit(in *chat, a arguments, text string, entities []Entity, markup *Keyboard) any {
	m := in.find(a.number("message_id"))
	switch {
	case a.number("message_id") == 0:
		return refused(http.StatusBadRequest, "Bad Request: message identifier is not specified")
	case m == nil:
		return refused(http.StatusBadRequest, "Bad Request: message to edit not found")
	case m.From.ID != BotID:
		return refused(http.StatusBadRequest, "Bad Request: message can't be edited")
	case m.Text == "":
		return refused(http.StatusBadRequest, "Bad Request: there is no text in the message to edit")
	case m.Text == text && reflect.DeepEqual(m.Entities, entities) && reflect.DeepEqual(m.Markup, markup):
		return refused(http.StatusBadRequest, "Bad Request: message is not modified: specified new message content and reply markup "+
			"are exactly the same as a current content and reply markup of the message")
	}
	m.Text, m.Entities, m.Markup, m.EditDate = text, entities, markup, s.now().Unix()
	m.Edits++
	return m
}

// add posts a message of the bot's.
func (s *Server) add(in *chat, a arguments, m *Message) any {
	if topic := a.number("message_thread_id"); topic != 0 {
		if !slices.Contains(in.topics, topic) {
			return refused(http.StatusBadRequest, "Bad Request: message thread not found")
		}
		m.Thread, m.IsTopic = topic, true
	}
	var reply struct {
		ID     int64 `json:"message_id"`
		Absent bool  `json:"allow_sending_without_reply"`
	}
	_ = json.Unmarshal([]byte(a["reply_parameters"]), &reply)
	if old := a.number("reply_to_message_id"); old != 0 {
		reply.ID = old
	}
	if reply.ID != 0 {
		to := in.find(reply.ID)
		if to == nil && !reply.Absent && a["allow_sending_without_reply"] != "true" {
			return refused(http.StatusBadRequest, "Bad Request: message to be replied not found")
		}
		m.ReplyTo = to
	}
	m.ID, m.From, m.Chat, m.Date = s.next(in), s.people[BotID], in, s.now().Unix()
	in.messages = append(in.messages, m)
	return m
}

func (s *Server) sendFile(c *Call, in *chat, a arguments) any {
	field := strings.ToLower(strings.TrimPrefix(c.Method, "send"))
	f, is := c.Files[field]
	if name, attached := strings.CutPrefix(a[field], "attach://"); attached {
		f, is = c.Files[name]
	}
	switch {
	case !is:
		return refused(http.StatusBadRequest, fmt.Sprintf("Bad Request: there is no %s in the request", field))
	case f.Size == 0:
		return refused(http.StatusBadRequest, "Bad Request: file must be non-empty")
	case field == "photo" && !slices.Contains([]string{".jpg", ".jpeg", ".png", ".webp"}, strings.ToLower(path.Ext(f.Name))):
		return refused(http.StatusBadRequest, "Bad Request: IMAGE_PROCESS_FAILED")
	}
	caption, entities, no := formatted(a, "caption")
	if no != nil {
		return no
	}
	if Units(caption) > captionLimit {
		return refused(http.StatusBadRequest, "Bad Request: message caption is too long")
	}
	f = s.store(f)
	m := &Message{Caption: caption, Entities: entities}
	switch field {
	case "photo":
		m.Photo = []File{f}
	case "audio":
		m.Audio = &f
	case "voice":
		m.Voice = &f
	case "video":
		m.Video = &f
	default:
		m.Document = &f
	}
	return s.add(in, a, m)
}

// downloadLimit is the size of the files that bots get, in bytes.
const downloadLimit = 20 << 20

func (s *Server) getFile(a arguments) any {
	f := s.files[a["file_id"]]
	switch {
	case f == nil:
		return refused(http.StatusBadRequest, "Bad Request: invalid file_id")
	case f.Size > downloadLimit:
		return refused(http.StatusBadRequest, "Bad Request: file is too big")
	}
	found := *f
	found.Path = "documents/" + f.ID
	return found
}

func (s *Server) serveFile(w http.ResponseWriter, at string) {
	s.mu.Lock()
	f := s.files[path.Base(at)]
	s.mu.Unlock()
	if f == nil {
		answer(w, refused(http.StatusNotFound, "Not Found"))
		return
	}
	_, _ = w.Write(f.Content)
}
