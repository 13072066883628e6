package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// pingTimeout is how long a connection may be silent: Slack pings more often.
	pingTimeout = 30 * time.Second
	// ackTimeout bounds how long an acknowledgement waits for a connection. Slack
	// delivers again before that.
	ackTimeout = 10 * time.Second
	// lastAcks is how long the connection is kept for the last acknowledgements: the
	// library does not tell when it has written one.
	lastAcks = 200 * time.Millisecond
)

// socket is the connection of Socket Mode.
type socket struct {
	*platform
	in         chat.Inbox
	client     *socketmode.Client
	connection context.Context // of the connection: ends after that of Receive
	acks       sync.WaitGroup  // of what asks for nothing else

	mu        sync.Mutex
	reconnect context.CancelFunc // ends the library's current attempts
}

// receiveSocket receives over Socket Mode until ctx ends.
func (p *platform) receiveSocket(ctx context.Context, in chat.Inbox) error {
	if err := in.Ready(ctx); err != nil {
		return err
	}
	connection, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	s := &socket{platform: p, in: in, connection: connection, client: socketmode.New(p.api,
		socketmode.OptionPingInterval(cmp.Or(p.pingTimeout, pingTimeout)),
		socketmode.OptionLog(slog.NewLogLogger(p.log.Handler(), slog.LevelDebug)),
	)}
	ended := make(chan error, 1)
	go func() { ended <- chat.Retry(connection, p.log, "connecting to slack", s.connect) }()
	for {
		select {
		case err := <-ended:
			return err
		case event := <-s.client.Events:
			s.on(ctx, event)
		case <-ctx.Done():
			if err := in.Drain(); err != nil {
				p.log.Warn("connection closed", "err", err)
			}
			chat.Sleep(connection, lastAcks)
			disconnect()
			<-ended //nolint:errcheck // the connection was ended here
			s.acks.Wait()
			p.log.Info("stopped")
			return nil
		}
	}
}

// connect keeps a connection until ctx ends. The library reconnects by itself; it gives
// up when Slack refuses the token, and sometimes without need.
func (s *socket) connect(ctx context.Context) error {
	attempts, cancel := context.WithCancel(ctx)
	defer cancel()
	s.mu.Lock()
	s.reconnect = cancel
	s.mu.Unlock()
	err := s.failure(s.client.RunContext(attempts))
	if failed := remote.As(err); failed.Permanent() || failed.RetryAfter > 0 {
		return fmt.Errorf("connect to slack: %w; check channels.slack.app_token", err)
	}
	return err
}

// on handles an event of the library.
func (s *socket) on(ctx context.Context, event socketmode.Event) {
	switch event.Type {
	case socketmode.EventTypeEventsAPI, socketmode.EventTypeInteractive, socketmode.EventTypeSlashCommand:
		s.handle(ctx, event.Request)
	case socketmode.EventTypeErrorBadMessage:
		s.onUnread(ctx, event.Data)
	case socketmode.EventTypeHello:
		s.log.Info("receiving", "app_id", event.Request.ConnectionInfo.AppID, "connections", event.Request.NumConnections)
	case socketmode.EventTypeConnectionError:
		s.onConnectionError(event.Data)
	default: // Slack moves connections every few hours
		s.log.Debug("connection", "event", string(event.Type))
	}
}

// onConnectionError limits the pauses between attempts: the library's grow to five
// minutes.
func (s *socket) onConnectionError(data any) {
	failed, ok := data.(*slack.ConnectionErrorEvent)
	if !ok {
		return
	}
	s.log.Warn("no connection to slack, will try again", "in", failed.Backoff, "err", s.redact(failed.ErrorObj))
	if failed.Backoff > chat.LastPause && remote.As(failure(failed.ErrorObj)).RetryAfter == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reconnect()
	}
}

// onUnread handles an envelope that the library cannot parse: it does not know all
// events, and rejects blocks that we do not read.
func (s *socket) onUnread(ctx context.Context, data any) {
	bad, ok := data.(*socketmode.ErrorBadMessage)
	if !ok {
		return
	}
	var request socketmode.Request
	if err := json.Unmarshal(bad.Message, &request); err != nil || request.EnvelopeID == "" {
		s.log.Error("invalid message from slack", "err", bad.Cause)
		return
	}
	s.handle(ctx, &request)
}

// handle has an envelope handled in the background, and acknowledges it. One that was not
// handled will be delivered again.
func (s *socket) handle(ctx context.Context, request *socketmode.Request) {
	done := func(reply any, err error) {
		switch {
		case err == nil:
			s.ack(request.EnvelopeID, reply) //nolint:contextcheck // what was accepted is acknowledged even if ctx has ended
		case ctx.Err() == nil:
			s.log.Error("not acknowledged, slack will deliver it again", "type", request.Type, "retry", request.RetryAttempt, "err", err)
		}
	}
	d, reply, err := s.parse(request.Type, request.Payload)
	if err != nil || d == nil {
		s.acks.Go(func() { done(reply, err) })
		return
	}
	s.in.Queue(ctx, d, func(answer string, err error) { done(ephemeral(answer), err) })
}

func (s *socket) ack(envelope string, reply any) {
	ctx, cancel := context.WithTimeout(s.connection, ackTimeout)
	defer cancel()
	if err := s.client.AckCtx(ctx, envelope, reply); err != nil {
		s.log.Warn("acknowledgement not sent, slack will deliver it again", "err", err)
	}
}
