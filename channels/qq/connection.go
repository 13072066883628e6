package qq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

var (
	errInvalidSession = errors.New("the session is no longer valid")
	errReconnect      = errors.New("qq asks to reconnect")
	errSilent         = errors.New("the gateway does not answer heartbeats")
)

// connection is one connection to the gateway.
type connection struct {
	*gateway
	socket *web.Socket
	cancel context.CancelFunc
	every  time.Duration // between heartbeats
	id     string        // the session's; set by the goroutine that reads, before the first event
	used   string        // the access token

	mu     sync.Mutex
	seen   int64          // the last event
	unseen bool           // no event yet
	order  []int64        // events that are not accepted, or come after such, in their order
	done   map[int64]bool // those of them that are accepted
	beaten bool           // the last heartbeat is not answered
	failed error          // why the connection was given up
}

// run reads from the connection until it ends.
func (c *connection) run(ctx context.Context, running *sync.WaitGroup) error {
	if err := c.hello(); err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		return err
	}
	running.Go(func() { c.beat(ctx) })
	for {
		_ = c.socket.SetReadDeadline(time.Now().Add(2*c.every + helloTimeout))
		f, err := c.read()
		if err == nil {
			err = c.handle(ctx, f)
		}
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.failed != nil {
				return c.failed
			}
			return err
		}
	}
}

// read returns the next frame. What is no frame is ignored.
func (c *connection) read() (f frame, err error) {
	for {
		_, data, err := c.socket.ReadMessage()
		if err != nil {
			return f, err
		}
		f = frame{Op: -1}
		if err := json.Unmarshal(data, &f); err == nil {
			return f, nil
		}
		c.o.Logger.Error("invalid frame from qq", "bytes", len(data))
	}
}

func (c *connection) write(op int, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode a frame: %w", err)
	}
	return c.socket.Send(frame{Op: op, Data: encoded})
}

// hello reads the gateway's first frame.
func (c *connection) hello() error {
	_ = c.socket.SetReadDeadline(time.Now().Add(helloTimeout))
	f, err := c.read()
	if err != nil {
		return err
	}
	var hello struct {
		Every int64 `json:"heartbeat_interval"` // milliseconds
	}
	if err := json.Unmarshal(f.Data, &hello); f.Op != opHello || err != nil || hello.Every <= 0 {
		return errors.New("the gateway does not say hello")
	}
	c.every = min(time.Duration(min(hello.Every, maxHeartbeat.Milliseconds()))*time.Millisecond, maxHeartbeat)
	return nil
}

// begin resumes the session, or opens one.
func (c *connection) begin(ctx context.Context) error {
	token, err := c.token.Get(ctx)
	if err != nil {
		return err
	}
	c.used = token
	c.gateway.mu.Lock()
	session, seq := c.session, c.accepted
	c.gateway.mu.Unlock()
	if session != "" {
		c.id, c.seen = session, seq
		return c.write(opResume, map[string]any{"token": "QQBot " + token, "session_id": session, "seq": seq})
	}
	c.unseen = true
	return c.write(opIdentify, map[string]any{
		"token": "QQBot " + token, "intents": intents, "shard": [2]int{0, 1}, "properties": map[string]string{},
	})
}

func (c *connection) handle(ctx context.Context, f frame) error {
	switch f.Op {
	case opDispatch:
		return c.dispatch(ctx, f)
	case opHeartbeat:
		return c.heartbeat()
	case opReconnect:
		return errReconnect
	case opInvalidSession:
		return errInvalidSession
	case opHeartbeatAck:
		c.mu.Lock()
		defer c.mu.Unlock()
		c.beaten = false
	}
	return nil
}

// dispatch hands an event to the inbox. One that cannot be read is skipped: it would be the
// same again.
func (c *connection) dispatch(ctx context.Context, f frame) error {
	if f.Type == "RESUMED" {
		c.o.Logger.Info("receiving again")
		return nil
	}
	c.mu.Lock()
	c.seen, c.unseen = f.Seq, false
	c.order = append(c.order, f.Seq)
	c.mu.Unlock()
	switch f.Type {
	case "READY":
		var ready struct {
			Session string `json:"session_id"`
		}
		if err := json.Unmarshal(f.Data, &ready); err != nil || ready.Session == "" {
			return errors.New("the gateway names no session")
		}
		c.id = ready.Session
		c.gateway.mu.Lock()
		c.session, c.accepted = ready.Session, 0
		c.gateway.mu.Unlock()
		c.o.Logger.Info("receiving")
	default:
		d, err := readEvent(f.Type, f.Data)
		if err != nil {
			c.o.Logger.Error("invalid event", "type", f.Type, "err", err)
		}
		if d != nil && err == nil {
			c.in.Queue(ctx, d, func(_ string, err error) { c.handled(ctx, f.Seq, err) })
			return nil
		}
	}
	c.handled(ctx, f.Seq, nil)
	return nil
}

// handled moves the session on once all events before are accepted. After one that was not
// accepted the connection is given up: the next one begins there.
func (c *connection) handled(ctx context.Context, seq int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			c.failed = fmt.Errorf("not accepted, qq will deliver it again: %w", err)
			c.cancel()
		}
		return
	}
	c.done[seq] = true
	last := int64(-1)
	for len(c.order) > 0 && c.done[c.order[0]] {
		last = c.order[0]
		delete(c.done, last)
		c.order = c.order[1:]
	}
	if last >= 0 {
		c.moveTo(ctx, c.id, last)
	}
}

// beat sends heartbeats until ctx ends, or one is not answered.
func (c *connection) beat(ctx context.Context) {
	ticker := time.NewTicker(c.every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		c.mu.Lock()
		silent := c.beaten
		c.beaten = true
		if silent {
			c.failed = errSilent
		}
		c.mu.Unlock()
		if silent || c.heartbeat() != nil {
			c.cancel()
			return
		}
	}
}

func (c *connection) heartbeat() error {
	c.mu.Lock()
	var last any = c.seen
	if c.unseen {
		last = nil
	}
	c.mu.Unlock()
	return c.write(opHeartbeat, last)
}

// ended forgets the session if it cannot be resumed, and returns why a connection ended.
func (c *connection) ended(err error) error {
	if remote.As(err) != nil {
		return err
	}
	code := 0
	if closed, is := errors.AsType[*websocket.CloseError](err); is {
		code = closed.Code
	}
	err = web.RedactError(err, c.used)
	switch {
	case errors.Is(err, errInvalidSession), code == 4006, code == 4007, code >= 4900 && code <= 4913:
		c.forget()
	case code == 4001, code == 4002, code >= 4010 && code <= 4014, code == 4914, code == 4915:
		c.forget()
		return &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, RetryAfter: web.OperatorDelay, Err: fmt.Errorf("%s: %w", closeCodes[code], err)}
	case code == 4004, code == 9001, code == 9005: // the token
		c.token.Reject(c.used)
	}
	return &remote.Error{Service: Name, Err: err}
}

// closeCodes says what the operator has to fix.
var closeCodes = map[int]string{
	4013: "the bot may not receive messages of groups and direct chats", 4014: "the bot may not receive messages of groups and direct chats",
	4914: "the bot is not released: use the sandbox (channels.qq.api_url)", 4915: "the bot is banned",
}
