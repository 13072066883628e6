package slacktest

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

type connection struct {
	number  int
	ws      *websocket.Conn
	gone    chan struct{}
	leaving bool // asked to disconnect: gets no more envelopes

	writing sync.Mutex
}

func (s *Server) openConnection(*request) (reply, error) {
	ticket := s.id("ticket-")
	s.tickets[ticket] = true
	return reply{"url": "ws" + strings.TrimPrefix(s.base, "http") + "/link/?ticket=" + ticket + "&app_id=" + App}, nil
}

// serveSocket serves a Socket Mode connection until it ends.
func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	ticket := r.URL.Query().Get("ticket")
	call := s.record("link", "", arguments{"ticket": ticket})
	run := s.meet(r.Context(), call)
	if run.fault != nil {
		s.answerFault(w, call, run.fault)
		return
	}
	s.mu.Lock()
	valid := s.tickets[ticket]
	delete(s.tickets, ticket)
	s.mu.Unlock()
	if !valid {
		s.answered(call, http.StatusForbidden, "", "")
		http.Error(w, "invalid ticket", http.StatusForbidden)
		return
	}
	upgrader := websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	s.answered(call, http.StatusSwitchingProtocols, "", "")
	c := s.connect(ws)
	defer s.disconnected(c)
	pinging := make(chan struct{})
	defer func() { <-pinging }()
	go func() {
		defer close(pinging)
		c.keepPinged(s.ping)
	}()
	defer close(c.gone)
	defer ws.Close()
	for {
		_, body, err := ws.ReadMessage()
		if err != nil {
			return
		}
		s.acknowledge(body)
	}
}

// connect sends hello and adds a connection to the open ones.
func (s *Server) connect(ws *websocket.Conn) *connection {
	s.mu.Lock()
	s.connected++
	c := &connection{number: s.connected, ws: ws, gone: make(chan struct{})}
	hello := reply{
		"type": "hello", "num_connections": len(s.connections) + 1, "connection_info": reply{"app_id": App},
		"debug_info": reply{"host": "applink-1", "build_number": 1, "approximate_connection_time": 18060},
	}
	s.mu.Unlock()
	if c.write(hello) != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections = append(s.connections, c)
	s.change()
	return c
}

func (s *Server) disconnected(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, other := range s.connections {
		if other == c {
			s.connections = append(s.connections[:i:i], s.connections[i+1:]...)
			break
		}
	}
	s.change()
}

const writeTimeout = 5 * time.Second

func (c *connection) write(frame any) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_ = c.ws.SetWriteDeadline(time.Now().Add(writeTimeout))
	return c.ws.WriteJSON(frame)
}

// keepPinged pings a connection regularly until it is closed.
func (c *connection) keepPinged(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if c.ws.WriteControl(websocket.PingMessage, []byte("Ping from applink-1"), time.Now().Add(writeTimeout)) != nil {
			_ = c.ws.Close()
			return
		}
		select {
		case <-ticker.C:
		case <-c.gone:
			return
		}
	}
}
