package whatsapptest

import (
	"net"
	"sync"
)

// Down makes the server unreachable until Up: it cuts existing and new connections.
func (s *Server) Down() {
	s.gate.set(true)
	s.gate.cut()
}

// Up ends Down.
func (s *Server) Up() { s.gate.set(false) }

// gate is a listener that can cut its connections.
type gate struct {
	net.Listener
	mu   sync.Mutex
	down bool
	open map[*tracked]struct{}
}

type tracked struct {
	net.Conn
	gate *gate
}

func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &tracked{Conn: conn, gate: g}
		g.mu.Lock()
		down := g.down
		g.open[c] = struct{}{}
		g.mu.Unlock()
		if !down {
			return c, nil
		}
		c.reset()
	}
}

func (g *gate) set(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = down
}

func (g *gate) cut() {
	g.mu.Lock()
	open := make([]*tracked, 0, len(g.open))
	for c := range g.open {
		open = append(open, c)
	}
	g.mu.Unlock()
	for _, c := range open {
		c.reset()
	}
}

// reset closes a connection so that the other side sees a reset.
func (c *tracked) reset() {
	if tcp, is := c.Conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

func (c *tracked) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.open, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
