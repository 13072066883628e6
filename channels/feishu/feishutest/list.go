package feishutest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

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
