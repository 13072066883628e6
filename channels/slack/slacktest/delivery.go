package slacktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The types of envelopes.
const (
	EventsAPI   = "events_api"
	Commands    = "slash_commands"
	Interactive = "interactive"
)

// ErrNotAcknowledged is wrapped by Wait's error when the app did not acknowledge
// in time, nor in a retry.
var ErrNotAcknowledged = errors.New("not acknowledged")

// Event is an event, a command or an interaction that is sent to the app. Its fields do
// not change.
type Event struct {
	ID      string // the event_id
	Type    string // of the envelope
	Name    string // "message", "app_mention", "block_actions", "/command"
	Payload json.RawMessage

	server   *Server
	attempts []*Attempt
	done     chan struct{}
	respond  func(body []byte) // applies the acknowledgement
}

// Attempt is one delivery of an event.
type Attempt struct {
	Number     int    // retry_attempt, X-Slack-Retry-Num; 0: the first
	Reason     string // retry_reason, X-Slack-Retry-Reason; why the one before failed
	At         time.Time
	Connection int    // Socket Mode connection, from 1; 0: over HTTP, or none was open
	Envelope   string // its envelope_id
	Acked      bool
	After      time.Duration // until it was acknowledged or timed out
	Late       time.Duration // acknowledged after the timeout; else 0
	Status     int           // over HTTP
	Response   []byte        // the acknowledgement's payload, or the body of the answer
	Failure    string        // "timeout", "http_error" and so on; empty if acknowledged
}

// Delivery is everything that one action of a person sent to the app.
type Delivery struct {
	TS     string // of the message it is about
	Events []*Event
}

// Wait waits until everything is acknowledged. The error wraps ErrNotAcknowledged or is
// that of ctx.
func (d Delivery) Wait(ctx context.Context) error {
	var errs []error
	for _, e := range d.Events {
		errs = append(errs, e.Wait(ctx))
	}
	return errors.Join(errs...)
}

// Event returns the event with this name, or nil.
func (d Delivery) Event(name string) *Event {
	i := slices.IndexFunc(d.Events, func(e *Event) bool { return e.Name == name })
	if i < 0 {
		return nil
	}
	return d.Events[i]
}

// Wait waits until the event is acknowledged. The error wraps
// ErrNotAcknowledged, or is that of ctx.
func (e *Event) Wait(ctx context.Context) error {
	select {
	case <-e.done:
	case <-ctx.Done():
		return fmt.Errorf("waiting for %s %s: %w", e.Name, e.ID, ctx.Err())
	}
	if !e.Acked() {
		return fmt.Errorf("%s %s: %w", e.Name, e.ID, ErrNotAcknowledged)
	}
	return nil
}

// Attempts returns the deliveries so far.
func (e *Event) Attempts() []Attempt {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	out := make([]Attempt, len(e.attempts))
	for i, a := range e.attempts {
		out[i] = *a
	}
	return out
}

// Acked reports whether the event was acknowledged in time.
func (e *Event) Acked() bool {
	return slices.ContainsFunc(e.Attempts(), func(a Attempt) bool { return a.Acked })
}

// Response returns what the app acknowledged with.
func (e *Event) Response() []byte {
	for _, a := range e.Attempts() {
		if a.Acked {
			return a.Response
		}
	}
	return nil
}

// Events returns the events sent to the app or about to be sent, oldest first; an empty
// name selects all.
func (s *Server) Events(name string) []*Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.events), func(e *Event) bool { return name != "" && e.Name != name })
}

// Redeliver sends an event once more, as Slack does when it lost the
// acknowledgement: with the same event_id, as a first retry.
func (s *Server) Redeliver(eventID string) Delivery {
	defer s.act()()
	i := slices.IndexFunc(s.events, func(e *Event) bool { return e.ID == eventID })
	if i < 0 {
		panic(fmt.Sprintf("slacktest: there is no event %q", eventID))
	}
	old := s.events[i]
	e := &Event{ID: old.ID, Type: old.Type, Name: old.Name, Payload: old.Payload, respond: old.respond}
	s.start(e, 1)
	return Delivery{Events: []*Event{e}}
}

// Send sends an envelope of any type with any payload.
func (s *Server) Send(kind string, payload any) Delivery {
	defer s.act()()
	return Delivery{Events: []*Event{s.dispatch(&Event{ID: s.id("Ev"), Type: kind, Name: kind}, payload)}}
}

// dispatch starts the delivery of an event. The lock is held.
func (s *Server) dispatch(e *Event, payload any) *Event {
	body, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("slacktest: %s: %v", e.Name, err))
	}
	e.Payload = body
	s.start(e, 0)
	return e
}

// start delivers an event in the background. First deliveries are in the order of the
// events. Without a connection the first delivery fails.
func (s *Server) start(e *Event, number int) {
	if e.Type == EventsAPI && s.target == "" && len(s.connections) == 0 {
		number = max(number, 1)
	}
	e.server, e.done = s, make(chan struct{})
	s.events = append(s.events, e)
	before, sent := s.last, make(chan struct{})
	s.last = sent
	s.change()
	s.spawn(func() { s.deliver(e, number, before, sent) })
}

// deliver tries until the event is acknowledged or no retries are left. As in Slack,
// only events are retried; commands and interactions are lost.
func (s *Server) deliver(e *Event, number int, before <-chan struct{}, sent chan struct{}) {
	defer s.ended(e)
	reason := ""
	if number > 0 {
		reason = "timeout"
	}
	for tries := 0; ; tries++ {
		a := &Attempt{Number: number, Reason: reason, At: time.Now()}
		retry := s.attempt(e, a, before, sent)
		before, sent = nil, nil
		if a.Acked {
			if e.respond != nil {
				e.respond(a.Response)
			}
			return
		}
		if !retry || e.Type != EventsAPI || tries >= len(s.retryDelays) || s.ctx.Err() != nil {
			return
		}
		select {
		case <-time.After(s.retryDelays[tries]):
		case <-s.ctx.Done():
			return
		}
		number, reason = a.Number+1, a.Failure
	}
}

func (s *Server) ended(e *Event) {
	close(e.done)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.change()
}

// attempt delivers once. It reports whether a failure may be retried.
func (s *Server) attempt(e *Event, a *Attempt, before <-chan struct{}, sent chan struct{}) bool {
	s.mu.Lock()
	target := s.target
	s.mu.Unlock()
	if target == "" {
		s.attemptSocket(e, a, before, sent)
		return true
	}
	if sent != nil {
		close(sent)
	}
	return s.attemptHTTP(e, a, target)
}

// begin makes an attempt visible. The lock is held.
func (e *Event) begin(a *Attempt) {
	a.At = time.Now()
	e.attempts = append(e.attempts, a)
	e.server.change()
}

// conclude records how an attempt ended.
func (s *Server) conclude(a *Attempt, failure string, status int, response []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.After, a.Acked, a.Failure, a.Status, a.Response = time.Since(a.At), failure == "", failure, status, response
	s.change()
}
