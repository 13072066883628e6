package slacktest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// request is one call of a method.
type request struct {
	arguments
	by string // the token's user
}

// method is a method of the Web API.
type method struct {
	do     func(s *Server, r *request) (reply, error)
	scopes func(s *Server, r *request) []string // what the token needs, all of them; nil: nothing
	app    bool                                 // takes the app-level token
	open   bool                                 // takes no token
}

// problem is an error response of Slack.
type problem struct {
	code  string
	extra reply
}

func (p *problem) Error() string { return p.code }

func fail(code string) error { return &problem{code: code} }

func missing(name string) error {
	return &problem{"invalid_arguments", reply{"response_metadata": reply{"messages": []string{"[ERROR] missing required field: " + name}}}}
}

var methods = map[string]method{
	"api.test":               {do: (*Server).apiTest, open: true},
	"apps.manifest.validate": {do: (*Server).validateManifest, open: true},
	"auth.test":              {do: (*Server).authTest},
	"apps.connections.open":  {do: (*Server).openConnection, app: true},
	"bots.info":              {do: (*Server).botsInfo, scopes: need("users:read")},
	"users.info":             {do: (*Server).usersInfo, scopes: need("users:read")},
	"users.list":             {do: (*Server).usersList, scopes: need("users:read")},
	"usergroups.users.list":  {do: (*Server).usergroupsUsersList, scopes: need("usergroups:read")},
	"users.conversations":    {do: (*Server).usersConversations, scopes: forTypes},
	"conversations.list":     {do: (*Server).conversationsList, scopes: forTypes},
	"conversations.info":     {do: (*Server).conversationsInfo, scopes: forKind("read")},
	"conversations.members":  {do: (*Server).conversationsMembers, scopes: forKind("read")},
	"conversations.open":     {do: (*Server).conversationsOpen, scopes: need("im:write")},
	"conversations.join":     {do: (*Server).conversationsJoin, scopes: need("channels:join")},
	"conversations.history":  {do: (*Server).conversationsHistory, scopes: forKind("history")},
	"conversations.replies":  {do: (*Server).conversationsReplies, scopes: forKind("history")},

	"chat.postMessage":   {do: (*Server).postMessage, scopes: need("chat:write")},
	"chat.postEphemeral": {do: (*Server).postEphemeral, scopes: need("chat:write")},
	"chat.update":        {do: (*Server).updateMessage, scopes: need("chat:write")},
	"chat.delete":        {do: (*Server).deleteMessage, scopes: need("chat:write")},
	"chat.getPermalink":  {do: (*Server).getPermalink},
	"chat.startStream":   {do: (*Server).startStream, scopes: need("chat:write")},
	"chat.appendStream":  {do: (*Server).appendStream, scopes: need("chat:write")},
	"chat.stopStream":    {do: (*Server).stopStream, scopes: need("chat:write")},

	"reactions.add":    {do: (*Server).addReaction, scopes: need("reactions:write")},
	"reactions.remove": {do: (*Server).removeReaction, scopes: need("reactions:write")},

	"assistant.threads.setStatus":           {do: (*Server).setStatus, scopes: needOne("assistant:write", "chat:write")},
	"assistant.threads.setTitle":            {do: (*Server).setTitle, scopes: need("assistant:write")},
	"assistant.threads.setSuggestedPrompts": {do: (*Server).setPrompts, scopes: need("assistant:write")},

	"files.getUploadURLExternal":   {do: (*Server).getUploadURL, scopes: need("files:write")},
	"files.completeUploadExternal": {do: (*Server).completeUpload, scopes: need("files:write")},
	"files.info":                   {do: (*Server).filesInfo, scopes: need("files:read")},

	"views.open":    {do: (*Server).viewsOpen},
	"views.publish": {do: (*Server).viewsPublish},
}

func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/api/")
	args, err := readArguments(r)
	if err != nil {
		s.answer(w, s.record(name, "", nil), http.StatusOK, reply{"ok": false, "error": "invalid_json"})
		return
	}
	token := args["token"]
	if bearer, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); found {
		token = bearer
	}
	delete(args, "token")
	call := s.record(name, token, args)
	run := s.meet(r.Context(), call)
	if run.fault != nil {
		s.answerFault(w, call, run.fault)
		return
	}

	if s.tooSoon(call) {
		f := limited(time.Second)
		s.answerFault(w, call, &f)
		return
	}
	s.mu.Lock()
	out, err := s.perform(name, token, &request{arguments: args, by: BotUser})
	s.change()
	s.mu.Unlock()
	if err != nil {
		out = problemReply(err)
	} else {
		out["ok"] = true
	}
	if run.after != nil {
		run.after(call.clone())
	}
	if run.lose {
		s.answered(call, 0, "", text(out["ts"]))
		cut(w)
		return
	}
	s.answer(w, call, http.StatusOK, out)
}

// tooSoon reports whether a message follows another one in its channel too quickly.
func (s *Server) tooSoon(c *Call) bool {
	if c.Method != "chat.postMessage" || s.postEvery == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.lastPost[c.channel()]
	s.lastPost = put(s.lastPost, c.channel(), c.At)
	return c.At.Sub(last) < s.postEvery
}

// perform executes a call. The lock is held.
func (s *Server) perform(name, token string, r *request) (reply, error) {
	m, known := methods[name]
	if !known {
		return nil, &problem{"unknown_method", reply{"req_method": name}}
	}
	if err := authenticate(m, token); err != nil {
		return nil, err
	}
	if m.scopes != nil {
		for _, scope := range m.scopes(s, r) {
			if !slices.Contains(s.scopes, scope) {
				return nil, &problem{"missing_scope", reply{"needed": scope, "provided": strings.Join(s.scopes, ",")}}
			}
		}
	}
	return m.do(s, r)
}

func authenticate(m method, token string) error {
	switch {
	case m.open:
		return nil
	case token == "":
		return fail("not_authed")
	case token != BotToken && token != AppToken:
		return fail("invalid_auth")
	case m.app != (token == AppToken):
		return fail("not_allowed_token_type")
	}
	return nil
}

func problemReply(err error) reply {
	out := reply{"ok": false, "error": err.Error()}
	if p, is := err.(*problem); is { //nolint:errorlint // never wrapped
		maps.Copy(out, p.extra)
	}
	return out
}

func (s *Server) answer(w http.ResponseWriter, c *Call, status int, out reply) {
	body, err := json.Marshal(out)
	if err != nil {
		panic(fmt.Sprintf("slacktest: %s: %v", c.Method, err))
	}
	s.mu.Lock()
	w.Header().Set("X-OAuth-Scopes", strings.Join(s.scopes, ","))
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	s.answered(c, status, text(out["error"]), text(out["ts"]))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func text(value any) string {
	out, _ := value.(string)
	return out
}

// seconds is a Retry-After: whole, rounded up.
func seconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}
