package dingtalk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// maxSilence is how long a connection may be silent before it counts as lost; we ping
	// three times as often.
	maxSilence  = 90 * time.Second
	dialTimeout = 15 * time.Second
	sendTimeout = 10 * time.Second
	// leaveWithin is how long a connection is still read after DingTalk announced its end,
	// which comes after ten seconds.
	leaveWithin = 15 * time.Second
	maxFrame    = 4 << 20
	// retryFor is how long a message that was not accepted is kept and tried again: DingTalk
	// promises no second delivery.
	retryFor = 2 * time.Minute
)

// What is delivered.
const (
	topicRobot = "/v1.0/im/bot/messages/get"
	topicCard  = "/v1.0/card/instances/callback"
)

// frame is what DingTalk sends.
type frame struct {
	Type    string `json:"type"`
	Headers struct {
		Topic     string `json:"topic"`
		MessageID string `json:"messageId"`
	} `json:"headers"`
	Data string `json:"data"`
}

// answer is what we send.
type answer struct {
	Code    int               `json:"code"`
	Headers map[string]string `json:"headers"`
	Message string            `json:"message"`
	Data    string            `json:"data"`
}

// connection is one connection to DingTalk.
type connection struct {
	*platform
	in      chat.Inbox
	socket  *web.Socket
	leaving func() // called when DingTalk announces the end of the connection
}

// Receive implements [chat.Platform]. When DingTalk announces the end of a connection,
// another is opened while the first is still read.
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return in.Drain()
	}
	open, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	var connections sync.WaitGroup
	defer connections.Wait()
	for ctx.Err() == nil {
		next, renew := context.WithCancel(ctx)
		connections.Go(func() {
			defer renew()
			err := chat.Retry(ctx, p.o.Logger, "connecting to dingtalk", func(ctx context.Context) error { return p.connect(ctx, open, in, renew) })
			if err != nil && ctx.Err() == nil {
				p.o.Logger.Error("connecting to dingtalk failed, will try again", "err", err)
				chat.Sleep(ctx, chat.LastPause)
			}
		})
		<-next.Done()
	}
	err := in.Drain()
	disconnect()
	return err
}

// connect opens a connection and reads it until it ends. It returns nil once DingTalk has
// announced that.
func (p *platform) connect(ctx, open context.Context, in chat.Inbox, renew func()) error {
	socket, err := p.dial(ctx)
	if err != nil {
		return err
	}
	p.o.Logger.Info("receiving", "robot", p.o.RobotCode)
	left := false
	c := &connection{platform: p, in: in, socket: socket, leaving: func() {
		left = true
		renew()
		time.AfterFunc(leaveWithin, func() { _ = socket.Close() })
	}}
	stop := context.AfterFunc(open, func() { _ = socket.Close() })
	defer stop()
	defer socket.Close()
	err = c.read(ctx)
	if left || ctx.Err() != nil {
		p.o.Logger.Debug("connection closed", "err", err)
		return nil
	}
	return &remote.Error{Service: Name, Err: fmt.Errorf("the connection was lost: %w", err)}
}

// dial asks for a ticket, which is for one connection, and uses it.
func (p *platform) dial(ctx context.Context) (*web.Socket, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	var place struct{ Endpoint, Ticket string }
	err := p.call(ctx, http.MethodPost, "/v1.0/gateway/connections/open", "", map[string]any{
		"clientId": p.o.ClientID, "clientSecret": p.o.ClientSecret, "ua": "holdfast",
		"subscriptions": []map[string]string{{"type": "CALLBACK", "topic": topicRobot}, {"type": "CALLBACK", "topic": topicCard}},
	}, &place)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(place.Endpoint)
	if err != nil || !p.o.trusts(at) {
		return nil, &remote.Error{Service: Name, Err: errors.New("the address of the stream is not one of DingTalk's")}
	}
	return web.Dial(ctx, Name, place.Endpoint+"?ticket="+url.QueryEscape(place.Ticket), maxFrame)
}

// read handles frames until the connection ends.
func (c *connection) read(ctx context.Context) error {
	alive := func() { _ = c.socket.SetReadDeadline(time.Now().Add(c.silent)) }
	alive()
	c.socket.SetPongHandler(func(string) error {
		alive()
		return nil
	})
	pinging, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	go func() {
		for chat.Sleep(pinging, c.silent/3) {
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(sendTimeout))
		}
	}()
	for {
		_, raw, err := c.socket.ReadMessage()
		if err != nil {
			return err
		}
		alive()
		var f frame
		if err := json.Unmarshal(raw, &f); err != nil {
			c.o.Logger.Error("a frame from DingTalk cannot be read", "bytes", len(raw), "err", err)
			continue
		}
		c.handle(ctx, &f)
	}
}

// handle handles a frame. What it delivers is answered once it was accepted.
func (c *connection) handle(ctx context.Context, f *frame) {
	switch f.Type {
	case "SYSTEM":
		switch f.Headers.Topic {
		case "ping":
			c.answer(f, http.StatusOK, f.Data)
		case "disconnect":
			c.leaving()
		}
	case "EVENT": // none are subscribed to
		c.answer(f, http.StatusOK, `{"status":"SUCCESS"}`)
	case "CALLBACK":
		c.deliver(ctx, f)
	}
}

func (c *connection) deliver(ctx context.Context, f *frame) {
	const accepted = `{"response":null}`
	d, err := c.parse(ctx, f)
	switch {
	case errors.Is(err, chat.ErrMalformed), errors.Is(err, chat.ErrPanic):
		c.o.Logger.Error("a delivery from DingTalk cannot be read", "topic", f.Headers.Topic, "err", err)
		c.answer(f, http.StatusOK, accepted) // another delivery would not help
	case err != nil:
		c.o.Logger.Error("not acknowledged", "topic", f.Headers.Topic, "err", err)
		c.answer(f, http.StatusInternalServerError, `{}`)
	case d == nil:
		c.answer(f, http.StatusOK, accepted)
	default:
		c.in.Queue(ctx, d, func(_ string, err error) {
			if err == nil {
				c.answer(f, http.StatusOK, accepted)
				return
			}
			c.answer(f, http.StatusInternalServerError, `{}`)
			c.again(ctx, d, err)
		})
	}
}

// again tries to deliver something that was not accepted, whether or not DingTalk sends it
// again: its copies are recognized.
func (c *connection) again(ctx context.Context, d chat.Delivery, err error) {
	if ctx.Err() != nil {
		return
	}
	c.o.Logger.Error("a message was not accepted, will try again", "err", err)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, retryFor)
		defer cancel()
		err := chat.Retry(ctx, c.o.Logger, "accepting a message", func(ctx context.Context) error {
			_, err := c.in.Deliver(ctx, d)
			return err
		})
		if err != nil {
			c.o.Logger.Error("a message was not accepted and is lost unless DingTalk sends it again", "err", err)
		}
	}()
}

// answer answers a frame.
func (c *connection) answer(f *frame, code int, data string) {
	message := "OK"
	if code != http.StatusOK {
		message = "not accepted"
	}
	err := c.socket.Send(answer{
		Code: code, Headers: map[string]string{"contentType": "application/json", "messageId": f.Headers.MessageID}, Message: message, Data: data,
	})
	if err != nil {
		c.o.Logger.Warn("answer not sent, DingTalk may deliver again", "topic", f.Headers.Topic, "err", err)
	}
}
