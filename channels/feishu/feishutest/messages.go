package feishutest

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Message is a message in a chat.
type Message struct {
	ID       string
	Chat     string
	Root     string // the message that began its topic, or the chain of replies
	Parent   string // the message that it answers
	Thread   string // its topic
	Type     string
	Content  string // JSON
	Sender   string // open ID; of the bot: [Bot]
	Mentions []string
	At       time.Time
	Key      string // uuid
	Deleted  bool
	Edits    int
	CardID   string // of a message that is a card by ID
}

// The platform's limits.
const (
	maxText     = 150 << 10
	maxCard     = 30 << 10
	keyLasts    = time.Hour
	editWindow  = 14 * 24 * time.Hour
	maxTextEdit = 20
	maxTables   = 1
)

// Posted returns the bot's messages that were not deleted, in order.
func (s *Server) Posted() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, m := range s.messages {
		if m.Sender == Bot && !m.Deleted {
			found = append(found, s.shown(m))
		}
	}
	return found
}

// Messages returns all messages that were not deleted: those in groups, or those in direct
// chats.
func (s *Server) Messages(groups bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, m := range s.messages {
		if !m.Deleted && (s.chats[m.Chat].Person == "") == groups {
			found = append(found, s.shown(m))
		}
	}
	return found
}

// Buttons returns the labels of a card's buttons.
func (m Message) Buttons() []string {
	var content any
	if json.Unmarshal([]byte(m.Content), &content) != nil {
		return nil
	}
	var labels []string
	walk(content, func(element map[string]any) {
		if text, is := element["text"].(map[string]any); is && element["tag"] == "button" {
			label, _ := text["content"].(string)
			labels = append(labels, label)
		}
	})
	return labels
}

// shown returns a message as its readers see it: a card by ID as it is now. The mutex is
// held.
func (s *Server) shown(m *Message) Message {
	copied := *m
	if card := s.cards[m.CardID]; card != nil {
		copied.Content = card.Content
	}
	return copied
}

// Message returns a message.
func (s *Server) Message(id string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(id); m != nil {
		return s.shown(m)
	}
	return Message{}
}

// Recall has its author recall a message.
func (s *Server) Recall(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(id); m != nil {
		m.Deleted = true
	}
}

func (s *Server) find(id string) *Message {
	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return s.messages[i]
}

// add adds a message to a chat.
func (s *Server) add(m Message) *Message {
	m.ID, m.At = s.id("om_"), s.now().Truncate(time.Millisecond)
	if n := len(s.messages); n > 0 && !m.At.After(s.messages[n-1].At) {
		m.At = s.messages[n-1].At.Add(time.Millisecond)
	}
	if c := s.chats[m.Chat]; c != nil && c.Topics && m.Thread == "" {
		m.Thread = s.id("omt_")
	}
	s.messages = append(s.messages, &m)
	return &m
}

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

var elementID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,19}$`)

var picture = regexp.MustCompile(`!\[[^\]]*\]\(([^)]*)\)`)

// checkCard refuses a card that is too long, has an ID twice, tables that it may not have, or
// pictures that were not uploaded.
func (s *Server) checkCard(raw string) refusal {
	if len(raw) > maxCard {
		return refuse(230025, "The length of the message content reaches its limit.")
	}
	var card map[string]any
	if json.Unmarshal([]byte(raw), &card) != nil {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: parse card json err;")
	}
	tables, ids := 0, map[string]bool{}
	var why refusal
	walk(card, func(element map[string]any) {
		if id, has := element["element_id"].(string); has {
			if !elementID.MatchString(id) || ids[id] {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 300301; ErrMsg: element_id is invalid or duplicated;")
			}
			ids[id] = true
		}
		switch element["tag"] {
		case "img":
			key, _ := element["img_key"].(string)
			if s.files[key].Kind != "image" {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 11247; ErrMsg: image key is invalid;")
			}
		case "markdown":
			content, _ := element["content"].(string)
			if content == "" {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 200621; ErrMsg: content is required;")
			}
			tables += tablesIn(content)
			if withoutCode := outsideCode(content); picture.MatchString(withoutCode) {
				why = refuse(230099, "Failed to create card content, ext=ErrCode: 11246; ErrMsg: markdown image key is invalid;")
			}
		}
	})
	if tables > maxTables {
		return refuse(230099, "Failed to create card content, ext=ErrCode: 11310; ErrMsg: card table number over limit;")
	}
	return why
}

// walk calls see for every element of a card.
func walk(part any, see func(map[string]any)) {
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			walk(p, see)
		}
	case map[string]any:
		if part["tag"] != nil {
			see(part)
		}
		for _, p := range part {
			walk(p, see)
		}
	}
}

var gfm = goldmark.New(goldmark.WithExtensions(extension.Table))

func tablesIn(markdown string) (n int) {
	_ = ast.Walk(gfm.Parser().Parse(text.NewReader([]byte(markdown))), func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && node.Kind() == extast.KindTable {
			n++
		}
		return ast.WalkContinue, nil
	})
	return n
}

var code = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")

func outsideCode(markdown string) string { return code.ReplaceAllString(markdown, "") }

// Text returns what the message says: of a card the texts of its markdown.
func (m Message) Text() string {
	var content map[string]any
	if json.Unmarshal([]byte(m.Content), &content) != nil {
		return ""
	}
	if m.Type == "text" {
		said, _ := content["text"].(string)
		return said
	}
	var texts []string
	body, _ := content["body"].(map[string]any)
	elements, _ := body["elements"].([]any)
	for _, e := range elements {
		element, _ := e.(map[string]any)
		if said, is := element["content"].(string); is && element["tag"] == "markdown" {
			texts = append(texts, said)
		}
		if inner, is := element["text"].(map[string]any); is && element["tag"] == "div" {
			said, _ := inner["content"].(string)
			texts = append(texts, said)
		}
	}
	return strings.Join(texts, "\n")
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

func (s *Server) get(c *call) any {
	m := s.find(c.PathValue("id"))
	if m == nil {
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid message_id.")
	}
	return ok(map[string]any{"items": []any{s.describeMessage(m, c.URL.Query().Get("card_msg_content_type"))}})
}

// listed is how many messages a page has at most.
const listed = 50

func (s *Server) list(c *call) any {
	q := c.URL.Query()
	kind, id := q.Get("container_id_type"), q.Get("container_id")
	size, _ := strconv.Atoi(q.Get("page_size"))
	if size < 1 || size > listed {
		return refuse(230001, "Your request contains an invalid request parameter, ext=invalid page_size.")
	}
	if kind == "chat" && (s.chats[id] == nil || !slices.Contains(s.chats[id].Members, Bot)) {
		return refuse(230002, "The bot can not be outside the group.")
	}
	if !s.has(ScopeHistory) && (kind != "chat" || s.chats[id].Person == "") {
		return refuse(230027, "Lack of necessary permissions, ext=need scope: im:message.group_msg")
	}
	var found []any
	offset, _ := strconv.Atoi(q.Get("page_token"))
	all := slices.Clone(s.messages)
	if q.Get("sort_type") == "ByCreateTimeDesc" {
		slices.Reverse(all)
	}
	matching := 0
	for _, m := range all {
		inside := kind == "thread" && m.Thread == id || kind == "chat" && m.Chat == id && (m.Thread == "" || m.Root == "")
		if !inside || kind == "chat" && !within(m.At, q.Get("start_time"), q.Get("end_time")) {
			continue
		}
		if matching++; matching > offset && len(found) < size {
			found = append(found, s.describeMessage(m, q.Get("card_msg_content_type")))
		}
	}
	next := ""
	if matching > offset+size {
		next = strconv.Itoa(offset + size)
	}
	return ok(map[string]any{"items": found, "has_more": next != "", "page_token": next})
}

// within reports whether a time lies between two in seconds; empty: open.
func within(at time.Time, start, end string) bool {
	from, _ := strconv.ParseInt(start, 10, 64)
	to, err := strconv.ParseInt(end, 10, 64)
	return at.Unix() >= from && (err != nil || at.Unix() <= to)
}

// upgrade is what a card reads like without its JSON.
const upgrade = `{"title":null,"elements":[[{"tag":"text","text":"请升级至最新版本客户端，以查看内容"}]]}`

// describeMessage returns a message as the API does.
func (s *Server) describeMessage(m *Message, cards string) map[string]any {
	sender := map[string]any{"id": m.Sender, "id_type": "open_id", "sender_type": "user", "tenant_key": Tenant, "sender_name": s.people[m.Sender]}
	if m.Sender == Bot {
		sender["id"], sender["id_type"], sender["sender_type"], sender["sender_name"] = AppID, "app_id", "app", BotName
	}
	content := s.shown(m).Content
	if m.Type == "interactive" {
		if cards == "user_card_content" {
			b, _ := json.Marshal(map[string]any{"user_dsl": content})
			content = string(b)
		} else {
			content = upgrade
		}
	}
	var mentions []any
	for i, id := range m.Mentions {
		mentions = append(mentions, map[string]any{"key": "@_user_" + strconv.Itoa(i+1), "id": id, "id_type": "open_id", "name": s.nameOf(id), "tenant_key": Tenant})
	}
	return map[string]any{
		"message_id": m.ID, "root_id": m.Root, "parent_id": m.Parent, "thread_id": m.Thread, "msg_type": m.Type,
		"create_time": strconv.FormatInt(m.At.UnixMilli(), 10), "update_time": strconv.FormatInt(m.At.UnixMilli(), 10),
		"deleted": m.Deleted, "updated": m.Edits > 0, "chat_id": m.Chat, "sender": sender, "body": map[string]any{"content": content}, "mentions": mentions,
	}
}

func (s *Server) nameOf(id string) string {
	if id == Bot {
		return BotName
	}
	return s.people[id]
}

// Reaction is a reaction to a message.
type Reaction struct{ ID, Message, Emoji string }

// Reactions returns the bot's reactions to a message.
func (s *Server) Reactions(message string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for _, r := range s.reactions {
		if r.Message == message {
			found = append(found, r.Emoji)
		}
	}
	return found
}

func (s *Server) react(c *call) any {
	m := s.find(c.PathValue("id"))
	kind, _ := c.body["reaction_type"].(map[string]any)
	emoji, _ := kind["emoji_type"].(string)
	switch {
	case !s.has(ScopeReactions):
		return refuse(99991672, "Access denied. One of the following scopes is required: [im:message.reactions:write_only]")
	case m == nil || m.Deleted:
		return refuse(231003, "The message is not found or withdrawn.")
	case emoji == "":
		return refuse(231001, "The reaction type is invalid.")
	}
	for _, r := range s.reactions {
		if r.Message == m.ID && r.Emoji == emoji {
			return ok(map[string]any{"reaction_id": r.ID})
		}
	}
	r := &Reaction{s.id("r_"), m.ID, emoji}
	s.reactions = append(s.reactions, r)
	return ok(map[string]any{"reaction_id": r.ID})
}

func (s *Server) listReactions(c *call) any {
	var items []any
	for _, r := range s.reactions {
		if r.Message == c.PathValue("id") && r.Emoji == c.URL.Query().Get("reaction_type") {
			items = append(items, map[string]any{
				"reaction_id": r.ID, "operator": map[string]any{"operator_id": AppID, "operator_type": "app"}, "reaction_type": map[string]any{"emoji_type": r.Emoji},
			})
		}
	}
	return ok(map[string]any{"items": items, "has_more": false})
}

func (s *Server) unreact(c *call) any {
	s.reactions = slices.DeleteFunc(s.reactions, func(r *Reaction) bool { return r.ID == c.PathValue("reaction") })
	return ok(map[string]any{})
}

func (s *Server) resource(c *call) any {
	m := s.find(c.PathValue("id"))
	if m == nil || !strings.Contains(m.Content, c.PathValue("key")) {
		return refuse(234003, "File not in msg.")
	}
	f, known := s.files[c.PathValue("key")]
	if !known || f.Kind != c.URL.Query().Get("type") {
		return refuse(234001, "Invalid request param.")
	}
	return f
}

// AddFile makes a file or image that can be sent in a message, and returns its key.
func (s *Server) AddFile(f File) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.store(f)
}

func (s *Server) store(f File) string {
	prefix := "file_v3_"
	if f.Kind == "image" {
		prefix = "img_v3_"
	}
	if f.Type == "" {
		f.Type = "application/octet-stream"
	}
	key := s.id(prefix)
	s.files[key] = f
	return key
}

// Uploaded returns a file that was uploaded or added.
func (s *Server) Uploaded(key string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[key]
}

func (s *Server) upload(c *call) any {
	field := strings.TrimSuffix(path.Base(c.URL.Path), "s") // image or file
	reader, err := c.MultipartReader()
	if err != nil {
		return refuse(234001, "Invalid request param.")
	}
	values := map[string][]byte{}
	for {
		part, err := reader.NextPart()
		if err != nil {
			break
		}
		values[part.FormName()], _ = io.ReadAll(part) // the content may come without a file name
	}
	content, kind := values[field], string(values[field+"_type"])
	switch {
	case kind == "":
		return refuse(234001, "Invalid request param.")
	case len(content) == 0:
		return refuse(234010, "File's size can't be 0.")
	}
	name := string(values["file_name"])
	kind = mime.TypeByExtension(path.Ext(name))
	if field == "image" {
		kind = http.DetectContentType(content)
	}
	key := s.store(File{Name: name, Kind: field, Type: kind, Content: content})
	return ok(map[string]any{field + "_key": key})
}

// Ephemeral is a card that one person sees.
type Ephemeral struct{ Chat, Person, Card string }

// Ephemerals returns the cards that only one person each sees.
func (s *Server) Ephemerals() []Ephemeral {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ephemeral)
}

func (s *Server) sendEphemeral(c *call) any {
	in := s.chats[c.text("chat_id")]
	if in == nil || in.Person != "" || in.Topics || !slices.Contains(in.Members, c.text("open_id")) {
		return refuse(18053, "the user is not in the group")
	}
	card, _ := json.Marshal(c.body["card"])
	s.ephemeral = append(s.ephemeral, Ephemeral{in.ID, c.text("open_id"), string(card)})
	return ok(map[string]any{"message_id": s.id("om_")})
}
