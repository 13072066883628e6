package mattermosttest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gorilla/websocket"
)

// kept is how many events of a session are kept for a client that resumes it.
const kept = 128

// authTimeout is how long a connection may be without a session.
const authTimeout = 5 * time.Second

// session is a session with a client, over one connection after the other.
type session struct {
	id     string
	seq    int64       // of the next event
	events [][]byte    // the last ones
	out    chan []byte // to the present connection; nil: there is none
	socket *websocket.Conn
}

// frame is what a client sends.
type frame struct {
	Seq    int64          `json:"seq"`
	Action string         `json:"action"`
	Data   map[string]any `json:"data"`
}

// send sends an event to the sessions. The mutex is held.
func (s *Server) send(event string, data map[string]any, channel string) {
	if c := s.channel(channel); c != nil && !slices.Contains(c.members, BotID) {
		return
	}
	for _, open := range s.sessions {
		open.emit(s, event, data, channel)
	}
}

// emit sends an event. The mutex is held.
func (o *session) emit(s *Server, event string, data map[string]any, channel string) {
	encoded, err := json.Marshal(map[string]any{
		"event": event, "data": data, "broadcast": map[string]any{"channel_id": channel, "omit_users": nil, "user_id": "", "team_id": ""}, "seq": o.seq,
	})
	if err != nil {
		panic(err)
	}
	o.seq++
	o.events = append(o.events, encoded)
	o.events = o.events[max(0, len(o.events)-kept):]
	if s.skip > 0 && event != "hello" {
		s.skip--
		return
	}
	o.push(encoded)
}

// push sends to the present connection, and cuts it if it is too slow.
func (o *session) push(encoded []byte) {
	if o.out == nil {
		return
	}
	select {
	case o.out <- encoded:
	default:
		_ = o.socket.Close()
	}
}

// connect serves the websocket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s.sockets.Add(1)
	defer s.sockets.Done()
	defer socket.Close()
	out := make(chan []byte, 10_000)
	done := make(chan struct{})
	defer close(done)
	go write(socket, out, done)
	var mine *session
	if authorized(r) {
		mine = s.register(r, socket, out)
	} else {
		_ = socket.SetReadDeadline(time.Now().Add(authTimeout))
	}
	defer func() { s.detach(mine, socket) }()
	for {
		var f frame
		if err := socket.ReadJSON(&f); err != nil {
			return
		}
		switch {
		case f.Action == "authentication_challenge" && mine != nil: // as the server does
		case f.Action == "authentication_challenge" && f.Data["token"] == Token:
			_ = socket.SetReadDeadline(time.Time{})
			mine = s.register(nil, socket, out)
			out <- reply(f, nil)
		case f.Action == "authentication_challenge":
			return
		case mine != nil && f.Action == "ping":
			out <- reply(f, map[string]any{"text": "pong"})
		default:
			out <- reply(f, nil)
		}
	}
}

func reply(f frame, data map[string]any) []byte {
	encoded, _ := json.Marshal(map[string]any{"status": "OK", "seq_reply": f.Seq, "data": data})
	return encoded
}

func write(socket *websocket.Conn, out <-chan []byte, done <-chan struct{}) {
	for {
		select {
		case encoded := <-out:
			if socket.WriteMessage(websocket.TextMessage, encoded) != nil {
				return
			}
		case <-done:
			return
		}
	}
}

// register begins a session, or resumes the one that a request names.
func (s *Server) register(r *http.Request, socket *websocket.Conn, out chan []byte) *session {
	s.mu.Lock()
	defer s.Changed()
	defer s.mu.Unlock()
	if r != nil {
		from, err := strconv.ParseInt(r.URL.Query().Get("sequence_number"), 10, 64)
		known := s.sessions[r.URL.Query().Get("connection_id")]
		if known != nil && err == nil && from <= known.seq && known.seq-from <= int64(len(known.events)) {
			known.socket, known.out = socket, out
			for _, missed := range known.events[len(known.events)-int(known.seq-from):] {
				known.push(missed)
			}
			s.resumed++
			return known
		}
	}
	begun := &session{id: newID(), socket: socket, out: out}
	s.sessions[begun.id] = begun
	begun.emit(s, "hello", map[string]any{"connection_id": begun.id, "server_version": "11.0.0"}, "")
	s.opened++
	return begun
}

// detach keeps a session whose connection has ended.
func (s *Server) detach(mine *session, socket *websocket.Conn) {
	s.mu.Lock()
	if mine != nil && mine.socket == socket {
		mine.out = nil
	}
	s.mu.Unlock()
	s.Changed()
}

// Sessions returns how many sessions were begun, and how often one was resumed.
func (s *Server) Sessions() (opened, resumed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened, s.resumed
}

// Connected reports whether a client is connected.
func (s *Server) Connected() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, open := range s.sessions {
		if open.out != nil {
			return true
		}
	}
	return false
}

// Cut cuts the connections. Their sessions can be resumed.
func (s *Server) Cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, open := range s.sessions {
		if open.out != nil {
			open.out = nil
			_ = open.socket.NetConn().Close()
		}
	}
}

// Restart cuts the connections and forgets the sessions and the keys of posts.
func (s *Server) Restart() {
	s.Cut()
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sessions)
	clear(s.pending)
}

// Skip leaves out the next n events, as a server does that is overloaded.
func (s *Server) Skip(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skip = n
}

// Raw sends an event with these data.
func (s *Server) Raw(event string, data map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.send(event, data, "")
}
