package slacktest

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// maxAck is the size above which Slack ignores frames on a Socket Mode connection.
const maxAck = 20 * 1024

// envelope is an envelope that was sent.
type envelope struct {
	attempt *Attempt
	acked   chan json.RawMessage
	open    bool
	sent    time.Time
}

// acknowledge handles a frame from the app.
func (s *Server) acknowledge(body []byte) {
	var ack struct {
		EnvelopeID string          `json:"envelope_id"`
		Payload    json.RawMessage `json:"payload"`
	}
	if len(body) >= maxAck || json.Unmarshal(body, &ack) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.envelopes[ack.EnvelopeID]
	if e == nil {
		return
	}
	if !e.open {
		if !e.attempt.Acked && e.attempt.Late == 0 {
			e.attempt.Late = time.Since(e.sent)
			s.change()
		}
		return
	}
	e.open = false
	e.acked <- ack.Payload
}

// attemptSocket delivers over one of the open connections. An event waits for one;
// anything else waits at most as long as for its acknowledgement.
func (s *Server) attemptSocket(e *Event, a *Attempt, before <-chan struct{}, sent chan struct{}) {
	release := sync.OnceFunc(func() {
		if sent != nil {
			close(sent)
		}
	})
	defer release()
	ctx := s.ctx
	if e.Type != EventsAPI {
		limited, cancel := context.WithTimeout(ctx, s.ackTimeout)
		defer cancel()
		ctx = limited
	}
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
		}
	}
	c, env := s.assign(ctx, e, a)
	if c == nil {
		return
	}
	err := c.write(reply{
		"envelope_id": a.Envelope, "type": e.Type, "payload": e.Payload, "accepts_response_payload": e.Type != EventsAPI,
		"retry_attempt": a.Number, "retry_reason": a.Reason,
	})
	release()
	if err != nil {
		s.give(env)
		s.conclude(a, "connection_lost", 0, nil)
		return
	}
	s.awaitAck(a, c, env)
}

func (s *Server) awaitAck(a *Attempt, c *connection, env *envelope) {
	timer := time.NewTimer(s.ackTimeout)
	defer timer.Stop()
	failure := "timeout"
	select {
	case payload := <-env.acked:
		s.conclude(a, "", 0, payload)
		return
	case <-timer.C:
	case <-c.gone:
		failure = "connection_lost"
	case <-s.ctx.Done():
		failure = "closed"
	}
	if payload, acked := s.give(env); acked {
		s.conclude(a, "", 0, payload)
		return
	}
	s.conclude(a, failure, 0, nil)
}

// give gives up on an envelope unless it was acknowledged meanwhile.
func (s *Server) give(env *envelope) (json.RawMessage, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	env.open = false
	select {
	case payload := <-env.acked:
		return payload, true
	default:
		return nil, false
	}
}

// assign picks the next connection in turn and waits for one to open; nil if ctx ends
// first.
func (s *Server) assign(ctx context.Context, e *Event, a *Attempt) (*connection, *envelope) {
	for {
		s.mu.Lock()
		changed := s.changed
		if c := s.pickConnection(); c != nil {
			defer s.mu.Unlock()
			env := &envelope{attempt: a, acked: make(chan json.RawMessage, 1), open: true, sent: time.Now()}
			a.Envelope, a.Connection = s.id("envelope-"), c.number
			s.envelopes[a.Envelope] = env
			e.begin(a)
			return c, env
		}
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil
		}
	}
}

func (s *Server) pickConnection() *connection {
	for range s.connections {
		s.next++
		if c := s.connections[s.next%len(s.connections)]; !c.leaving {
			return c
		}
	}
	return nil
}
