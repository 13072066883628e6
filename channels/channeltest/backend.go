// Package channeltest supports the tests of channels: a conformance suite that every
// channel passes, an in-memory channel, and an in-memory backend.
package channeltest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// ErrAway is the injected error of a [Backend].
var ErrAway = errors.New("the store is away")

// Answer is the scripted outcome of a message.
type Answer struct {
	Events []event.Event // published before it ends
	Reply  string
	Status domain.ReplyStatus // zero: done
	Usage  domain.Usage
}

// Echo answers every message with its own text.
func Echo(msg domain.Inbound) *Answer { return &Answer{Reply: "echo: " + msg.Text} }

// Hold leaves every message queued until [Backend.Emit] and [Backend.End].
func Hold(domain.Inbound) *Answer { return nil }

// Backend is a [channels.Backend] in memory. Watchers miss no event. Safe for
// concurrent use.
type Backend struct {
	answer func(domain.Inbound) *Answer

	mu         sync.Mutex
	changed    chan struct{} // closed and replaced at every change
	messages   map[string]*message
	accepted   []domain.Inbound
	calls      int
	watching   int
	failing    int
	release    chan struct{} // not nil: Accept waits for it
	paired     map[[2]string]bool
	cursors    map[[2]string]string                // by channel and name
	background map[string][]domain.BackgroundReply // by session
	ratings    []domain.Rating
	homes      map[[2]string]domain.Home // by channel and person
}

type message struct {
	inbound domain.Inbound
	state   domain.Reply
	events  []event.Event
}

// NewBackend returns a backend that answers each message immediately with the result of
// answer; nil: [Echo].
func NewBackend(answer func(domain.Inbound) *Answer) *Backend {
	if answer == nil {
		answer = Echo
	}
	return &Backend{answer: answer, changed: make(chan struct{}), messages: map[string]*message{}, paired: map[[2]string]bool{}, cursors: map[[2]string]string{}, background: map[string][]domain.BackgroundReply{}}
}

// MessageID is [domain.MessageID].
func (b *Backend) MessageID(channel, scope, id string) string {
	return domain.MessageID(channel, scope, id)
}

// Accept implements [channels.Backend].
func (b *Backend) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	b.mu.Lock()
	b.calls++
	release := b.release
	b.change()
	b.mu.Unlock()
	if release != nil {
		select {
		case <-release:
		case <-ctx.Done():
			return channels.Accepted{}, ctx.Err()
		}
	}

	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing > 0 {
		b.failing--
		return channels.Accepted{}, ErrAway
	}
	id, session := b.MessageID(msg.Channel, msg.Scope, msg.PlatformID), sessionKey(msg)
	receipt := channels.Accepted{Message: id, Session: session, WorkflowID: "session/" + session}
	if known := b.messages[id]; known != nil {
		if known.inbound.Text != msg.Text || known.state.Session != session {
			return channels.Accepted{}, domain.ErrConflict
		}
		receipt.Duplicate = true
		return receipt, nil
	}
	m := &message{inbound: msg, state: domain.Reply{Message: id, Session: session, Status: domain.ReplyQueued}}
	b.messages[id] = m
	b.accepted = append(b.accepted, msg)
	if answer := b.answer(msg); answer != nil {
		m.events = answer.Events
		m.end(*answer)
	}
	b.change()
	return receipt, nil
}

func sessionKey(msg domain.Inbound) string {
	key := msg.Channel + ":" + msg.Chat
	if msg.Thread != "" {
		key += ":" + msg.Thread
	}
	return key
}

func (m *message) end(a Answer) {
	m.state.Status, m.state.Text, m.state.Usage, m.state.Turn = a.Status, a.Reply, a.Usage, m.state.Message
	if a.Status == "" {
		m.state.Status = domain.ReplyDone
	}
}

// Message implements [channels.Backend].
func (b *Backend) Message(_ context.Context, id string) (domain.Reply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages[id]
	if m == nil {
		return domain.Reply{}, domain.ErrNotFound
	}
	return m.state, nil
}

// Watch implements [channels.Backend].
func (b *Backend) Watch(ctx context.Context, id string, on func(event.Event)) error {
	b.mu.Lock()
	b.watching++
	b.change()
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.watching--
		b.change()
	}()
	for seen := 0; ; {
		b.mu.Lock()
		changed := b.changed
		var news []event.Event
		ended := false
		if m := b.messages[id]; m != nil {
			news, ended = slices.Clone(m.events[seen:]), m.state.Status.Ended()
		}
		b.mu.Unlock()
		seen += len(news)
		for _, e := range news {
			on(e)
		}
		if ended {
			on(event.Event{Kind: event.Done})
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Transcript implements [channels.Backend]: the messages and replies of the
// session, in the order in which they were accepted.
func (b *Backend) Transcript(_ context.Context, session string) ([]domain.Message, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var transcript []domain.Message
	for _, msg := range b.accepted {
		m := b.messages[b.MessageID(msg.Channel, msg.Scope, msg.PlatformID)]
		if m.state.Session != session {
			continue
		}
		transcript = append(transcript, domain.Message{
			Turn: m.state.Message, Role: "user", Content: msg.Text, Sender: msg.Sender, CreatedAt: time.Unix(0, 0).UTC(),
		})
		if m.state.Status.Ended() {
			transcript = append(transcript, domain.Message{
				Turn: m.state.Message, Step: 1, Role: "assistant", Content: m.state.Text, CreatedAt: time.Unix(0, 0).UTC(),
			})
		}
	}
	if transcript == nil {
		return nil, domain.ErrNotFound
	}
	return transcript, nil
}

// Background implements [channels.Sessions].
func (b *Backend) Background(_ context.Context, session string, after time.Time) ([]domain.BackgroundReply, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var replies []domain.BackgroundReply
	for _, r := range b.background[session] {
		if r.EndedAt.After(after) && len(replies) < backgroundLimit {
			replies = append(replies, r)
		}
	}
	return replies, nil
}

// backgroundLimit is that of [channels.Backend].
const backgroundLimit = 100

// Say adds a background reply to a session; it ends now unless EndedAt is set.
func (b *Backend) Say(session string, r domain.BackgroundReply) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.EndedAt.IsZero() {
		r.EndedAt = time.Now().UTC()
	}
	b.background[session] = append(b.background[session], r)
}

// Emit publishes an event of the accepted message with this ID. Unknown IDs are ignored.
func (b *Backend) Emit(id string, e event.Event) {
	b.update(id, func(m *message) {
		m.state.Status, m.state.Turn = domain.ReplyRunning, m.state.Message
		m.events = append(m.events, e)
	})
}

// End ends the accepted message with this ID. The answer's Events are not emitted.
func (b *Backend) End(id string, a Answer) {
	b.update(id, func(m *message) { m.end(a) })
}

func (b *Backend) update(id string, change func(*message)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if m := b.messages[id]; m != nil {
		change(m)
		b.change()
	}
}

// FailAccept makes the next n calls of Accept fail with [ErrAway].
func (b *Backend) FailAccept(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failing = n
}

// BlockAccept makes calls of Accept wait until release is called.
func (b *Backend) BlockAccept() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	blocked := make(chan struct{})
	b.release = blocked
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.release = nil
		close(blocked)
	})
}

// Accepted returns the messages that were accepted, in order, each once.
func (b *Backend) Accepted() []domain.Inbound {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.accepted)
}

// Counts are the counters of a [Backend].
type Counts struct {
	Calls    int // of Accept, including failed and blocked ones
	Accepted int // messages
	Watching int // calls of Watch that are under way
}

// Await waits until the condition holds for the counts, or ctx ends.
func (b *Backend) Await(ctx context.Context, until func(Counts) bool) error {
	for {
		b.mu.Lock()
		counts := Counts{Calls: b.calls, Accepted: len(b.accepted), Watching: b.watching}
		changed := b.changed
		b.mu.Unlock()
		if until(counts) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change wakes the waiters. The caller holds the lock.
func (b *Backend) change() {
	close(b.changed)
	b.changed = make(chan struct{})
}
