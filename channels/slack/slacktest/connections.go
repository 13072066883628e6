package slacktest

import (
	"context"
	"slices"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
)

// Reasons for which Slack ends a Socket Mode connection.
const (
	Refresh      = "refresh_requested"
	Warning      = "warning"
	LinkDisabled = "link_disabled"
)

// Connections is how many Socket Mode connections are open.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.connections)
}

// AwaitConnections waits until exactly n Socket Mode connections are open. The
// error is that of ctx.
func (s *Server) AwaitConnections(ctx context.Context, n int) error {
	return s.Await(ctx, func() bool { return s.Connections() == n })
}

// Disconnect sends all Socket Mode connections a disconnect message with one of the
// reasons above and closes them. With Warning they stay open and receive envelopes
// until the client closes them.
func (s *Server) Disconnect(reason string) {
	for _, c := range s.openConnections() {
		_ = c.write(reply{"type": "disconnect", "reason": reason, "debug_info": reply{"host": "applink-1"}})
		if reason == Warning {
			continue
		}
		s.mu.Lock()
		c.leaving = true
		s.mu.Unlock()
		bye := websocket.FormatCloseMessage(websocket.CloseNormalClosure, reason)
		_ = c.ws.WriteControl(websocket.CloseMessage, bye, time.Now().Add(writeTimeout))
		_ = c.ws.SetReadDeadline(time.Now().Add(time.Second))
	}
}

// DropConnections cuts all Socket Mode connections without a message.
func (s *Server) DropConnections() {
	for _, c := range s.openConnections() {
		s.mu.Lock()
		c.leaving = true
		s.mu.Unlock()
		faulty.Reset(c.ws.NetConn())
	}
}

// SendFrame sends an unchanged text frame to all Socket Mode connections.
func (s *Server) SendFrame(frame string) {
	for _, c := range s.openConnections() {
		c.writing.Lock()
		_ = c.ws.WriteMessage(websocket.TextMessage, []byte(frame))
		c.writing.Unlock()
	}
}

func (s *Server) openConnections() []*connection {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.connections)
}
