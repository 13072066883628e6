package web

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	handshakeTimeout = 15 * time.Second
	writeTimeout     = 10 * time.Second
)

// Socket is a websocket connection. Writes are safe for concurrent use.
type Socket struct {
	*websocket.Conn
	mu sync.Mutex // of writes
}

// Dial opens a connection that takes frames of up to maxFrame bytes. The error is a
// [remote.Error].
func Dial(ctx context.Context, service, address string, maxFrame int64) (*Socket, error) {
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: handshakeTimeout}
	conn, response, err := dialer.DialContext(ctx, address, nil)
	if err != nil {
		failed := &remote.Error{Service: service, Err: fmt.Errorf("open the connection: %w", remote.WithoutURL(err))}
		if response != nil {
			_ = response.Body.Close()
			failed.Status, failed.RetryAfter = http.StatusBadGateway, remote.RetryAfter(response.Header, time.Now())
		}
		return nil, failed
	}
	conn.SetReadLimit(maxFrame)
	return &Socket{Conn: conn}, nil
}

// Send writes a frame of JSON.
func (s *Socket) Send(frame any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	return s.WriteJSON(frame)
}
