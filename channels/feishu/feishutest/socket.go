package feishutest

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/encoding/protowire"
)

// connection is a long connection of a client.
type connection struct {
	conn *websocket.Conn

	mu      sync.Mutex // of writes and of acks
	waiting map[string]chan ack
	mute    bool // nothing is written any more
	over    bool
}

// ack is a client's answer to an event.
type ack struct {
	code int
	data []byte
}

var errCut = errors.New("feishutest: the connection was cut")

// RefuseConnections refuses the next n requests for a connection as if there were too many.
func (s *Server) RefuseConnections(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuseConns = n
}

func (s *Server) endpoint(c *call) any {
	switch {
	case c.body["AppID"] != AppID || c.body["AppSecret"] != AppSecret:
		return map[string]any{"code": 514, "msg": "auth failed"}
	case s.refuseConns > 0:
		s.refuseConns--
		return map[string]any{"code": 1000040350, "msg": "system busy"}
	}
	ticket := s.id("ticket")
	s.tokens[ticket] = s.now().Add(time.Minute)
	return map[string]any{"code": 0, "msg": "", "data": map[string]any{
		"URL":          strings.Replace(s.URL(), "http", "ws", 1) + "/connect?device_id=1&service_id=33554678&ticket=" + ticket,
		"ClientConfig": s.clientConfig(),
	}}
}

func (s *Server) clientConfig() map[string]any {
	return map[string]any{"ReconnectCount": -1, "ReconnectInterval": 120, "ReconnectNonce": 30, "PingInterval": s.pingSeconds}
}

var upgrader = websocket.Upgrader{}

// connect serves a long connection.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	ticket := r.URL.Query().Get("ticket")
	known := s.now().Before(s.tokens[ticket])
	delete(s.tokens, ticket) // it is for one use
	s.mu.Unlock()
	if !known {
		w.Header().Set("Handshake-Status", "514")
		w.Header().Set("Handshake-Msg", "invalid ticket")
		w.WriteHeader(http.StatusForbidden)
		return
	}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	c := &connection{conn: conn, waiting: map[string]chan ack{}}
	s.mu.Lock()
	s.connections[c] = true
	s.Changed()
	s.mu.Unlock()
	s.read(c)
	_ = conn.Close()
	c.mu.Lock()
	c.over = true
	for id, waits := range c.waiting {
		close(waits)
		delete(c.waiting, id)
	}
	c.mu.Unlock()
	s.mu.Lock()
	delete(s.connections, c)
	s.Changed()
	s.mu.Unlock()
}

// read reads a client's frames until it goes.
func (s *Server) read(c *connection) {
	for {
		_, data, err := c.conn.ReadMessage()
		if err != nil {
			return
		}
		f, ok := decode(data)
		if !ok {
			return
		}
		switch {
		case f.method == 0 && f.headers["type"] == "ping":
			s.mu.Lock()
			s.pings++
			config, _ := json.Marshal(s.clientConfig())
			s.Changed()
			s.mu.Unlock()
			c.write(wire{service: f.service, headers: map[string]string{"type": "pong"}, payload: config})
		case f.method == 1:
			c.acked(f)
		}
	}
}

func (c *connection) acked(f wire) {
	var answer struct {
		Code int    `json:"code"`
		Data string `json:"data"`
	}
	if json.Unmarshal(f.payload, &answer) != nil {
		return
	}
	data, _ := base64.StdEncoding.DecodeString(answer.Data)
	c.mu.Lock()
	defer c.mu.Unlock()
	if waits := c.waiting[f.headers["message_id"]]; waits != nil {
		waits <- ack{answer.Code, data}
		delete(c.waiting, f.headers["message_id"])
	}
}

func (c *connection) write(f wire) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mute {
		_ = c.conn.WriteMessage(websocket.BinaryMessage, f.encode())
	}
}

// push sends an event and returns where its answer arrives; the channel is closed if the
// connection is.
func (s *Server) push(c *connection, id string, payload []byte) <-chan ack {
	waits := make(chan ack, 1)
	c.mu.Lock()
	if c.waiting[id] = waits; c.over {
		close(waits)
	}
	c.mu.Unlock()
	pieces := cut(payload, s.pieceSize)
	for i, piece := range pieces {
		c.write(wire{seq: 1, log: 2, service: 33554678, method: 1, payload: piece, headers: map[string]string{
			"type": "event", "message_id": id, "trace_id": "trace-" + id, "sum": strconv.Itoa(len(pieces)), "seq": strconv.Itoa(i),
		}})
	}
	return waits
}

func cut(payload []byte, size int) (pieces [][]byte) {
	for size > 0 && len(payload) > size {
		pieces, payload = append(pieces, payload[:size]), payload[size:]
	}
	return append(pieces, payload)
}

// Pings returns how often clients pinged.
func (s *Server) Pings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pings
}

// CutConnections cuts all long connections.
func (s *Server) CutConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		_ = c.conn.NetConn().Close()
		delete(s.connections, c)
	}
}

// MuteConnections keeps the connections that there are open, and says nothing on them any
// more.
func (s *Server) MuteConnections() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.mu.Lock()
		c.mute = true
		c.mu.Unlock()
		delete(s.connections, c)
	}
}

// Send sends bytes as a frame on all connections.
func (s *Server) Send(frame []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.mu.Lock()
		_ = c.conn.WriteMessage(websocket.BinaryMessage, frame)
		c.mu.Unlock()
	}
}

// Connections returns how many long connections there are.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connections)
}

// wire is a frame.
type wire struct {
	seq, log        uint64
	service, method uint64
	headers         map[string]string
	payload         []byte
}

func (f wire) encode() []byte {
	var b []byte
	for i, v := range []uint64{f.seq, f.log, f.service, f.method} {
		b = protowire.AppendTag(b, protowire.Number(i+1), protowire.VarintType)
		b = protowire.AppendVarint(b, v)
	}
	for key, value := range f.headers {
		var pair []byte
		pair = protowire.AppendTag(pair, 1, protowire.BytesType)
		pair = protowire.AppendString(pair, key)
		pair = protowire.AppendTag(pair, 2, protowire.BytesType)
		pair = protowire.AppendString(pair, value)
		b = protowire.AppendTag(b, 5, protowire.BytesType)
		b = protowire.AppendBytes(b, pair)
	}
	b = protowire.AppendTag(b, 8, protowire.BytesType)
	return protowire.AppendBytes(b, f.payload)
}

// decode decodes a frame. It reports false if a required field is missing, as the platform's
// own decoders do.
func decode(b []byte) (wire, bool) {
	f := wire{headers: map[string]string{}}
	seen := 0
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return f, false
		}
		b = b[n:]
		switch {
		case number >= 1 && number <= 4 && kind == protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n < 0 {
				return f, false
			}
			*[]*uint64{&f.seq, &f.log, &f.service, &f.method}[number-1] = v
			seen |= 1 << number
		case number == 5 && kind == protowire.BytesType:
			var pair []byte
			if pair, n = protowire.ConsumeBytes(b); n < 0 {
				return f, false
			}
			key, value := decodePair(pair)
			f.headers[key] = value
		case number == 8 && kind == protowire.BytesType:
			if f.payload, n = protowire.ConsumeBytes(b); n < 0 {
				return f, false
			}
		default:
			if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
				return f, false
			}
		}
		b = b[n:]
	}
	return f, seen == 0b11110
}

func decodePair(b []byte) (key, value string) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 || kind != protowire.BytesType {
			return key, value
		}
		text, m := protowire.ConsumeString(b[n:])
		if m < 0 {
			return key, value
		}
		if b = b[n+m:]; number == 1 {
			key = text
		} else {
			value = text
		}
	}
	return key, value
}
