package wechattest

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// pageSize is how many messages a poll returns at most.
const pageSize = 20

// authorized admits calls with the bot's token. A refusal has status 200.
func (s *Server) authorized(next func(http.ResponseWriter, *http.Request, map[string]any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var arguments map[string]any
		if err := json.NewDecoder(r.Body).Decode(&arguments); err != nil {
			http.Error(w, "not JSON", http.StatusBadRequest)
			return
		}
		base, _ := arguments["base_info"].(map[string]any)
		switch {
		case r.Header.Get("AuthorizationType") != "ilink_bot_token", r.Header.Get("X-WECHAT-UIN") == "", r.Header.Get("iLink-App-Id") == "", base == nil:
			http.Error(w, "a header or base_info is missing", http.StatusBadRequest)
		case s.Token() == "" || r.Header.Get("Authorization") != "Bearer "+s.Token():
			fail(w, Expired, "session timeout")
		default:
			next(w, r, arguments)
		}
	}
}

func answer(w http.ResponseWriter, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// fail answers with an error. Polls report it in errcode, others in ret; it is in both.
func fail(w http.ResponseWriter, code int, message string) {
	answer(w, map[string]any{"ret": code, "errcode": code, "errmsg": message})
}

// Position returns how many messages are before a cursor.
func Position(cursor string) int {
	raw, _ := base64.StdEncoding.DecodeString(cursor)
	at, _ := strconv.Atoi(strings.TrimPrefix(string(raw), "at:"))
	return at
}

// getUpdates holds a poll until there is news after its cursor.
func (s *Server) getUpdates(w http.ResponseWriter, r *http.Request, arguments map[string]any) {
	buf, _ := arguments["get_updates_buf"].(string)
	at := Position(buf)
	s.mu.Lock()
	deadline := time.After(s.hold)
	s.held++
	s.acked = at
	s.mu.Unlock()
	s.Changed()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
	}()
	for {
		changed := s.Change()
		s.mu.Lock()
		to := min(len(s.inbox), at+pageSize)
		news, expired := s.inbox[min(at, to):to], s.token == ""
		s.mu.Unlock()
		switch {
		case expired:
			fail(w, Expired, "session timeout")
			return
		case len(news) > 0:
			s.answerUpdates(w, news, to)
			return
		}
		select {
		case <-changed:
		case <-deadline:
			s.answerUpdates(w, nil, to)
			return
		case <-r.Context().Done():
			return
		}
	}
}

var number = regexp.MustCompile(`^[1-9][0-9]*$`)

// answerUpdates writes IDs as numbers, as the service does.
func (*Server) answerUpdates(w http.ResponseWriter, news []map[string]any, to int) {
	messages := []map[string]any{}
	for _, m := range news {
		out := map[string]any{}
		maps.Copy(out, m)
		if text, is := m["message_id"].(string); is && number.MatchString(text) {
			out["message_id"] = json.Number(text)
		}
		messages = append(messages, out)
	}
	cursor := base64.StdEncoding.EncodeToString([]byte("at:" + strconv.Itoa(to)))
	answer(w, map[string]any{"ret": 0, "msgs": messages, "get_updates_buf": cursor, "longpolling_timeout_ms": 35000})
}

func (s *Server) sendMessage(w http.ResponseWriter, _ *http.Request, arguments map[string]any) {
	message, _ := arguments["msg"].(map[string]any)
	items, _ := message["item_list"].([]any)
	to, _ := message["to_user_id"].(string)
	token, _ := message["context_token"].(string)
	client, _ := message["client_id"].(string)
	if len(items) != 1 || to == "" || client == "" || message["message_type"] != 2.0 || message["message_state"] != 2.0 {
		fail(w, -1, "invalid arguments")
		return
	}
	defer s.act()()
	c := s.contexts[token]
	if s.refusing > 0 || c == nil || c.user != to || time.Since(c.at) > s.window || c.posts >= s.limit {
		s.refusing = max(s.refusing-1, 0)
		fail(w, Refused, "prepare failed")
		return
	}
	post := Post{ID: s.mint(), To: to, ClientID: client, Token: token}
	content, _ := items[0].(map[string]any)
	if !s.fill(&post, content) {
		fail(w, -1, "invalid item")
		return
	}
	c.posts++
	s.posts = append(s.posts, post)
	answer(w, map[string]any{"ret": 0, "message_id": json.Number(post.ID)})
}

// fill adds what is in a message. The lock is held.
func (s *Server) fill(post *Post, content map[string]any) bool {
	field := func(in map[string]any, name string) map[string]any {
		out, _ := in[name].(map[string]any)
		return out
	}
	var stored map[string]any
	switch content["type"] {
	case 1.0:
		post.Text, _ = field(content, "text_item")["text"].(string)
		return post.Text != "" && len([]rune(post.Text)) <= 4000
	case 2.0:
		post.File, stored = "image", field(field(content, "image_item"), "media")
	case 4.0:
		post.File, _ = field(content, "file_item")["file_name"].(string)
		stored = field(field(content, "file_item"), "media")
	}
	param, _ := stored["encrypt_query_param"].(string)
	encoded, _ := stored["aes_key"].(string)
	digits, _ := base64.StdEncoding.DecodeString(encoded)
	key, err := hex.DecodeString(string(digits))
	if err != nil || s.files[param] == nil || post.File == "" {
		return false
	}
	post.Content = decrypt(s.files[param], key)
	return true
}

func (s *Server) getConfig(w http.ResponseWriter, _ *http.Request, arguments map[string]any) {
	user, _ := arguments["ilink_user_id"].(string)
	answer(w, map[string]any{"ret": 0, "typing_ticket": base64.StdEncoding.EncodeToString([]byte("ticket-" + user))})
}

func (s *Server) sendTyping(w http.ResponseWriter, _ *http.Request, arguments map[string]any) {
	user, _ := arguments["ilink_user_id"].(string)
	if arguments["typing_ticket"] != base64.StdEncoding.EncodeToString([]byte("ticket-"+user)) {
		fail(w, -1, "unknown ticket")
		return
	}
	defer s.act()()
	s.typing = append(s.typing, Typing{To: user, On: arguments["status"] == 1.0})
	answer(w, map[string]any{"ret": 0})
}

func (s *Server) notify(w http.ResponseWriter, _ *http.Request, _ map[string]any) {
	answer(w, map[string]any{"ret": 0})
}

func (s *Server) getUploadURL(w http.ResponseWriter, _ *http.Request, arguments map[string]any) {
	raw, _ := arguments["rawsize"].(float64)
	size, _ := arguments["filesize"].(float64)
	if int(size) != (int(raw)/16+1)*16 || arguments["filekey"] == "" || arguments["aeskey"] == "" || arguments["rawfilemd5"] == "" {
		fail(w, -1, "invalid size")
		return
	}
	defer s.act()()
	param := s.mint()
	s.uploads[param] = true
	answer(w, map[string]any{"ret": 0, "upload_param": param})
}
