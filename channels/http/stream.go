package http

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	eventBuffer  = 64
	writeTimeout = 30 * time.Second // for a client that stopped reading
)

// answer receives the events of a message while its request waits.
type answer struct {
	api    *api
	id     string // as the client knows the message
	known  bool   // the message was accepted earlier, so it may have ended
	events chan event.Event
}

// follow watches a message until ctx ends. The message may be accepted later.
func (a *api) follow(ctx context.Context, channel, id string) *answer {
	an := &answer{api: a, id: id, events: make(chan event.Event, eventBuffer)}
	go func() {
		defer close(an.events)
		err := a.backend.Watch(ctx, domain.MessageID(channel, "", id), func(e event.Event) {
			select {
			case an.events <- e:
			case <-ctx.Done():
			}
		})
		if err != nil && ctx.Err() == nil {
			a.log.ErrorContext(ctx, "watching a message failed", "message", an.id, "err", err)
		}
	}()
	return an
}

// ask accepts a message and follows it.
func (a *api) ask(ctx context.Context, msg domain.Inbound) (*answer, error) {
	an := a.follow(ctx, msg.Channel, msg.PlatformID)
	accepted, err := a.accept(ctx, msg)
	an.known = accepted.Duplicate
	return an, err
}

// waiting says how a handler waits for an answer.
type waiting struct {
	on    func(event.Event) error // called for every event except the last; may be nil
	every time.Duration           // interval of idle; 0: never
	idle  func() error
}

// await waits until the message has ended, or on or idle returns an error.
func (an *answer) await(ctx context.Context, w waiting) (domain.Reply, error) {
	if an.known {
		if state, err := an.state(ctx); err != nil || state.Status.Ended() {
			return state, err
		}
	}
	var tick <-chan time.Time
	if w.every > 0 {
		ticker := time.NewTicker(w.every)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		var err error
		select {
		case e, ok := <-an.events:
			switch {
			case !ok:
				return domain.Reply{}, errInterrupted
			case e.Kind == event.Done:
				return an.state(ctx)
			case w.on != nil:
				err = w.on(e)
			}
		case <-tick:
			err = w.idle()
		}
		if err != nil {
			return domain.Reply{}, err
		}
	}
}

func (an *answer) state(ctx context.Context) (domain.Reply, error) {
	state, err := an.api.message(ctx, an.id)
	if err != nil && ctx.Err() == nil {
		an.api.log.ErrorContext(ctx, "reading a message failed", "message", an.id, "err", err)
	}
	return state, err
}

// stream writes server-sent events.
type stream struct {
	w    nethttp.ResponseWriter
	conn *nethttp.ResponseController
}

// newStream starts the response. If the client is gone, the first write fails.
func newStream(w nethttp.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(nethttp.StatusOK)
	s := &stream{w: w, conn: nethttp.NewResponseController(w)}
	_ = s.conn.Flush()
	return s
}

func (s *stream) keepAlive() error { return s.write(": keep-alive\n\n") }

// send writes an event with JSON data, and without a name if it is empty.
func (s *stream) send(name string, data any) error {
	encoded, err := json.Marshal(data)
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	if name != "" {
		name = "event: " + name + "\n"
	}
	return s.write(name + "data: " + string(encoded) + "\n\n")
}

func (s *stream) write(text string) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	if err := s.conn.Flush(); err != nil {
		return err
	}
	return s.conn.SetWriteDeadline(time.Time{})
}
