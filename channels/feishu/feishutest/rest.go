package feishutest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// The names of calls, for faults and [faulty.Server.Made].
const (
	CallToken     = "token"
	CallInfo      = "info"
	CallEndpoint  = "endpoint"
	CallCreate    = "create"
	CallReply     = "reply"
	CallPatch     = "patch"
	CallDelete    = "delete"
	CallGet       = "get"
	CallList      = "list"
	CallReact     = "react"
	CallReactions = "reactions"
	CallUnreact   = "unreact"
	CallResource  = "resource"
	CallImage     = "image"
	CallFile      = "file"
	CallCard      = "card"
	CallCardPut   = "card put"
	CallCardText  = "card text"
	CallUser      = "user"
	CallChat      = "chat"
	CallChats     = "chats"
	CallMembers   = "members"
	CallEphemeral = "ephemeral"
)

// Fault is how a call goes wrong.
type Fault struct {
	Status int // 0: 400 with a code, else 200
	Code   int // of the platform
	Reset  int // seconds that it asks to wait
}

// RateLimited is the platform's refusal of calls that come too fast.
func RateLimited(seconds int) Fault {
	return Fault{Status: http.StatusTooManyRequests, Code: 99991400, Reset: seconds}
}

// Fail makes the next n calls of that name go wrong.
func (s *Server) Fail(call string, n int, f Fault) {
	status := cmp.Or(f.Status, http.StatusBadRequest)
	fault := faulty.JSON(status, refuse(f.Code, "injected"))
	if f.Code == 0 {
		fault.Body = ""
	}
	if f.Reset > 0 {
		fault.Header.Set("X-Ogw-Ratelimit-Limit", "50")
		fault.Header.Set("X-Ogw-Ratelimit-Reset", strconv.Itoa(f.Reset))
	}
	s.Server.Fail(call, n, fault)
}

// ExpireTokens makes all tokens invalid.
func (s *Server) ExpireTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tokens)
}

// route is one call of the API.
type route struct {
	name   string
	public bool // needs no token
	do     func(s *Server, r *call) any
}

// call is a call that is being answered.
type call struct {
	*http.Request
	raw  []byte
	body map[string]any
}

// refusal is the answer of a call that is not carried out.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"msg"`
}

func refuse(code int, message string) refusal { return refusal{code, message} }

// ok is the answer of a call that was carried out.
func ok(data any) any { return map[string]any{"code": 0, "msg": "success", "data": data} }

func (s *Server) routes() map[string]route {
	const im = "/open-apis/im/v1/"
	return map[string]route{
		"POST /open-apis/auth/v3/tenant_access_token/internal":            {CallToken, true, (*Server).issueToken},
		"POST /callback/ws/endpoint":                                      {CallEndpoint, true, (*Server).endpoint},
		"GET /open-apis/bot/v3/info":                                      {CallInfo, false, (*Server).info},
		"POST " + im + "messages":                                         {CallCreate, false, (*Server).create},
		"POST " + im + "messages/{id}/reply":                              {CallReply, false, (*Server).reply},
		"PATCH " + im + "messages/{id}":                                   {CallPatch, false, (*Server).patch},
		"DELETE " + im + "messages/{id}":                                  {CallDelete, false, (*Server).remove},
		"GET " + im + "messages/{id}":                                     {CallGet, false, (*Server).get},
		"GET " + im + "messages":                                          {CallList, false, (*Server).list},
		"POST " + im + "messages/{id}/reactions":                          {CallReact, false, (*Server).react},
		"GET " + im + "messages/{id}/reactions":                           {CallReactions, false, (*Server).listReactions},
		"DELETE " + im + "messages/{id}/reactions/{reaction}":             {CallUnreact, false, (*Server).unreact},
		"GET " + im + "messages/{id}/resources/{key}":                     {CallResource, false, (*Server).resource},
		"POST " + im + "images":                                           {CallImage, false, (*Server).upload},
		"POST " + im + "files":                                            {CallFile, false, (*Server).upload},
		"GET " + im + "chats":                                             {CallChats, false, (*Server).listChats},
		"GET " + im + "chats/{id}":                                        {CallChat, false, (*Server).chat},
		"GET " + im + "chats/{id}/members":                                {CallMembers, false, (*Server).members},
		"GET /open-apis/contact/v3/users/{id}":                            {CallUser, false, (*Server).user},
		"POST /open-apis/ephemeral/v1/send":                               {CallEphemeral, false, (*Server).sendEphemeral},
		"POST /open-apis/cardkit/v1/cards":                                {CallCard, false, (*Server).createCard},
		"PUT /open-apis/cardkit/v1/cards/{id}":                            {CallCardPut, false, (*Server).updateCard},
		"PUT /open-apis/cardkit/v1/cards/{id}/elements/{element}/content": {CallCardText, false, (*Server).updateText},
	}
}

// maxBody is the platform's limit of an upload.
const maxBody = 32 << 20

// serve answers a call.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, to route) {
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return
	}
	c := &call{Request: r, raw: raw, body: map[string]any{}}
	c.Body = io.NopCloser(bytes.NewReader(raw))
	isJSON := strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case isJSON && json.Unmarshal(raw, &c.body) != nil:
		answer(w, refuse(9499, "Bad Request"))
	case !to.public && !s.now().Before(s.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]):
		answer(w, refuse(99991663, "Invalid access token for authorization. Please make a test attempt to obtain a new token."))
	default:
		answer(w, to.do(s, c))
	}
}

// File is a file that was sent or uploaded.
type File struct {
	Name, Kind string // image or file
	Type       string // media type
	Content    []byte
}

func answer(w http.ResponseWriter, with any) {
	if f, is := with.(File); is {
		w.Header().Set("Content-Type", f.Type)
		_, _ = w.Write(f.Content)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	if _, refused := with.(refusal); refused {
		w.WriteHeader(http.StatusBadRequest)
	}
	_ = json.NewEncoder(w).Encode(with)
}

const tokenLife = 2 * time.Hour

func (s *Server) issueToken(c *call) any {
	switch {
	case c.body["app_id"] != AppID:
		return refuse(10003, "invalid param")
	case c.body["app_secret"] != AppSecret:
		return refuse(10014, "app secret invalid")
	}
	token := s.id("t-")
	s.tokens[token] = s.now().Add(tokenLife)
	return map[string]any{"code": 0, "msg": "ok", "tenant_access_token": token, "expire": int(tokenLife.Seconds())}
}

func (s *Server) info(*call) any {
	return map[string]any{"code": 0, "msg": "ok", "bot": map[string]any{"activate_status": 2, "app_name": BotName, "open_id": Bot}}
}

func (s *Server) user(c *call) any {
	id := c.PathValue("id")
	switch name, known := s.people[id]; {
	case !s.has(ScopeContacts):
		return refuse(99991672, "Access denied. One of the following scopes is required: [contact:user.base:readonly]")
	case !known:
		return refuse(41050, "no user authority error")
	default:
		return ok(map[string]any{"user": map[string]any{"open_id": id, "name": name}})
	}
}

func (s *Server) chat(c *call) any {
	found := s.chats[c.PathValue("id")]
	if found == nil || !slices.Contains(found.Members, Bot) {
		return refuse(232011, "Operator can NOT be out of the chat.")
	}
	return ok(s.describe(found))
}

func (s *Server) describe(c *Chat) map[string]any {
	status := "normal"
	if c.Closed {
		status = "dissolved"
	}
	return map[string]any{"chat_id": c.ID, "name": c.Name, "chat_type": "private", "chat_status": status, "chat_mode": modeOf(c)}
}

func modeOf(c *Chat) string {
	switch {
	case c.Person != "":
		return "p2p"
	case c.Topics:
		return "topic"
	}
	return "group"
}

func (s *Server) listChats(*call) any {
	var items []any
	for _, c := range s.chats {
		if c.Person == "" && slices.Contains(c.Members, Bot) {
			items = append(items, s.describe(c))
		}
	}
	return ok(map[string]any{"items": items, "has_more": false, "page_token": ""})
}

func (s *Server) members(c *call) any {
	found := s.chats[c.PathValue("id")]
	if found == nil || !slices.Contains(found.Members, Bot) {
		return refuse(232011, "Operator can NOT be out of the chat.")
	}
	var items []any
	for _, id := range found.Members {
		if id != Bot {
			items = append(items, map[string]any{"member_id": id, "member_id_type": "open_id", "name": s.people[id], "tenant_key": Tenant})
		}
	}
	return ok(map[string]any{"items": items, "has_more": false, "page_token": "", "member_total": len(items)})
}
