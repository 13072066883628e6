package feishu

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	pingInterval     = 2 * time.Minute  // unless the platform says otherwise
	pongTimeout      = 15 * time.Second // after a ping, something must arrive
	handshakeTimeout = 15 * time.Second
	writeTimeout     = 10 * time.Second
	maxFrame         = 8 << 20 // bytes
)

// connectionConfig is how the platform wants a long connection to be kept.
type connectionConfig struct {
	PingInterval int `json:"PingInterval"` // seconds
}

// endpoint asks for the address of a long connection, which is for one use. Its error is
// never permanent: an app that may not connect now may later.
func (p *platform) endpoint(ctx context.Context) (*url.URL, error) {
	var answer struct {
		Data struct {
			URL    string           `json:"URL"`
			Config connectionConfig `json:"ClientConfig"`
		} `json:"data"`
	}
	err := p.call(ctx, request{
		name: "long connection", verb: http.MethodPost, path: "/callback/ws/endpoint", public: true,
		body: map[string]string{"AppID": p.appID, "AppSecret": p.secret},
	}, &answer)
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
	}
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(answer.Data.URL)
	if err != nil || address.Scheme != "wss" && (address.Scheme != "ws" || !strings.HasPrefix(p.base, "http:")) {
		return nil, &remote.Error{Service: Name, Err: errors.New("long connection: the platform gave no secure address")}
	}
	return address, nil
}

// receiveSocket receives over long connections until ctx ends.
func (p *platform) receiveSocket(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	ended := make(chan error, 1)
	go func() {
		ended <- chat.Retry(connected, p.log, "keeping a connection to feishu", func(connected context.Context) error {
			return p.connect(connected, ctx, in)
		})
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	if err := in.Drain(); err != nil {
		p.log.Warn("connection closed", "err", err)
	}
	disconnect()
	<-ended //nolint:errcheck // the connection was ended here
	p.log.Info("stopped")
	return nil
}

// socket is one long connection.
type socket struct {
	*platform
	in      chat.Inbox
	service int32
	ticker  *time.Ticker // pings
	every   time.Duration
	pieces  pieces

	mu   sync.Mutex // of writes
	conn *websocket.Conn
}

// connect opens a connection and receives from it until it breaks or ctx ends. Deliveries
// are handled until receiving ends.
func (p *platform) connect(ctx, receiving context.Context, in chat.Inbox) error {
	address, err := p.endpoint(ctx)
	if err != nil {
		return err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: handshakeTimeout}
	conn, response, err := dialer.DialContext(ctx, address.String(), nil)
	if err != nil {
		return refusedHandshake(response, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // which ends the read below
	conn.SetReadLimit(maxFrame)
	service, _ := strconv.ParseInt(address.Query().Get("service_id"), 10, 32)
	s := &socket{platform: p, in: in, service: int32(service), conn: conn, pieces: pieces{}, every: cmp.Or(p.pings, pingInterval)}
	s.ticker = time.NewTicker(s.every)
	defer s.ticker.Stop()
	over := make(chan struct{})
	defer close(over)
	go s.ping(over)
	p.log.Info("receiving", "service_id", service)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(s.every + s.silence)) // fails only if it is closed, as does the read
		kind, data, err := conn.ReadMessage()
		if err != nil {
			return &remote.Error{Service: Name, Err: fmt.Errorf("long connection: %w", err)}
		}
		if kind != websocket.BinaryMessage {
			continue
		}
		f, err := decodeFrame(data)
		if err != nil {
			p.log.Error("frame ignored", "err", err)
			continue
		}
		s.on(receiving, f)
	}
}

// refusedHandshake returns why a connection was not opened.
func refusedHandshake(response *http.Response, err error) error {
	failed := &remote.Error{Service: Name, Err: fmt.Errorf("long connection: %w", err)}
	if response == nil {
		return failed
	}
	defer response.Body.Close()
	if why := response.Header.Get("Handshake-Msg"); why != "" {
		failed.Err = fmt.Errorf("%w: %s (%s)", failed.Err, why,
			cmp.Or(response.Header.Get("Handshake-Autherrcode"), response.Header.Get("Handshake-Status")))
	}
	return failed
}

func (s *socket) ping(over <-chan struct{}) {
	s.write(frame{Service: s.service, Method: frameControl, Headers: []header{{"type", "ping"}}})
	for {
		select {
		case <-s.ticker.C:
			s.write(frame{Service: s.service, Method: frameControl, Headers: []header{{"type", "ping"}}})
		case <-over:
			return
		}
	}
}

// write writes a frame. If it fails, so does the read, and what was not acknowledged is
// delivered again.
func (s *socket) write(f frame) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
	if err := s.conn.WriteMessage(websocket.BinaryMessage, f.encode()); err != nil {
		s.log.Debug("frame not sent", "err", err)
		_ = s.conn.Close()
	}
}

func (s *socket) on(ctx context.Context, f frame) {
	switch {
	case f.Method == frameControl && f.header("type") == "pong":
		s.configure(f.Payload)
	case f.Method == frameData && (f.header("type") == "event" || f.header("type") == "card"):
		s.receive(ctx, f)
	}
}

// configure takes over the ping interval that a pong names.
func (s *socket) configure(payload []byte) {
	var config connectionConfig
	if json.Unmarshal(payload, &config) != nil || config.PingInterval < 1 || s.pings != 0 {
		return
	}
	if every := min(time.Duration(config.PingInterval)*time.Second, 10*pingInterval); every != s.every {
		s.every = every
		s.ticker.Reset(every)
	}
}

// receive handles an event in the background, and acknowledges it by the frame that
// completed it.
func (s *socket) receive(ctx context.Context, f frame) {
	sum, _ := strconv.Atoi(f.header("sum"))
	seq, _ := strconv.Atoi(f.header("seq"))
	whole, err := s.pieces.add(f.header("message_id"), sum, seq, f.Payload)
	if err != nil || whole == nil {
		s.logUnread(err)
		return
	}
	began := time.Now()
	done := func(reply any, err error) {
		if err != nil && ctx.Err() == nil {
			s.log.Error("not acknowledged, feishu will deliver it again", "err", err)
		}
		s.acknowledge(f, time.Since(began), reply, err)
	}
	payload, err := decrypted(whole, s.o.EncryptKey)
	if err != nil {
		done(nil, err)
		return
	}
	d, reply, err := s.parse(payload)
	if err != nil || d == nil {
		done(reply, err)
		return
	}
	s.in.Queue(ctx, d, func(_ string, err error) { done(reply, err) })
}

func (s *socket) logUnread(err error) {
	if err != nil {
		s.log.Error("pieces of a message ignored", "err", err)
	}
}

// acknowledge returns the frame with what became of its event.
func (s *socket) acknowledge(f frame, took time.Duration, reply any, err error) {
	answer := struct {
		Code int    `json:"code"`
		Data []byte `json:"data,omitempty"`
	}{Code: http.StatusOK}
	if err != nil {
		answer.Code = http.StatusInternalServerError
	} else if reply != nil {
		answer.Data, _ = json.Marshal(reply) // made here, of what JSON can encode
	}
	f.Headers = append(f.Headers, header{"biz_rt", strconv.FormatInt(took.Milliseconds(), 10)})
	f.Payload, _ = json.Marshal(answer)
	s.write(f)
}
