package slacktest

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// maxAck is the size from which on Slack ignores what it is sent over a Socket
// Mode connection.
const maxAck = 20 * 1024

type connection struct {
	number  int
	ws      *websocket.Conn
	gone    chan struct{}
	leaving bool // told to go: it gets no envelopes

	writing sync.Mutex
}

// envelope is one that was sent.
type envelope struct {
	attempt *Attempt
	acked   chan json.RawMessage
	open    bool
	sent    time.Time
}

func (s *Server) openConnection(*request) (reply, error) {
	ticket := s.id("ticket-")
	s.tickets[ticket] = true
	return reply{"url": "ws" + strings.TrimPrefix(s.base, "http") + "/link/?ticket=" + ticket + "&app_id=" + App}, nil
}

// serveSocket is a Socket Mode connection until it ends.
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
	defer ws.Close() //nolint:errcheck // it ends here
	for {
		_, body, err := ws.ReadMessage()
		if err != nil {
			return
		}
		s.acknowledge(body)
	}
}

// connect greets a connection and makes it one of the open ones.
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

// keepPinged pings, now and then, until the connection is gone.
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

// acknowledge takes a frame of the app's.
func (s *Server) acknowledge(body []byte) {
	var ack struct {
		EnvelopeID string          `json:"envelope_id"`
		Payload    json.RawMessage `json:"payload"`
	}
	if len(body) > maxAck || json.Unmarshal(body, &ack) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.envelopes[ack.EnvelopeID]
	if e == nil {
		return
	}
	if !e.open {
		if !e.attempt.Acked && e.attempt.Late == 0 {
			e.attempt.Late = time.Since(e.sent)
			s.change()
		}
		return
	}
	e.open = false
	e.acked <- ack.Payload
}

// attemptSocket delivers over one of the open connections. An event waits for
// one; anything else waits no longer than for its acknowledgement.
func (s *Server) attemptSocket(e *Event, a *Attempt, before <-chan struct{}, sent chan struct{}) {
	release := sync.OnceFunc(func() {
		if sent != nil {
			close(sent)
		}
	})
	defer release()
	var patience <-chan time.Time
	if e.Type != EventsAPI {
		patience = time.After(s.ackTimeout)
	}
	if before != nil {
		select {
		case <-before:
		case <-patience:
		case <-s.ctx.Done():
			return
		}
	}
	c, env := s.assign(e, a, patience)
	if c == nil {
		s.conclude(a, "no_connection", 0, nil)
		return
	}
	err := c.write(reply{
		"envelope_id": a.Envelope, "type": e.Type, "payload": e.Payload, "accepts_response_payload": e.Type != EventsAPI,
		"retry_attempt": a.Number, "retry_reason": a.Reason,
	})
	release()
	if err != nil {
		s.give(env)
		s.conclude(a, "connection_lost", 0, nil)
		return
	}
	s.awaitAck(a, c, env)
}

func (s *Server) awaitAck(a *Attempt, c *connection, env *envelope) {
	timer := time.NewTimer(s.ackTimeout)
	defer timer.Stop()
	failure := "timeout"
	select {
	case payload := <-env.acked:
		s.conclude(a, "", 0, payload)
		return
	case <-timer.C:
	case <-c.gone:
		failure = "connection_lost"
	case <-s.ctx.Done():
		failure = "closed"
	}
	if payload, acked := s.give(env); acked {
		s.conclude(a, "", 0, payload)
		return
	}
	s.conclude(a, failure, 0, nil)
}

// give gives an envelope up, unless it was acknowledged after all.
func (s *Server) give(env *envelope) (json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	env.open = false
	select {
	case payload := <-env.acked:
		return payload, true
	default:
		return nil, false
	}
}

// assign picks the connection for an event, in turn, waiting for one to open;
// nil if patience ends first. An event that had to wait has missed its first
// delivery.
func (s *Server) assign(e *Event, a *Attempt, patience <-chan time.Time) (*connection, *envelope) {
	for {
		s.mu.Lock()
		changed := s.changed
		if c := s.pickConnection(); c != nil {
			defer s.mu.Unlock()
			env := &envelope{attempt: a, acked: make(chan json.RawMessage, 1), open: true, sent: time.Now()}
			a.Envelope, a.Connection = s.id("envelope-"), c.number
			s.envelopes[a.Envelope] = env
			e.begin(a)
			return c, env
		}
		s.mu.Unlock()
		if a.Number == 0 && e.Type == EventsAPI {
			a.Number, a.Reason = 1, "timeout"
		}
		select {
		case <-changed:
		case <-patience:
			return nil, nil
		case <-s.ctx.Done():
			return nil, nil
		}
	}
}

func (s *Server) pickConnection() *connection {
	for range s.connections {
		s.next++
		if c := s.connections[s.next%len(s.connections)]; !c.leaving {
			return c
		}
	}
	return nil
}
