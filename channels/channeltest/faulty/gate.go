package faulty

import (
	"net"
	"sync"
)

// Gate is a listener that can cut its connections. Safe for concurrent use.
type Gate struct {
	net.Listener
	mu   sync.Mutex
	down bool
	open map[*tracked]struct{}
}

// NewGate returns a gate that lets the connections of a listener through.
func NewGate(l net.Listener) *Gate { return &Gate{Listener: l, open: map[*tracked]struct{}{}} }

type tracked struct {
	net.Conn
	gate *Gate
}

// Accept implements net.Listener.
func (g *Gate) Accept() (net.Conn, error) {
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

// Down makes the listener unreachable until Up: it cuts existing and new connections.
func (g *Gate) Down() {
	g.set(true)
	g.Cut()
}

// Up ends Down.
func (g *Gate) Up() { g.set(false) }

func (g *Gate) set(down bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.down = down
}

// Cut cuts the existing connections.
func (g *Gate) Cut() {
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

// Reset cuts a connection that a Gate accepted.
func Reset(c net.Conn) { c.(*tracked).reset() } //nolint:forcetypeassert // a test's mistake

// reset closes a connection so that the other side sees a reset.
func (c *tracked) reset() {
	if tcp, is := c.Conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// Close implements net.Conn.
func (c *tracked) Close() error {
	c.gate.mu.Lock()
	delete(c.gate.open, c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}
