package channeltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

var (
	errUnavailable = errors.New("unavailable")
	errNoResponse  = errors.New("connection lost before the response")
	errForbidden   = errors.New("the bot was removed")
	errWindow      = errors.New("the message window is closed")
)

// Memory is an in-memory push channel on the chat core, with fault injection. It answers
// everyone and optionally shows drafts. Its state outlives Run. Safe for concurrent use.
type Memory struct {
	*chat.Channel
	name       string
	options    chat.OutboundOptions
	pace       chat.Pace
	keys       time.Duration // how long keys of messages last
	searchable bool
	deliveries chan delivery

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	posted  []entry
	calls   int
	lookups int
	failing int
	losing  int
	unsaid  int // edits whose answer is lost
	gone    map[string]bool
	budget  map[string]int // posts that a chat still takes; any number where none is set
	blocked chan struct{}  // not nil: posts wait for it
}

type delivery struct {
	msg   domain.Inbound
	acked chan error
}

// NewMemory returns a channel with this name and nothing posted.
func NewMemory(name string) *Memory {
	m := &Memory{name: name, searchable: true, deliveries: make(chan delivery), changed: make(chan struct{}), gone: map[string]bool{}, budget: map[string]int{}}
	everybody := []string{channels.Anyone}
	m.Channel = chat.New(memoryPlatform{m}, chat.Options{ReceiverOptions: chat.ReceiverOptions{
		Access: chat.Access{Users: everybody, Chats: everybody}, Respond: chat.RespondAll,
	}})
	return m
}

// entry is a message that was posted.
type entry struct {
	at      chat.Place
	msg     chat.Message
	deleted bool
}

// ShowDrafts makes the channel show turns as drafts, at this pace.
func (m *Memory) ShowDrafts(pace chat.Pace) {
	m.pace, m.options.Drafts = pace, true
	m.rebuild()
}

// RecognizeKeys has the platform recognize messages by their keys for a while.
func (m *Memory) RecognizeKeys(lasts time.Duration) {
	m.keys = lasts
	m.rebuild()
}

// HideHistory has the platform not show what was posted.
func (m *Memory) HideHistory() {
	m.searchable = false
	m.rebuild()
}

// rebuild builds the half that writes for the platform as it is now.
func (m *Memory) rebuild() { m.Outbound = m.outbound() }

func (m *Memory) outbound() *chat.Outbound {
	p := memoryPlatform{m}
	if m.searchable {
		return chat.NewOutbound(p, m.options)
	}
	return chat.NewOutbound(struct {
		chat.Writer
		chat.Editor
		chat.Keyed
	}{p, p, p}, m.options)
}

// Reopen returns another channel on the same platform, as another process has.
func (m *Memory) Reopen() *chat.Channel {
	c := *m.Channel
	c.Outbound = m.outbound()
	return &c
}

// Deliver delivers a message once, as soon as the channel runs. It returns nil if the
// channel acknowledged the message. Channel and Push are filled in.
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
func (m memoryPlatform) Limits() chat.Limits { return chat.Limits{Buttons: true, Pace: m.pace} }

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
	m.mu.Lock()
	m.calls++
	m.change()
	blocked := m.blocked
	m.mu.Unlock()
	if blocked != nil {
		select {
		case <-blocked:
		case <-ctx.Done():
			return "", &remote.Error{Service: m.name, Err: ctx.Err()}
		}
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone[at.Chat] {
		return "", &remote.Error{Service: m.name, Status: 403, Err: fmt.Errorf("%w: %w", channels.ErrGone, errForbidden)}
	}
	if err := m.window(at); err != nil {
		return "", err
	}
	if m.failing > 0 {
		m.failing--
		return "", &remote.Error{Service: m.name, Status: 503, Err: errUnavailable}
	}
	if m.budget[at.Chat] > 0 {
		m.budget[at.Chat]--
	}
	index := m.byKey(msg.Key())
	if index < 0 {
		index = len(m.posted)
		m.posted = append(m.posted, entry{at: at, msg: msg})
	}
	m.change()
	if m.losing > 0 {
		m.losing--
		return "", &remote.Error{Service: m.name, Err: errNoResponse}
	}
	return idOf(index), nil
}

// byKey returns which message was posted with a key; negative: none, or it is not
// recognized. The lock is held.
func (m *Memory) byKey(key string) int {
	return slices.IndexFunc(m.posted, func(e entry) bool { return m.keys > 0 && e.msg.Key() == key })
}

// KeyLasts implements [chat.Keyed].
func (m memoryPlatform) KeyLasts() time.Duration { return m.keys }

// window returns the error of a chat that takes nothing for now. The lock is held.
func (m memoryPlatform) window(at chat.Place) error {
	if left, limited := m.budget[at.Chat]; !limited || left > 0 {
		return nil
	}
	return &remote.Error{Service: m.name, Status: 400, Err: fmt.Errorf("%w: %w", channels.ErrUndeliverableNow, errWindow)}
}

// Edit implements [chat.Editor].
func (m memoryPlatform) Edit(_ context.Context, at chat.Place, id string, msg chat.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.window(at); err != nil {
		return err
	}
	for i := range m.posted {
		if idOf(i) == id && !m.posted[i].deleted {
			m.posted[i].msg = msg
			m.change()
			if m.unsaid > 0 {
				m.unsaid--
				return &remote.Error{Service: m.name, Err: errNoResponse}
			}
			return nil
		}
	}
	return &remote.Error{Service: m.name, Status: 404, Err: chat.ErrNoMessage}
}

// Delete implements [chat.Editor].
func (m memoryPlatform) Delete(_ context.Context, _ chat.Place, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.posted {
		if idOf(i) == id {
			m.posted[i].deleted = true
		}
	}
	m.change()
	return nil
}

// History implements [chat.History].
func (m memoryPlatform) History(_ context.Context, at chat.Place, _ chat.Query) ([]chat.Posted, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lookups++
	var all []chat.Posted
	for i, e := range m.posted {
		if e.at.Chat == at.Chat && e.at.Thread == at.Thread && !e.deleted {
			all = append(all, chat.Posted{ID: idOf(i), Ours: true, Text: e.msg.Text, Message: e.msg.ID, Draft: e.msg.Draft})
		}
	}
	return all, nil
}

func idOf(index int) string { return fmt.Sprintf("p%d", index+1) }

// Posted returns what was posted and not deleted, in order, copies included.
func (m *Memory) Posted() []domain.Outbound {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []domain.Outbound
	for _, e := range m.posted {
		if !e.deleted {
			all = append(all, domain.Outbound{
				ID: e.msg.ID, Channel: m.name, Chat: e.at.Chat, Thread: e.at.Thread, Text: e.msg.Text,
				File: e.msg.File, Content: e.msg.Content, Approval: e.msg.Approval, ReplyTo: e.at.ReplyTo,
			})
		}
	}
	return all
}

// Message returns a message as it is now; the zero value if it is not there.
func (m *Memory) Message(platformID string) chat.Message {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, e := range m.posted {
		if idOf(i) == platformID && !e.deleted {
			return e.msg
		}
	}
	return chat.Message{}
}

// Lookups returns how often the history was read.
func (m *Memory) Lookups() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lookups
}

// Await waits until at least n messages were posted, and returns them all. The
// error is that of ctx.
func (m *Memory) Await(ctx context.Context, n int) ([]domain.Outbound, error) {
	err := m.until(ctx, func() bool { return len(m.posted) >= n })
	return m.Posted(), err
}

// AwaitCalls waits until a post was tried at least n times, those included that
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

// Fail makes the next n posts fail before anything is posted.
func (m *Memory) Fail(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failing = n
}

// LoseResponse makes the next n posts fail after the message was posted.
func (m *Memory) LoseResponse(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.losing = n
}

// LoseEditResponse makes the next n edits fail after the message was changed.
func (m *Memory) LoseEditResponse(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unsaid = n
}

// Remove has somebody delete a message.
func (m *Memory) Remove(platformID string) {
	_ = memoryPlatform{m}.Delete(context.Background(), chat.Place{}, platformID)
}

// Close makes a chat refuse what is sent to it, with [channels.ErrGone].
func (m *Memory) Close(chat string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone[chat] = true
}

// Limit makes a chat take n more posts and refuse the next ones with
// [channels.ErrUndeliverableNow].
func (m *Memory) Limit(chat string, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.budget[chat] = n
}

// Block makes posts wait, before anything is posted, until release is
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

// change wakes the waiters. The caller holds the lock.
func (m *Memory) change() {
	close(m.changed)
	m.changed = make(chan struct{})
}
