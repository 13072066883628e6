package matrixtest

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// call is a call by a user.
type call struct {
	*http.Request
	w           http.ResponseWriter
	user, token string
}

func (c call) answer(body any) { write(c.w, http.StatusOK, body) }

func (c call) refuse(status int, code, text string) {
	write(c.w, status, map[string]any{"errcode": code, "error": text})
}

func write(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// read decodes the body of a call.
func (c call) read(into any) bool {
	if json.NewDecoder(io.LimitReader(c.Body, 1<<20)).Decode(into) != nil {
		c.refuse(http.StatusBadRequest, "M_NOT_JSON", "Content not JSON.")
		return false
	}
	return true
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_matrix/client/versions", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, map[string]any{"versions": []string{"v1.1", "v1.2", "v1.3", "v1.4", "v1.5", "v1.6", "v1.7", "v1.8", "v1.9", "v1.10", "v1.11"}})
	})
	const v3 = "/_matrix/client/v3/"
	for pattern, handle := range map[string]func(call){
		"GET " + v3 + "account/whoami":                        s.whoAmI,
		"GET " + v3 + "sync":                                  s.sync,
		"GET " + v3 + "joined_rooms":                          s.joinedRooms,
		"POST " + v3 + "createRoom":                           s.createRoom,
		"POST " + v3 + "join/{room}":                          s.join,
		"GET " + v3 + "directory/room/{alias}":                s.resolve,
		"GET " + v3 + "profile/{user}":                        s.profile,
		"GET " + v3 + "user/{user}/account_data/{type}":       s.accountData,
		"PUT " + v3 + "user/{user}/account_data/{type}":       s.setAccountData,
		"POST " + v3 + "user/{user}/filter":                   s.addFilter,
		"POST /_matrix/media/v3/upload":                       s.upload,
		"GET /_matrix/client/v1/media/download/{server}/{id}": s.download,
		"GET /_matrix/media/v3/download/{server}/{id}":        s.download,
		"GET " + v3 + "pushrules/":                            nothing,
		"GET " + v3 + "capabilities":                          nothing,
		"GET " + v3 + "voip/turnServer":                       nothing,
	} {
		mux.HandleFunc(pattern, s.authorized(handle))
	}
	for pattern, handle := range map[string]func(call, *room){
		"GET joined_members":               s.joinedMembers,
		"GET messages":                     s.messages,
		"GET event/{event}":                s.event,
		"GET state/{type}":                 s.roomState,
		"GET state/{type}/{key}":           s.roomState,
		"PUT send/{type}/{transaction}":    s.send,
		"PUT redact/{event}/{transaction}": s.redaction,
		"PUT typing/{user}":                s.typed,
		"POST leave":                       s.leave,
		"POST read_markers":                func(c call, _ *room) { nothing(c) },
		"POST receipt/{type}/{event}":      func(c call, _ *room) { nothing(c) },
	} {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+v3+"rooms/{room}/"+path, s.authorized(s.inRoom(path != "leave", handle)))
	}
	for _, path := range []string{"{event}", "{event}/{relation}"} {
		mux.HandleFunc("GET /_matrix/client/v1/rooms/{room}/relations/"+path, s.authorized(s.inRoom(true, s.relations)))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusNotFound, map[string]any{"errcode": "M_UNRECOGNIZED", "error": "Unrecognized request"})
	})
	return mux
}

func nothing(c call) { c.answer(map[string]any{}) }

// authorized admits calls with a token.
func (s *Server) authorized(next func(call)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := call{Request: r, w: w, token: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
		s.mu.Lock()
		c.user = s.tokens[c.token]
		s.mu.Unlock()
		switch {
		case c.token == "":
			c.refuse(http.StatusUnauthorized, "M_MISSING_TOKEN", "Missing access token")
		case c.user == "":
			c.refuse(http.StatusUnauthorized, "M_UNKNOWN_TOKEN", "Invalid access token passed.")
		default:
			next(c)
		}
	}
}

// inRoom admits calls of those who are in the room, and holds the lock meanwhile.
func (s *Server) inRoom(members bool, next func(call, *room)) func(call) {
	return func(c call) {
		defer s.act()()
		in := s.rooms[c.PathValue("room")]
		if in == nil || members && in.membership(c.user) != "join" {
			c.refuse(http.StatusForbidden, "M_FORBIDDEN", "User "+c.user+" not in room "+c.PathValue("room"))
			return
		}
		next(c, in)
	}
}

func (s *Server) whoAmI(c call) {
	c.answer(map[string]any{"user_id": c.user, "device_id": "DEVICE" + strings.ToUpper(c.user[1:4]), "is_guest": false})
}

func (s *Server) joinedRooms(c call) {
	defer s.act()()
	ids := []string{}
	for id, in := range s.rooms {
		if in.membership(c.user) == "join" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	c.answer(map[string]any{"joined_rooms": ids})
}

func (s *Server) createRoom(c call) {
	var asked struct {
		Invite []string `json:"invite"`
		Direct bool     `json:"is_direct"`
	}
	if !c.read(&asked) {
		return
	}
	defer s.act()()
	for _, who := range asked.Invite {
		if s.names[who] == "" {
			c.refuse(http.StatusForbidden, "M_FORBIDDEN", "Unknown user "+who)
			return
		}
	}
	in := s.newRoom(c.user)
	for _, who := range asked.Invite {
		s.member(in, c.user, who, "invite", map[string]any{"is_direct": asked.Direct})
	}
	c.answer(map[string]any{"room_id": in.id})
}

func (s *Server) join(c call) {
	defer s.act()()
	in := s.rooms[c.PathValue("room")]
	if in == nil || in.membership(c.user) != "invite" && in.membership(c.user) != "join" {
		c.refuse(http.StatusForbidden, "M_FORBIDDEN", "You are not invited to this room.")
		return
	}
	if in.membership(c.user) == "invite" {
		s.member(in, c.user, c.user, "join", nil)
	}
	c.answer(map[string]any{"room_id": in.id})
}

func (s *Server) leave(c call, in *room) {
	var asked map[string]any
	if c.read(&asked) {
		s.member(in, c.user, c.user, "leave", asked)
		c.answer(map[string]any{})
	}
}

func (s *Server) resolve(c call) {
	defer s.act()()
	id, known := s.aliases[c.PathValue("alias")]
	if !known {
		c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Room alias not found")
		return
	}
	c.answer(map[string]any{"room_id": id, "servers": []string{Host}})
}

func (s *Server) profile(c call) {
	defer s.act()()
	name, known := s.names[c.PathValue("user")]
	if !known {
		c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Profile was not found")
		return
	}
	c.answer(map[string]any{"displayname": name})
}

func (s *Server) accountData(c call) {
	defer s.act()()
	data, known := s.account[c.user+" "+c.PathValue("type")]
	if !known {
		c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Account data not found")
		return
	}
	c.answer(data)
}

func (s *Server) setAccountData(c call) {
	var data json.RawMessage
	if !c.read(&data) {
		return
	}
	defer s.act()()
	s.account[c.user+" "+c.PathValue("type")] = data
	c.answer(map[string]any{})
}

func (s *Server) joinedMembers(c call, in *room) {
	all := map[string]any{}
	for _, who := range in.members() {
		all[who] = map[string]any{"display_name": s.names[who]}
	}
	c.answer(map[string]any{"joined": all})
}

func (s *Server) event(c call, in *room) {
	for _, e := range in.events {
		if e.ID == c.PathValue("event") {
			c.answer(in.bundled(e))
			return
		}
	}
	c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Event not found.")
}

// relations lists the events with a relation to one, newest first.
func (s *Server) relations(c call, in *room) {
	chunk := []*Happened{}
	for _, e := range slices.Backward(in.events) {
		relation, _ := e.Content["m.relates_to"].(map[string]any)
		wanted := c.PathValue("relation")
		if relation["event_id"] == c.PathValue("event") && (wanted == "" || relation["rel_type"] == wanted) {
			chunk = append(chunk, e)
		}
	}
	c.answer(map[string]any{"chunk": chunk})
}

// bundled returns an event with its latest edit.
func (r *room) bundled(e *Happened) Happened {
	with := *e
	for _, edit := range r.events {
		relation, _ := edit.Content["m.relates_to"].(map[string]any)
		if relation["rel_type"] == "m.replace" && relation["event_id"] == e.ID && edit.Sender == e.Sender {
			with.Unsigned = map[string]any{"m.relations": map[string]any{"m.replace": edit}}
		}
	}
	return with
}

func (s *Server) roomState(c call, in *room) {
	key := c.PathValue("key")
	e := in.state(c.PathValue("type"), &key)
	if e == nil {
		c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Event not found.")
		return
	}
	c.answer(e.Content)
}

// once returns the event of a transaction that was carried out before. The lock is held.
func (s *Server) once(c call) (key string, done bool) {
	key = c.token + " " + c.PathValue("room") + " " + c.PathValue("transaction")
	if id, known := s.sent[key]; known {
		c.answer(map[string]any{"event_id": id})
		return key, true
	}
	return key, false
}

func (s *Server) send(c call, in *room) {
	var content map[string]any
	if !c.read(&content) {
		return
	}
	key, done := s.once(c)
	if done {
		return
	}
	e := s.add(in, c.PathValue("type"), c.user, nil, content)
	if size(e) > maxEvent {
		in.events = in.events[:len(in.events)-1]
		c.refuse(http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "event too large")
		return
	}
	e.Unsigned = map[string]any{"transaction_id": c.PathValue("transaction")}
	s.sent[key] = e.ID
	c.answer(map[string]any{"event_id": e.ID})
}

func (s *Server) redaction(c call, in *room) {
	key, done := s.once(c)
	if done {
		return
	}
	if !slices.ContainsFunc(in.events, func(e *Happened) bool { return e.ID == c.PathValue("event") }) {
		c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Could not find event")
		return
	}
	s.sent[key] = s.redact(in, c.user, c.PathValue("event")).ID
	c.answer(map[string]any{"event_id": s.sent[key]})
}

func (s *Server) typed(c call, in *room) {
	var asked struct {
		Typing  bool  `json:"typing"`
		Timeout int64 `json:"timeout"`
	}
	if !c.read(&asked) {
		return
	}
	if c.PathValue("user") != c.user || asked.Typing && asked.Timeout <= 0 {
		c.refuse(http.StatusForbidden, "M_FORBIDDEN", "Cannot set another user's typing state")
		return
	}
	s.position++
	in.typedAt = s.position
	in.typing = slices.DeleteFunc(in.typing, func(who string) bool { return who == c.user })
	if asked.Typing {
		in.typing = append(in.typing, c.user)
	}
	s.typing = append(s.typing, TypingCall{Room: in.id, User: c.user, On: asked.Typing})
	c.answer(map[string]any{})
}

func (s *Server) upload(c call) {
	content, err := io.ReadAll(io.LimitReader(c.Body, 50<<20+1))
	if err != nil || len(content) > 50<<20 {
		c.refuse(http.StatusRequestEntityTooLarge, "M_TOO_LARGE", "Upload request body is too large")
		return
	}
	c.answer(map[string]any{"content_uri": s.Store(c.URL.Query().Get("filename"), c.Header.Get("Content-Type"), content)})
}

func (s *Server) download(c call) {
	s.mu.Lock()
	stored, known := s.media["mxc://"+c.PathValue("server")+"/"+c.PathValue("id")]
	authenticated := strings.HasPrefix(c.URL.Path, "/_matrix/client/")
	old := s.old
	s.mu.Unlock()
	switch {
	case authenticated && old:
		c.refuse(http.StatusNotFound, "M_UNRECOGNIZED", "Unrecognized request")
	case !authenticated && !old, !known:
		c.refuse(http.StatusNotFound, "M_NOT_FOUND", "Not found")
	default:
		c.w.Header().Set("Content-Type", stored.Type)
		c.w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": stored.Name}))
		_, _ = c.w.Write(stored.Content)
	}
}
