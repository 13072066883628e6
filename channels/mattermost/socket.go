package mattermost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
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
	maxFrame    = 4 << 20 // bytes
	// maxAhead bounds the events that are read before they are handled. The server notices
	// when further ones are not taken.
	maxAhead = 1000
)

// session is what it takes to resume after a connection was lost; the zero value is none.
type session struct {
	id  string
	seq int64 // of the next event
}

// connection is one connection to the websocket.
type connection struct {
	socket *websocket.Conn
	events chan event // closed when the connection ends
	err    error      // why it ended
	stop   context.CancelFunc
}

// dial connects, and asks for what came after the session's last event. A server that no
// longer has that begins another session, with "hello".
func (p *platform) dial(ctx context.Context, s session) (*connection, error) {
	address := "ws" + strings.TrimPrefix(p.o.URL, "http") + "/api/v4/websocket"
	if s.id != "" {
		address += "?" + url.Values{"connection_id": {s.id}, "sequence_number": {strconv.FormatInt(s.seq, 10)}}.Encode()
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: dialTimeout}
	// The server resumes only if it knows from the start who connects.
	socket, response, err := dialer.DialContext(ctx, address, http.Header{"Authorization": {"Bearer " + p.o.Token}})
	if err != nil {
		failed := &remote.Error{Service: Name, Err: fmt.Errorf("connect to the websocket: %w", err)}
		if response != nil {
			_ = response.Body.Close() // the status says enough
			failed.Status, failed.RetryAfter = http.StatusBadGateway, remote.RetryAfter(response.Header, time.Now())
		}
		return nil, failed
	}
	open, stop := context.WithCancel(ctx)
	c := &connection{socket: socket, events: make(chan event, maxAhead), stop: stop}
	go c.read(open, p.silent, p.o.Token)
	// If a proxy removed the header, this is how the server learns who we are.
	challenge := map[string]any{"seq": 1, "action": "authentication_challenge", "data": map[string]string{"token": p.o.Token}}
	_ = socket.SetWriteDeadline(time.Now().Add(sendTimeout))
	if err := socket.WriteJSON(challenge); err != nil {
		c.close()
		return nil, &remote.Error{Service: Name, Err: fmt.Errorf("authenticate with the websocket: %w", err)}
	}
	return c, nil
}

func (c *connection) close() {
	c.stop()
	_ = c.socket.Close() // nothing that was written matters any more
}

// read reads events until the connection or ctx ends. The error does not repeat the token.
func (c *connection) read(ctx context.Context, silence time.Duration, token string) {
	defer close(c.events)
	defer c.close()
	context.AfterFunc(ctx, c.close)
	c.socket.SetReadLimit(maxFrame)
	alive := func() { _ = c.socket.SetReadDeadline(time.Now().Add(silence)) }
	alive()
	c.socket.SetPongHandler(func(string) error {
		alive()
		return nil
	})
	go func() {
		for chat.Sleep(ctx, silence/3) {
			_ = c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(sendTimeout))
		}
	}()
	for {
		_, raw, err := c.socket.ReadMessage()
		if err != nil {
			c.err = web.RedactError(err, token)
			return
		}
		alive()
		var e event
		err = json.Unmarshal(raw, &e)
		if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err != nil && !odd { // an odd field is no reason to hang up
			c.err = fmt.Errorf("%w: %w", chat.ErrMalformed, err)
			return
		}
		select {
		case c.events <- e:
		case <-ctx.Done():
			return
		}
	}
}

var errEnded = errors.New("the connection was lost")

// next waits for events and returns those that are there.
func (c *connection) next(ctx context.Context) ([]event, error) {
	select {
	case first, open := <-c.events:
		if !open {
			return nil, &remote.Error{Service: Name, Err: fmt.Errorf("%w: %w", errEnded, c.err)}
		}
		events := []event{first}
		for range len(c.events) {
			events = append(events, <-c.events)
		}
		return events, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
