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
	*receiver
	client *socketmode.Client

	mu        sync.Mutex
	reconnect context.CancelFunc // gives up the library's present attempts
}

// runSocket receives over Socket Mode until ctx ends.
func (r *receiver) runSocket(ctx context.Context) error {
	if err := r.identify(ctx); err != nil {
		return err
	}
	s := &socket{receiver: r, client: socketmode.New(r.c.api,
		socketmode.OptionPingInterval(cmp.Or(r.c.pingTimeout, pingTimeout)),
		socketmode.OptionLog(slog.NewLogLogger(r.log.Handler(), slog.LevelDebug)),
	)}
	connection, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.connect(connection) }()
	defer disconnect()
	for {
		select {
		case err := <-ended:
			return err
		case event := <-s.client.Events:
			s.on(ctx, event)
		case <-ctx.Done():
			if err := r.drain(); err != nil {
				r.log.Warn("connection closed", "err", err)
			}
			sleep(connection, lastAcks)
			disconnect()
			<-ended //nolint:errcheck // we ended it: there is nothing more to learn
			r.log.Info("stopped")
			return nil
		}
	}
}

// connect keeps a connection until ctx ends. The library reconnects by itself; it
// gives up when Slack refuses the token, and at times when it need not.
func (s *socket) connect(ctx context.Context) error {
	for {
		attempts, cancel := context.WithCancel(ctx)
		s.mu.Lock()
		s.reconnect = cancel
		s.mu.Unlock()
		err := s.client.RunContext(attempts)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		failed := remote.As(failure(err))
		if failed.Permanent() {
			return fmt.Errorf("connect to slack: %w; check channels.slack.app_token", failed)
		}
		if failed.RetryAfter > 0 {
			s.log.Error("slack refuses the connection, check channels.slack.app_token", "again_in", failed.RetryAfter, "err", err)
		}
		if !sleep(ctx, max(firstPause, failed.RetryAfter)) {
			return ctx.Err()
		}
	}
}

// on handles what the library tells. Envelopes are handled side by side, but for
// those of one conversation.
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
	case socketmode.EventTypeIncomingError, socketmode.EventTypeErrorWriteFailed:
		s.log.Debug("connection broken", "event", string(event.Type))
	default: // comes and goes: Slack moves connections every few hours
		s.log.Debug("connection", "event", string(event.Type))
	}
}

// onConnectionError keeps the pauses between attempts short: the library's grow
// to five minutes.
func (s *socket) onConnectionError(data any) {
	failed, ok := data.(*slack.ConnectionErrorEvent)
	if !ok {
		return
	}
	s.log.Warn("no connection to slack, will try again", "in", failed.Backoff, "err", failed.ErrorObj)
	if failed.Backoff > lastPause && remote.As(failure(failed.ErrorObj)).RetryAfter == 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reconnect()
	}
}

// onUnread handles an envelope that the library does not understand: it knows not
// all events, and is strict with blocks that are nothing to us.
func (s *socket) onUnread(ctx context.Context, data any) {
	bad, ok := data.(*socketmode.ErrorBadMessage)
	if !ok {
		return
	}
	var request socketmode.Request
	if err := json.Unmarshal(bad.Message, &request); err != nil || request.EnvelopeID == "" {
		s.log.Error("message of slack's not understood", "err", bad.Cause)
		return
	}
	s.handle(ctx, &request)
}

// handle does what an envelope asks for, in the background, and acknowledges it.
// One that was not handled is left to be delivered again.
func (s *socket) handle(ctx context.Context, request *socketmode.Request) {
	unhandled := func(err error) {
		s.log.Error("not acknowledged, slack will deliver it again", "type", request.Type, "retry", request.RetryAttempt, "err", err)
	}
	j, err := s.read(request.Type, request.Payload)
	if err != nil {
		unhandled(err)
		return
	}
	if j.do == nil {
		s.jobs.Go(func() { s.ack(request.EnvelopeID, nil) }) //nolint:contextcheck // it goes on when Run is to end
		return
	}
	at, err := s.lanes.enter(ctx, j.lane)
	if err != nil {
		return
	}
	s.jobs.Go(func() {
		reply, err := s.perform(ctx, at, j)
		at.leave()
		switch {
		case err == nil:
			s.ack(request.EnvelopeID, reply) //nolint:contextcheck // it goes on when Run is to end
		case ctx.Err() == nil:
			unhandled(err)
		}
	})
}

func (s *socket) ack(envelope string, reply any) {
	ctx, cancel := context.WithTimeout(s.work, ackTimeout)
	defer cancel()
	if err := s.client.AckCtx(ctx, envelope, reply); err != nil {
		s.log.Warn("acknowledgement not sent, slack will deliver it again", "err", err)
	}
}
