package qqtest

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Sent is a message of the bot's.
type Sent struct {
	ID       string
	Chat     string
	Type     int // msg_type
	Text     string
	ReplyTo  string
	Seq      int
	FileName string
	FileType int
	Content  []byte
}

// Sent returns what the bot sent, in order.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Sent(nil), s.sent...)
}

// reply is the answer to a call.
type reply struct {
	status int
	body   map[string]any
	raw    []byte
}

func refuse(status, code int, message string) reply {
	return reply{status: status, body: map[string]any{"code": code, "err_code": code, "message": message, "trace_id": "t1"}}
}

// serve decodes and answers a call.
func (s *Server) serve(handle func(*http.Request, map[string]any) reply) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := map[string]any{}
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.mu.Lock()
		out := handle(r, body)
		s.mu.Unlock()
		if out.raw != nil {
			_, _ = w.Write(out.raw)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(out.status)
		_ = json.NewEncoder(w).Encode(out.body)
	}
}

func (s *Server) issueToken(_ *http.Request, body map[string]any) reply {
	if body["appId"] != AppID {
		return reply{http.StatusOK, map[string]any{"code": 100007, "message": "appid invalid"}, nil}
	}
	if body["clientSecret"] != Secret {
		return reply{http.StatusOK, map[string]any{"code": 100016, "message": "invalid appid or secret"}, nil}
	}
	token := s.mint("token-")
	s.tokens[token] = time.Now().Add(s.lasts)
	return reply{http.StatusOK, map[string]any{"access_token": token, "expires_in": strconv.Itoa(int(s.lasts / time.Second))}, nil}
}

func (s *Server) valid(authorization string) bool {
	token, found := strings.CutPrefix(authorization, "QQBot ")
	return found && time.Now().Before(s.tokens[token])
}

func (s *Server) withToken(handle func(*http.Request, map[string]any) reply) func(*http.Request, map[string]any) reply {
	return func(r *http.Request, body map[string]any) reply {
		if !s.valid(r.Header.Get("Authorization")) {
			return refuse(http.StatusUnauthorized, 11244, "token not exist or expire")
		}
		return handle(r, body)
	}
}

func (s *Server) gateway(*http.Request, map[string]any) reply {
	return reply{http.StatusOK, map[string]any{
		"url": "ws" + strings.TrimPrefix(s.URL(), "http") + "/websocket", "shards": 1,
		"session_start_limit": map[string]any{"total": 1000, "remaining": 1000, "reset_after": 86400000, "max_concurrency": 1},
	}, nil}
}

func (s *Server) me(*http.Request, map[string]any) reply {
	return reply{http.StatusOK, map[string]any{"id": BotID, "username": "holdfast", "union_openid": "B0T"}, nil}
}

var link = regexp.MustCompile(`(?i)https?://|\b[a-z0-9-]+\.(com|example|org|net)\b`)

// post takes a message.
func (s *Server) post(r *http.Request, body map[string]any) reply {
	chat := strings.TrimSuffix(r.PathValue("kind"), "s") + "/" + r.PathValue("id")
	m := Sent{Chat: chat, Seq: 1}
	m.ReplyTo, _ = body["msg_id"].(string)
	kind, _ := body["msg_type"].(float64)
	m.Type = int(kind)
	if seq, is := body["msg_seq"].(float64); is {
		m.Seq = int(seq)
	}
	if refused := s.fill(&m, body); refused.status != 0 {
		return refused
	}
	to := s.messages[m.ReplyTo]
	switch {
	case s.kicked[chat]:
		return refuse(http.StatusBadRequest, 40054003, "机器人非群成员")
	case m.ReplyTo == "":
		return refuse(http.StatusBadRequest, 40034102, "主动消息失败, 无权限")
	case to == nil || to.chat != chat:
		return refuse(http.StatusBadRequest, 40034024, "请求参数msg_id无效或越权")
	case s.answered[answer{m.ReplyTo, m.Seq}]:
		return refuse(http.StatusBadRequest, 40054005, "消息被去重，请检查请求msgseq")
	case to.expired, time.Since(to.at) > s.windows[kindOf(chat)], to.replies >= s.replies:
		return refuse(http.StatusBadRequest, 40034128, "被动回复时间或次数超限")
	}
	to.replies++
	s.answered[answer{m.ReplyTo, m.Seq}] = true
	m.ID = s.mint("ROBOT1.0_sent-")
	s.sent = append(s.sent, m)
	return reply{http.StatusOK, map[string]any{"id": m.ID, "timestamp": time.Now().Format(time.RFC3339)}, nil}
}

// fill reads the content of a message.
func (s *Server) fill(m *Sent, body map[string]any) reply {
	m.Text, _ = body["content"].(string)
	switch m.Type {
	case 0:
	case 2:
		mark, _ := body["markdown"].(map[string]any)
		m.Text, _ = mark["content"].(string)
	case 7:
		media, _ := body["media"].(map[string]any)
		info, _ := media["file_info"].(string)
		f, found := s.files[info]
		if !found || kindOf(f.chat) != kindOf(m.Chat) {
			return refuse(http.StatusBadRequest, 304080, "file_info无效")
		}
		m.FileName, m.Content, m.FileType = f.name, f.content, f.kind
	default:
		return refuse(http.StatusBadRequest, 340069, "消息类型无效")
	}
	switch {
	case m.Text == "" && m.Type != 7:
		return refuse(http.StatusBadRequest, 50006, "消息为空")
	case utf8.RuneCountInString(m.Text) > s.textLimit:
		return refuse(http.StatusBadRequest, 40054007, "消息长度超限")
	case s.noLinks && link.MatchString(m.Text):
		return refuse(http.StatusBadRequest, 40054010, "不允许发送URL")
	}
	return reply{}
}

// upload takes a file.
func (s *Server) upload(r *http.Request, body map[string]any) reply {
	chat := strings.TrimSuffix(r.PathValue("kind"), "s") + "/" + r.PathValue("id")
	kind, _ := body["file_type"].(float64)
	data, _ := body["file_data"].(string)
	name, _ := body["file_name"].(string)
	content, err := base64.StdEncoding.DecodeString(data)
	switch {
	case err != nil || data == "":
		return refuse(http.StatusBadRequest, 40034004, "富媒体文件转存失败")
	case kind < 1 || kind > 4 || kind == 4 && s.noFiles:
		return refuse(http.StatusBadRequest, 11253, "check app privilege not pass")
	}
	info := s.mint("file-info-")
	s.files[info] = file{chat, name, content, int(kind)}
	return reply{http.StatusOK, map[string]any{"file_uuid": info, "file_info": info, "ttl": 259200}, nil}
}

func (s *Server) download(r *http.Request, _ map[string]any) reply {
	content, found := s.media[r.PathValue("name")]
	if !found {
		return refuse(http.StatusNotFound, 0, "not found")
	}
	return reply{status: http.StatusOK, raw: content}
}
