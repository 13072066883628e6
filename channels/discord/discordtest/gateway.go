package discordtest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// The intents that decide which events a session gets.
const (
	intentGuilds   = 1 << 0
	intentMessages = 1 << 9
	intentDirects  = 1 << 12
)

// session is what a bot resumes. It outlives its connection.
type session struct {
	id      string
	intents int
	seq     int64
	events  [][]byte    // by sequence number, from 1
	conn    *connection // nil: none
}

// connection is a connection to the gateway. The server's mutex guards writing to out.
type connection struct {
	ws      *websocket.Conn
	out     chan []byte
	session *session
	closed  bool
}

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

func (s *Server) serveGateway(w http.ResponseWriter, r *http.Request) {
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	c := &connection{ws: ws, out: make(chan []byte, 10_000)}
	s.mu.Lock()
	s.connections[c] = struct{}{}
	s.mu.Unlock()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for data := range c.out {
			if data == nil || ws.WriteMessage(websocket.TextMessage, data) != nil {
				break
			}
		}
		_ = ws.Close()
	}()
	s.send(c, map[string]any{"op": 10, "d": map[string]any{"heartbeat_interval": s.heartbeat.Milliseconds()}})
	s.read(c)
	s.mu.Lock()
	s.drop(c)
	close(c.out)
	c.closed = true
	s.mu.Unlock()
	<-written
}

// drop detaches a connection from its session. The mutex is held.
func (s *Server) drop(c *connection) {
	delete(s.connections, c)
	if c.session != nil && c.session.conn == c {
		c.session.conn = nil
	}
	s.Changed()
}

func (s *Server) read(c *connection) {
	for {
		var f struct {
			Op int             `json:"op"`
			D  json.RawMessage `json:"d"`
		}
		_, data, err := c.ws.ReadMessage()
		if websocket.IsCloseError(err, 1000, 1001) && c.session != nil {
			s.end(c.session)
		}
		if err != nil {
			return
		}
		if json.Unmarshal(data, &f) != nil {
			s.closeWith(c, 4002)
			return
		}
		switch f.Op {
		case 1:
			s.mu.Lock()
			if !s.deaf {
				c.send(map[string]any{"op": 11, "d": nil})
			}
			s.mu.Unlock()
		case 2:
			s.identify(c, f.D)
		case 6:
			s.resume(c, f.D)
		}
	}
}

func (s *Server) send(c *connection, frame any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.send(frame)
}

// send queues a frame. The server's mutex is held.
func (c *connection) send(frame any) {
	data, err := json.Marshal(frame)
	if err == nil {
		c.write(data)
	}
}

func (c *connection) write(data []byte) {
	if c.closed {
		return
	}
	select {
	case c.out <- data:
	default: // it does not read
	}
}

func (s *Server) closeWith(c *connection, code int) {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, "closed by the test"), time.Now().Add(time.Second))
	time.AfterFunc(100*time.Millisecond, func() { _ = c.ws.Close() })
}

func (s *Server) identify(c *connection, data json.RawMessage) {
	var d struct {
		Token   string `json:"token"`
		Intents int    `json:"intents"`
	}
	_ = json.Unmarshal(data, &d) // then nothing of it is right
	s.mu.Lock()
	defer s.mu.Unlock()
	s.identifies++
	s.remaining--
	defer s.Changed()
	switch {
	case strings.TrimPrefix(d.Token, "Bot ") != Token:
		s.closeWith(c, 4004)
		return
	case s.noContent && d.Intents&ContentIntent != 0:
		s.closeWith(c, 4014)
		return
	}
	n := &session{id: "session-" + s.mint(), intents: d.Intents, conn: c}
	c.session = n
	s.sessions = append(s.sessions, n)
	n.add("READY", map[string]any{
		"v": 10, "user": s.users[Self], "session_id": n.id, "resume_gateway_url": "ws" + strings.TrimPrefix(s.URL(), "http") + "/resume", "shard": []int{0, 1},
		"guilds": []any{map[string]any{"id": Guild, "unavailable": true}}, "application": map[string]any{"id": Application, "flags": s.flags},
		"private_channels": []any{}, "user_settings": map[string]any{}, "relationships": []any{}, "presences": []any{}, "session_type": "normal",
	})
	n.add("GUILD_CREATE", s.guild())
}

func (s *Server) resume(c *connection, data json.RawMessage) {
	var d struct {
		Token     string `json:"token"`
		SessionID string `json:"session_id"`
		Seq       int64  `json:"seq"`
	}
	_ = json.Unmarshal(data, &d) // then nothing of it is right
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resumes++
	defer s.Changed()
	at := slices.IndexFunc(s.sessions, func(n *session) bool { return n.id == d.SessionID })
	if at < 0 || strings.TrimPrefix(d.Token, "Bot ") != Token {
		c.send(map[string]any{"op": 9, "d": false})
		return
	}
	n := s.sessions[at]
	if d.Seq < 0 || d.Seq > n.seq {
		s.closeWith(c, 4007)
		return
	}
	n.conn, c.session = c, n
	for _, event := range n.events[d.Seq:] {
		c.write(event)
	}
	n.add("RESUMED", map[string]any{})
}

// end forgets a session.
func (s *Server) end(n *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = slices.DeleteFunc(s.sessions, func(other *session) bool { return other == n })
}

// add adds an event to a session, and sends it if it has a connection.
func (n *session) add(kind string, data any) {
	n.seq++
	event, err := json.Marshal(map[string]any{"op": 0, "t": kind, "s": n.seq, "d": data})
	if err != nil {
		panic(err)
	}
	n.events = append(n.events, event)
	if n.conn != nil {
		n.conn.write(event)
	}
}

// dispatch sends an event to the sessions that have the intent. The mutex is held.
func (s *Server) dispatch(kind string, intent int, data any) {
	for _, n := range s.sessions {
		if intent == 0 || n.intents&intent != 0 {
			n.add(kind, s.withheld(n, kind, data))
		}
	}
}

// withheld is an event without the content that a session may not read.
func (s *Server) withheld(n *session, kind string, data any) any {
	event, is := data.(map[string]any)
	if kind != "MESSAGE_CREATE" || !is || n.intents&ContentIntent != 0 || event["guild_id"] == nil {
		return data
	}
	for _, u := range event["mentions"].([]any) {
		if u.(map[string]any)["id"] == Self {
			return data
		}
	}
	without := map[string]any{}
	maps.Copy(without, event)
	without["content"], without["attachments"], without["embeds"] = "", []any{}, []any{}
	return without
}

// Raw sends an event as it is.
func (s *Server) Raw(kind, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.sessions {
		n.add(kind, json.RawMessage(data))
	}
}

// RawFrame sends bytes to all connections.
func (s *Server) RawFrame(data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.write(data)
	}
}

// Cut cuts all connections to the gateway, without a word.
func (s *Server) Cut() { s.each(func(c *connection) { _ = c.ws.UnderlyingConn().Close() }) }

// CloseWith closes all connections with a code. With 4007 and 4009, sessions end.
func (s *Server) CloseWith(code int) {
	if code == 4007 || code == 4009 {
		s.ForgetSessions()
	}
	s.each(func(c *connection) { s.closeWith(c, code) })
}

// Move asks all clients to connect again.
func (s *Server) Move() { s.RawFrame([]byte(`{"op":7,"d":null}`)) }

// ForgetSessions makes all sessions impossible to resume.
func (s *Server) ForgetSessions() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = nil
}

// Deaf makes the server ignore heartbeats, or not.
func (s *Server) Deaf(deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf = deaf
}

func (s *Server) each(f func(*connection)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		f(c)
	}
}

// Sessions returns how many sessions were begun, and how often one was resumed.
func (s *Server) Sessions() (identified, resumed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.identifies, s.resumes
}

// AwaitSessions waits until so many sessions were begun and resumed, and one is connected.
func (s *Server) AwaitSessions(ctx context.Context, identified, resumed int) error {
	return s.await(ctx, func() bool {
		connected := slices.ContainsFunc(s.sessions, func(n *session) bool { return n.conn != nil })
		return connected && s.identifies >= identified && s.resumes >= resumed
	})
}

// AwaitGone waits until no client is connected to the gateway.
func (s *Server) AwaitGone(ctx context.Context) error {
	return s.await(ctx, func() bool { return len(s.connections) == 0 })
}
