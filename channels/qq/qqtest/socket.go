package qqtest

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// session is a session of the gateway. It outlives its connections.
type session struct {
	id     string
	seq    int64
	events []event
}

// add appends an event and returns its number.
func (s *session) add(e event) int64 {
	s.seq++
	e.Seq = s.seq
	s.events = append(s.events, e)
	return e.Seq
}

// connection is a WebSocket of the bot's.
type connection struct {
	server  *Server
	socket  *websocket.Conn
	writing sync.Mutex
	ready   bool  // it is in the session; the server's lock guards it and sent
	sent    int64 // the last event
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	c := &connection{server: s, socket: socket}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.connections, c)
		s.Changed()
	}()
	c.write(event{Op: 10, Data: mustJSON(map[string]any{"heartbeat_interval": s.heartbeat.Milliseconds()})})
	for {
		var f event
		_, data, err := socket.ReadMessage()
		if err != nil {
			return
		}
		if json.Unmarshal(data, &f) != nil {
			c.close(4002)
			return
		}
		if code := c.handle(f); code != 0 {
			c.close(code)
			return
		}
	}
}

func mustJSON(v any) json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return encoded
}

func (c *connection) write(e event) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.socket.SetWriteDeadline(time.Now().Add(5 * time.Second))
	_ = c.socket.WriteJSON(e)
}

func (c *connection) close(code int) {
	_ = c.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second))
	_ = c.socket.Close()
}

// handle handles a frame and returns the code with which to close; 0: none.
func (c *connection) handle(f event) int {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.Changed()
	var d struct {
		Token   string `json:"token"`
		Intents int    `json:"intents"`
		Session string `json:"session_id"`
		Seq     int64  `json:"seq"`
	}
	switch f.Op {
	case 1:
		if !s.Fails("heartbeat") {
			c.write(event{Op: 11})
		}
	case 2:
		_ = json.Unmarshal(f.Data, &d)
		switch {
		case !s.valid(d.Token):
			return 4004
		case d.Intents&(1<<25) == 0:
			return 4014
		}
		s.session = &session{id: s.mint("session-")}
		s.session.add(event{Type: "READY", Data: mustJSON(map[string]any{
			"version": 1, "session_id": s.session.id, "shard": []int{0, 1}, "user": map[string]any{"id": BotID, "username": "holdfast", "bot": true},
		})})
		c.join(0)
	case 6:
		_ = json.Unmarshal(f.Data, &d)
		switch {
		case !s.valid(d.Token):
			return 4004
		case s.session == nil || s.session.id != d.Session:
			c.write(event{Op: 9, Data: json.RawMessage("false")})
			return 4006
		case d.Seq > s.session.seq:
			return 4007
		}
		c.join(d.Seq)
		c.write(event{Type: "RESUMED", Seq: s.session.seq, Data: json.RawMessage(`""`)})
	default:
		return 4001
	}
	return 0
}

// join adds the connection to the session. The lock is held.
func (c *connection) join(after int64) {
	c.ready, c.sent = true, after
	c.server.connections[c] = true
	c.server.opened++
	c.flush()
}

// flush sends the events that were not sent. The lock is held.
func (c *connection) flush() {
	if !c.ready || c.server.session == nil {
		return
	}
	for _, e := range c.server.session.events {
		if e.Seq > c.sent {
			c.sent = e.Seq
			c.write(e)
		}
	}
}

// Disconnect closes the connections with a code, such as 4009 for one that is too old.
func (s *Server) Disconnect(code int) {
	s.each(func(c *connection) { c.close(code) })
}

// AskToReconnect has the gateway ask for another connection.
func (s *Server) AskToReconnect() {
	s.each(func(c *connection) { c.write(event{Op: 7}) })
}

// SendFrame sends a text over all connections as it is.
func (s *Server) SendFrame(text string) {
	s.each(func(c *connection) {
		c.writing.Lock()
		defer c.writing.Unlock()
		_ = c.socket.WriteMessage(websocket.TextMessage, []byte(text))
	})
}

// ExpireSession makes the session impossible to resume: what was not sent is lost.
func (s *Server) ExpireSession() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = nil
}

func (s *Server) each(f func(*connection)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		f(c)
	}
}

// Connections counts the connections that were opened so far.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}
