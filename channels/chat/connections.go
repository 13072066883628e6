package chat

import (
	"net"
	"net/http"
	"sync"
)

// unused are the connections to a server on which nothing was sent yet, as proxies open them
// in advance. A server that shuts down would wait some seconds for them.
type unused struct {
	mu          sync.Mutex
	connections map[net.Conn]struct{}
}

// track is the [http.Server.ConnState] of the server.
func (u *unused) track(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.connections, c)
		return
	}
	if u.connections == nil {
		u.connections = map[net.Conn]struct{}{}
	}
	u.connections[c] = struct{}{}
}

func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for c := range u.connections {
		_ = c.Close() // nothing can be lost on it
	}
}
