package dingtalktest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
)

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+OpenStream, s.openStream)
	mux.HandleFunc("GET "+Connect, s.connect)
	mux.HandleFunc("POST "+AccessToken, s.accessToken)
	mux.HandleFunc("GET /gettoken", s.oldToken)
	mux.HandleFunc("POST "+SendGroup, s.authorized(s.sendGroup))
	mux.HandleFunc("POST "+SendPerson, s.authorized(s.sendPerson))
	mux.HandleFunc("POST "+Download, s.authorized(s.downloadURL))
	mux.HandleFunc("POST "+CreateCard, s.authorized(s.createCard))
	mux.HandleFunc("PUT "+UpdateCard, s.authorized(s.updateCard))
	mux.HandleFunc("PUT "+StreamCard, s.authorized(s.streamCard))
	mux.HandleFunc("POST "+Upload, s.upload)
	mux.HandleFunc("GET /file/{code}", s.file)
	return mux
}

func decode(r *http.Request) map[string]any {
	var arguments map[string]any
	_ = json.NewDecoder(r.Body).Decode(&arguments)
	return arguments
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	_ = json.NewEncoder(w).Encode(body)
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json;charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"requestid": "1", "code": code, "message": message})
}

func text(arguments map[string]any, name string) string {
	value, _ := arguments[name].(string)
	return value
}

func (s *Server) openStream(w http.ResponseWriter, r *http.Request) {
	arguments := decode(r)
	subscriptions, _ := arguments["subscriptions"].([]any)
	if arguments["clientId"] != ClientID || arguments["clientSecret"] != ClientSecret || len(subscriptions) == 0 {
		fail(w, http.StatusUnauthorized, "authFailed", "the client is not known")
		return
	}
	defer s.act()()
	for _, subscription := range subscriptions {
		fields, _ := subscription.(map[string]any)
		s.topics[text(fields, "topic")] = true
	}
	ticket := s.mint("ticket-")
	s.tickets[ticket] = true
	answer(w, map[string]any{"endpoint": "ws" + strings.TrimPrefix(s.URL(), "http") + Connect, "ticket": ticket})
}

// connect opens a stream. A ticket is for one.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	valid := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !valid {
		http.Error(w, "unknown ticket", http.StatusUnauthorized)
		return
	}
	socket, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &connection{socket: socket}
	pong := socket.PingHandler()
	socket.SetPingHandler(func(data string) error {
		s.pings.Add(1)
		s.Changed()
		return pong(data)
	})
	s.mu.Lock()
	s.connections = append(s.connections, c)
	s.mu.Unlock()
	s.Changed()
	for {
		_, raw, err := socket.ReadMessage()
		if err != nil {
			break
		}
		s.answered(raw)
	}
	s.mu.Lock()
	c.gone = true
	s.mu.Unlock()
	s.Changed()
	_ = socket.Close()
}

// Pings returns how often the robot pinged.
func (s *Server) Pings() int { return int(s.pings.Load()) }

// answered takes the answer to a push.
func (s *Server) answered(raw []byte) {
	var said struct {
		Code    int
		Headers struct{ MessageID string }
		Data    string
	}
	if json.Unmarshal(raw, &said) != nil || !json.Valid([]byte(said.Data)) {
		return
	}
	defer s.act()()
	if d := s.deliveries[said.Headers.MessageID]; d != nil {
		d.codes = append(d.codes, said.Code)
		return
	}
	d := &Delivery{s: s, codes: []int{said.Code}, data: said.Data}
	s.deliveries[said.Headers.MessageID] = d
}

// Answer returns the data of the answer to a frame that the test sent; empty: none yet.
func (s *Server) Answer(messageID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.deliveries[messageID]; d != nil {
		return d.data
	}
	return ""
}

func (s *Server) accessToken(w http.ResponseWriter, r *http.Request) {
	arguments := decode(r)
	if arguments["appKey"] != ClientID || arguments["appSecret"] != ClientSecret {
		fail(w, http.StatusBadRequest, "invalidClientIdOrSecret", "the client ID or secret is wrong")
		return
	}
	defer s.act()()
	token := s.mint("token-")
	s.tokens[token] = true
	answer(w, map[string]any{"accessToken": token, "expireIn": 7200})
}

// oldToken is how DingTalk's Node library gets a token.
func (s *Server) oldToken(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("appkey") != ClientID || r.URL.Query().Get("appsecret") != ClientSecret {
		answer(w, map[string]any{"errcode": 40089, "errmsg": "invalid"})
		return
	}
	defer s.act()()
	token := s.mint("token-")
	s.tokens[token] = true
	answer(w, map[string]any{"errcode": 0, "access_token": token, "expires_in": 7200})
}

func (s *Server) authorized(next func(http.ResponseWriter, map[string]any)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		arguments := decode(r)
		s.mu.Lock()
		valid := s.tokens[r.Header.Get("X-Acs-Dingtalk-Access-Token")]
		s.mu.Unlock()
		if !valid {
			fail(w, http.StatusUnauthorized, "InvalidAuthentication", "the access token is invalid")
			return
		}
		next(w, arguments)
	}
}

func (s *Server) sendGroup(w http.ResponseWriter, arguments map[string]any) {
	defer s.act()()
	group := text(arguments, "openConversationId")
	switch {
	case arguments["robotCode"] != ClientID || !strings.HasPrefix(group, "cid"):
		fail(w, http.StatusBadRequest, "invalidParameter", "robotCode or openConversationId")
	case s.gone[group]:
		fail(w, http.StatusBadRequest, "invalidParameter.openConversationId.notExist", "the robot is not in the conversation")
	default:
		s.post(w, group, arguments, map[string]any{})
	}
}

func (s *Server) sendPerson(w http.ResponseWriter, arguments map[string]any) {
	defer s.act()()
	people, _ := arguments["userIds"].([]any)
	if arguments["robotCode"] != ClientID || len(people) != 1 {
		fail(w, http.StatusBadRequest, "invalidParameter", "robotCode or userIds")
		return
	}
	to, _ := people[0].(string)
	more := map[string]any{"invalidStaffIdList": []string{}, "flowControlledStaffIdList": []string{}}
	switch {
	case s.gone[to]:
		more["invalidStaffIdList"], more["processQueryKey"] = []string{to}, s.mint("query-")
		answer(w, more)
	case s.limited[to] > 0:
		s.limited[to]--
		more["flowControlledStaffIdList"], more["processQueryKey"] = []string{to}, s.mint("query-")
		answer(w, more)
	default:
		s.post(w, to, arguments, more)
	}
}

// post sends a plain message. The lock is held.
func (s *Server) post(w http.ResponseWriter, to string, arguments, more map[string]any) {
	var parameters map[string]string
	if json.Unmarshal([]byte(text(arguments, "msgParam")), &parameters) != nil {
		fail(w, http.StatusBadRequest, "invalidParameter.msgParam", "not JSON")
		return
	}
	post := Post{Key: s.mint("query-"), To: to, Template: text(arguments, "msgKey"), Title: parameters["title"], Text: parameters["text"]}
	valid := false
	switch post.Template {
	case "sampleMarkdown":
		valid = post.Title != "" && post.Text != "" && len([]rune(post.Text)) <= 5000
	case "sampleFile":
		stored, found := s.uploads[parameters["mediaId"]]
		post.File, post.Content = parameters["fileName"], stored.content
		valid = found && post.File != ""
	case "sampleImageMsg":
		stored, found := s.uploads[parameters["photoURL"]]
		post.File, post.Content = "image", stored.content
		valid = found
	}
	if !valid {
		fail(w, http.StatusBadRequest, "invalidParameter.msgParam", "not what the template takes")
		return
	}
	s.posts = append(s.posts, post)
	more["processQueryKey"] = post.Key
	answer(w, more)
}

func (s *Server) createCard(w http.ResponseWriter, arguments map[string]any) {
	defer s.act()()
	id, space := text(arguments, "outTrackId"), text(arguments, "openSpaceId")
	kind, to, _ := strings.Cut(strings.TrimPrefix(space, "dtv1.card//"), ".")
	data, _ := arguments["cardData"].(map[string]any)
	group, _ := arguments["imGroupOpenDeliverModel"].(map[string]any)
	robot, _ := arguments["imRobotOpenDeliverModel"].(map[string]any)
	known := s.cards[id]
	switch {
	case id == "" || arguments["cardTemplateId"] != Template || arguments["callbackType"] != "STREAM" || data == nil:
		fail(w, http.StatusBadRequest, "invalidParameter", "outTrackId, cardTemplateId, callbackType or cardData")
	case kind == "IM_GROUP" && group["robotCode"] != ClientID, kind == "IM_ROBOT" && robot["spaceType"] != "IM_ROBOT", kind != "IM_GROUP" && kind != "IM_ROBOT":
		fail(w, http.StatusBadRequest, "invalidParameter.openSpaceId", "no such space")
	case s.gone[to]:
		fail(w, http.StatusBadRequest, "param.openConversationId.notExist", "the robot is not in the conversation")
	case known != nil:
		known.Created++
		fail(w, http.StatusBadRequest, "param.outTrackId.exists", "the card exists")
	default:
		card := &Card{ID: id, To: to, Variables: map[string]string{}, Created: 1}
		card.set(data)
		s.cards[id] = card
		s.order = append(s.order, id)
		answer(w, map[string]any{"success": true, "result": map[string]any{"outTrackId": id, "deliverResults": []map[string]any{{"spaceId": to, "spaceType": kind, "success": true}}}})
	}
}

// set sets variables of a card.
func (c *Card) set(data map[string]any) {
	variables, _ := data["cardParamMap"].(map[string]any)
	for name, value := range variables {
		c.Variables[name], _ = value.(string)
	}
	c.Text = c.Variables["content"]
}

func (s *Server) updateCard(w http.ResponseWriter, arguments map[string]any) {
	defer s.act()()
	card := s.cards[text(arguments, "outTrackId")]
	data, _ := arguments["cardData"].(map[string]any)
	if card == nil {
		fail(w, http.StatusNotFound, "param.cardNotExist", "no such card")
		return
	}
	card.set(data)
	answer(w, map[string]any{"success": true, "result": true})
}

func (s *Server) streamCard(w http.ResponseWriter, arguments map[string]any) {
	defer s.act()()
	card := s.cards[text(arguments, "outTrackId")]
	switch {
	case card == nil:
		fail(w, http.StatusNotFound, "param.cardNotExist", "no such card")
	case text(arguments, "guid") == "" || text(arguments, "key") != "content" || arguments["isFull"] != true:
		fail(w, http.StatusInternalServerError, "unknownError", "unknown error")
	case card.Final && arguments["isFinalize"] != true:
		fail(w, http.StatusBadRequest, "param.streaming.finished", "the card is final")
	default:
		card.Text, card.Final = text(arguments, "content"), arguments["isFinalize"] == true
		card.Variables["content"] = card.Text
		card.Streamed++
		answer(w, map[string]any{"success": true, "result": true})
	}
}

func (s *Server) downloadURL(w http.ResponseWriter, arguments map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	code := text(arguments, "downloadCode")
	if _, found := s.files[code]; !found || arguments["robotCode"] != ClientID {
		fail(w, http.StatusBadRequest, "invalidParameter.downloadCode", "wrong or expired")
		return
	}
	answer(w, map[string]any{"downloadUrl": s.URL() + "/file/" + code})
}

func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	content, found := s.files[r.PathValue("code")]
	s.mu.Unlock()
	if !found {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(content)
}

func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	received, header, err := r.FormFile("media")
	if err != nil {
		answer(w, map[string]any{"errcode": 40035, "errmsg": "no media"})
		return
	}
	content, _ := io.ReadAll(received)
	defer s.act()()
	if !s.tokens[r.URL.Query().Get("access_token")] {
		answer(w, map[string]any{"errcode": 40014, "errmsg": "invalid access_token"})
		return
	}
	id := s.mint("@media")
	s.uploads[id] = file{header.Filename, content}
	answer(w, map[string]any{"errcode": 0, "errmsg": "ok", "media_id": id, "type": r.URL.Query().Get("type")})
}
