package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

var (
	errUnavailable = errors.New("unavailable")
	errNoResponse  = errors.New("connection lost before the response")
	errForbidden   = errors.New("the bot was removed")
)

// Memory is a push channel whose platform is in memory: a [channels.Receiver],
// [channels.Sender] and [channels.Finder] with faults on demand. It receives with the
// core of chat platforms and answers everybody. It outlives a Run, as a platform does.
// Safe for concurrent use.
type Memory struct {
	*chat.Receiver
	name       string
	deliveries chan delivery

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	posted  []domain.Outbound
	calls   int
	failing int
	losing  int
	gone    map[string]bool
	blocked chan struct{} // not nil: Send waits for it
}

type delivery struct {
	msg   domain.Inbound
	acked chan error
}

// NewMemory returns a channel with this name and nothing posted.
func NewMemory(name string) *Memory {
	m := &Memory{name: name, deliveries: make(chan delivery), changed: make(chan struct{}), gone: map[string]bool{}}
	everybody := []string{channels.Anyone}
	m.Receiver = chat.NewReceiver(memoryPlatform{m}, chat.ReceiverOptions{
		Access: chat.Access{Users: everybody, Chats: everybody}, Respond: chat.RespondAll,
	})
	return m
}

// Deliver has the platform deliver a message once, as soon as the channel runs. Nil
// means that it was acknowledged; else it may be delivered again. Channel and Push are
// filled in.
func (m *Memory) Deliver(ctx context.Context, msg domain.Inbound) error {
	d := delivery{msg: msg, acked: make(chan error, 1)}
	select {
	case m.deliveries <- d:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-d.acked:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// memoryPlatform is the platform of a [Memory].
type memoryPlatform struct{ *Memory }

// Name implements [chat.Platform].
func (m memoryPlatform) Name() string { return m.name }

// Limits implements [chat.Platform].
func (memoryPlatform) Limits() chat.Limits { return chat.Limits{} }

// Identify implements [chat.Platform].
func (m memoryPlatform) Identify(context.Context) (chat.Self, error) {
	return chat.Self{Name: m.name}, nil
}

// Receive implements [chat.Platform].
func (m memoryPlatform) Receive(ctx context.Context, in chat.Inbox) error {
	for {
		select {
		case <-ctx.Done():
			return in.Drain()
		case d := <-m.deliveries:
			post := &chat.Post{Origin: chat.Origin{Inbound: d.msg}}
			in.Queue(ctx, post, func(_ string, err error) { d.acked <- err })
		}
	}
}

// Post implements [chat.Platform].
func (m memoryPlatform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	sent, err := m.Send(ctx, domain.Outbound{ID: msg.ID, Channel: m.name, Chat: at.Chat, Thread: at.Thread, Text: msg.Text})
	return sent.PlatformID, err
}

// Send implements [channels.Sender].
func (m *Memory) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	m.mu.Lock()
	m.calls++
	m.change()
	blocked := m.blocked
	m.mu.Unlock()
	if blocked != nil {
		select {
		case <-blocked:
		case <-ctx.Done():
			return channels.Sent{}, &remote.Error{Service: m.name, Err: ctx.Err()}
		}
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone[msg.Chat] {
		return channels.Sent{}, &remote.Error{Service: m.name, Status: 403, Err: fmt.Errorf("%w: %w", channels.ErrGone, errForbidden)}
	}
	if m.failing > 0 {
		m.failing--
		return channels.Sent{}, &remote.Error{Service: m.name, Status: 503, Err: errUnavailable}
	}
	m.posted = append(m.posted, msg)
	m.change()
	if m.losing > 0 {
		m.losing--
		return channels.Sent{}, &remote.Error{Service: m.name, Err: errNoResponse}
	}
	return sentAt(len(m.posted) - 1), nil
}

// Find implements [channels.Finder].
func (m *Memory) Find(_ context.Context, msg domain.Outbound) (channels.Found, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.posted, func(p domain.Outbound) bool { return p.ID == msg.ID && p.Chat == msg.Chat })
	if i < 0 {
		return channels.Found{}, nil
	}
	return channels.Found{Posted: true, PlatformID: sentAt(i).PlatformID}, nil
}

func sentAt(index int) channels.Sent {
	return channels.Sent{PlatformID: fmt.Sprintf("p%d", index+1)}
}

// Posted returns what was posted, in order, copies included.
func (m *Memory) Posted() []domain.Outbound {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.posted)
}

// Await waits until at least n messages were posted, and returns them all. The
// error is that of ctx.
func (m *Memory) Await(ctx context.Context, n int) ([]domain.Outbound, error) {
	err := m.until(ctx, func() bool { return len(m.posted) >= n })
	return m.Posted(), err
}

// AwaitCalls waits until Send was called at least n times, those included that
// failed or are blocked. The error is that of ctx.
func (m *Memory) AwaitCalls(ctx context.Context, n int) error {
	return m.until(ctx, func() bool { return m.calls >= n })
}

func (m *Memory) until(ctx context.Context, reached func() bool) error {
	for {
		m.mu.Lock()
		done, changed := reached(), m.changed
		m.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Fail makes the next n calls of Send fail before anything is posted.
func (m *Memory) Fail(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing = n
}

// LoseResponse makes the next n calls of Send fail after the message was posted.
func (m *Memory) LoseResponse(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.losing = n
}

// Close makes a chat refuse what is sent to it, with [channels.ErrGone].
func (m *Memory) Close(chat string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone[chat] = true
}

// Block makes calls of Send wait, before anything is posted, until release is
// called.
func (m *Memory) Block() (release func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	blocked := make(chan struct{})
	m.blocked = blocked
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.blocked = nil
		close(blocked)
	})
}

// change wakes those who wait. The lock is held.
func (m *Memory) change() {
	close(m.changed)
	m.changed = make(chan struct{})
}
