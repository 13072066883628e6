package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	maxFrame     = 64 << 20 // bytes: a large server with its channels and members is one
	helloTimeout = 30 * time.Second
)

// The kinds of frames.
const (
	opDispatch       = 0
	opHeartbeat      = 1
	opIdentify       = 2
	opResume         = 6
	opReconnect      = 7
	opInvalidSession = 9
	opHello          = 10
	opHeartbeatAck   = 11
)

var (
	errSilent    = errors.New("discord does not answer heartbeats")
	errReconnect = errors.New("discord asks to connect again")
	errLost      = errors.New("discord has lost the session")
)

// frame is a message of the gateway.
type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s,omitempty"`
	Type string          `json:"t,omitempty"`
}

func frameOf(op int, data any) frame {
	encoded, _ := json.Marshal(data) // only maps, strings and numbers are
	return frame{Op: op, Data: encoded}
}

// connection is a connection to the gateway.
type connection struct {
	ws     *web.Socket
	alive  atomic.Bool           // the last heartbeat was answered
	failed atomic.Pointer[error] // why we closed it
}

func dial(ctx context.Context, address string) (*connection, error) {
	address, err := gatewayURL(address)
	if err != nil {
		return nil, &remote.Error{Service: Name, Err: err}
	}
	ws, err := web.Dial(ctx, Name, address, maxFrame)
	if err != nil {
		return nil, err
	}
	return &connection{ws: ws}, nil
}

func (c *connection) close() { _ = c.ws.Close() } // nothing that was written matters any more

// fail closes the connection without ending the session.
func (c *connection) fail(why error) {
	c.failed.CompareAndSwap(nil, &why)
	c.close()
}

// serve identifies and hands on events until the connection fails or ctx ends.
func (c *connection) serve(ctx context.Context, g *gateway) error {
	defer context.AfterFunc(ctx, c.leave)()
	interval, err := c.hello()
	if err != nil {
		return err
	}
	c.alive.Store(true)
	open, shut := context.WithCancel(ctx)
	var beating sync.WaitGroup
	defer beating.Wait()
	defer shut()
	beating.Go(func() { c.beat(open, g, interval) })
	if err := c.write(g.opening()); err != nil {
		return err
	}
	for {
		f, err := c.read()
		if err != nil {
			return err
		}
		if err := c.handle(ctx, g, f); err != nil {
			return err
		}
	}
}

// leave ends the session, so that the bot is shown as offline.
func (c *connection) leave() {
	_ = c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), time.Now().Add(time.Second))
	c.close()
}

// hello returns how often the gateway wants a heartbeat.
func (c *connection) hello() (time.Duration, error) {
	if err := c.ws.SetReadDeadline(time.Now().Add(helloTimeout)); err != nil {
		return 0, err
	}
	f, err := c.read()
	if err != nil {
		return 0, err
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if err := json.Unmarshal(f.Data, &hello); err != nil || f.Op != opHello || hello.Interval <= 0 {
		return 0, fmt.Errorf("%w: the gateway's first message is of kind %d", chat.ErrMalformed, f.Op)
	}
	return time.Duration(hello.Interval) * time.Millisecond, c.ws.SetReadDeadline(time.Time{})
}

// beat sends heartbeats, the first after a random part of the interval. If one is not answered
// before the next, nothing else would be noticed to be missing.
func (c *connection) beat(ctx context.Context, g *gateway, interval time.Duration) {
	for wait := time.Duration(rand.Float64() * float64(interval)); chat.Sleep(ctx, wait); wait = interval {
		if !c.alive.Swap(false) {
			c.fail(errSilent)
			return
		}
		if err := c.heartbeat(g); err != nil {
			c.fail(err)
			return
		}
	}
}

func (c *connection) heartbeat(g *gateway) error {
	return c.write(frameOf(opHeartbeat, g.session.seq.Load()))
}

func (c *connection) write(f frame) error { return c.ws.Send(f) }

func (c *connection) read() (f frame, err error) {
	_, data, err := c.ws.ReadMessage()
	if why := c.failed.Load(); why != nil {
		return f, *why
	}
	if err != nil {
		return f, fmt.Errorf("read from the gateway: %w", err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	return f, nil
}

// handle handles a frame. An error ends the connection.
func (c *connection) handle(ctx context.Context, g *gateway, f frame) error {
	switch f.Op {
	case opHeartbeatAck:
		c.alive.Store(true)
	case opHeartbeat:
		return c.heartbeat(g)
	case opReconnect:
		return errReconnect
	case opInvalidSession:
		if string(f.Data) != "true" {
			g.ended()
		}
		return errLost
	case opDispatch:
		g.dispatch(ctx, f)
		if f.Seq != nil {
			g.session.seq.Store(*f.Seq)
		}
	}
	return nil
}

// closeCode returns the code with which Discord closed a connection; 0 if it did not.
func closeCode(err error) int {
	if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
		return closed.Code
	}
	return 0
}
