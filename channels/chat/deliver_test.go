package chat_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestTheOrderOfAConversation(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	release := r.backend.BlockAccept()
	var all sync.WaitGroup
	const n = 20
	for i := range n {
		for _, thread := range []string{"t1", "t2", "t3"} {
			all.Add(1)
			r.in.Queue(r.ctx, post(func(p *chat.Post) { p.Thread, p.Text = thread, strconv.Itoa(i) }), func(_ string, err error) {
				defer all.Done()
				if err != nil {
					t.Errorf("not accepted: %v", err)
				}
			})
		}
	}
	require.NoError(t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Calls == 3 }), "one of each conversation at a time")
	release()
	all.Wait()
	next := map[string]int{}
	for _, msg := range r.backend.Accepted() {
		require.Equal(t, strconv.Itoa(next[msg.Thread]), msg.Text, msg.Thread)
		next[msg.Thread]++
	}
	require.Equal(t, map[string]int{"t1": n, "t2": n, "t3": n}, next)
}

func TestWhatIsNotAcceptedIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	sent := post(nil)
	r.backend.FailAccept(1)
	_, err := r.in.Deliver(r.ctx, sent)
	require.ErrorIs(t, err, channeltest.ErrAway)
	_, err = r.in.Deliver(r.ctx, sent)
	require.NoError(t, err)
	require.Len(t, r.backend.Accepted(), 1)
}

func TestWhatIsDeliveredAtOnceStaysInOrder(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(nil)
	r := run(t, options(), backend, asIs)
	var all []chat.Delivery
	for i := range 20 {
		all = append(all, post(func(p *chat.Post) { p.PlatformID, p.Text = fmt.Sprint("m", i), strconv.Itoa(i) }))
	}
	backend.FailAccept(1)
	require.Error(t, r.in.DeliverAll(r.ctx, all))
	require.Empty(t, backend.Accepted(), "none overtakes the first")
	require.NoError(t, r.in.DeliverAll(r.ctx, all))
	for i, m := range backend.Accepted() {
		require.Equal(t, strconv.Itoa(i), m.Text)
	}
	require.Len(t, backend.Accepted(), 20)
}

func TestStopping(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), asIs)
	release := r.backend.BlockAccept()
	handled := make(chan error, 2)
	stopping, stop := context.WithCancel(r.ctx)
	for range 2 {
		r.in.Queue(stopping, post(nil), func(_ string, err error) { handled <- err })
	}
	require.NoError(t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
	stop()
	require.ErrorIs(t, <-handled, context.Canceled, "it had not begun")
	release()
	require.NoError(t, <-handled, "it had begun")
	require.NoError(t, r.stop())
	require.Len(t, r.backend.Accepted(), 1)
}

func TestAPlatformThatIsDownAtFirst(t *testing.T) {
	t.Parallel()
	r := run(t, options(), channeltest.NewBackend(nil), func(p *plain) chat.Platform {
		p.failNext(2)
		return p
	})
	require.True(t, r.log.has(`msg="call failed, will try again" doing="identifying with the platform"`))
	require.NoError(t, r.post(nil))
}

// mailbox is a platform that is polled.
type mailbox struct {
	*plain
	mu      sync.Mutex
	texts   []string
	fetched []string // cursors
	down    error
}

func (m *mailbox) fetch(_ context.Context, cursor string) (news []chat.Delivery, next string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	time.Sleep(tick)
	if m.down != nil {
		err, m.down = m.down, nil
		return nil, "", err
	}
	m.fetched = append(m.fetched, cursor)
	from, _ := strconv.Atoi(cursor)
	for i, text := range m.texts[from:] {
		p := &chat.Post{Mentioned: true}
		p.Inbound = domain.Inbound{PlatformID: strconv.Itoa(from + i), Scope: "ops", Chat: "ops", Sender: "ana", Text: text}
		news = append(news, p)
	}
	if len(m.texts) == 0 {
		return news, cursor, nil
	}
	return news, strconv.Itoa(len(m.texts)), nil
}

func (m *mailbox) add(texts ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.texts = append(m.texts, texts...)
}

func TestPolling(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(nil)
	box := &mailbox{texts: []string{"one", "two"}}
	open := func() *running {
		return run(t, options(), backend, func(p *plain) chat.Platform {
			p.receive = func(ctx context.Context, in chat.Inbox) error { return in.Poll(ctx, "inbox", box.fetch) }
			box.plain = p
			return box
		})
	}
	accepted := func(r *running, n int) {
		require.NoError(t, backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Accepted == n }))
	}
	cursor := func() string {
		c, err := backend.Cursor(t.Context(), "fake", "inbox")
		require.NoError(t, err)
		return c
	}

	r := open()
	accepted(r, 2)
	require.Eventually(t, func() bool { return cursor() == "2" }, deadline, tick)

	release := backend.BlockAccept()
	box.add("three")
	require.NoError(t, backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Calls == 3 }))
	require.Equal(t, "2", cursor(), "it moves only after the message was accepted")
	release()
	accepted(r, 3)
	require.Eventually(t, func() bool { return cursor() == "3" }, deadline, tick)

	backend.FailAccept(1)
	box.mu.Lock()
	box.down = &remote.Error{Service: "fake", Status: 503, Err: errDown}
	box.mu.Unlock()
	box.add("four", "five")
	accepted(r, 5)
	require.NoError(t, r.stop())

	box.add("six")
	box.mu.Lock()
	box.fetched = nil
	box.mu.Unlock()
	r = open()
	accepted(r, 6)
	require.NoError(t, r.stop())
	require.NotContains(t, box.fetched, "", "it resumes at the stored cursor")
	var texts []string
	for _, msg := range backend.Accepted() {
		texts = append(texts, msg.Text)
	}
	slices.Sort(texts)
	require.Equal(t, []string{"five", "four", "one", "six", "three", "two"}, texts, "each once")
}

func TestPollingEndsAfterAPermanentError(t *testing.T) {
	t.Parallel()
	platform := newPlain()
	refused := &remote.Error{Service: "fake", Status: 401, Err: errDown}
	platform.receive = func(ctx context.Context, in chat.Inbox) error {
		return in.Poll(ctx, "inbox", func(context.Context, string) ([]chat.Delivery, string, error) { return nil, "", refused })
	}
	receiver := chat.NewReceiver(platform, options())
	require.ErrorIs(t, receiver.Run(t.Context(), channeltest.NewBackend(nil)), refused)

	var without struct{ channels.Backend }
	without.Backend = channeltest.NewBackend(nil)
	require.ErrorContains(t, receiver.Run(t.Context(), without), "stores no cursors")
}

func TestPollingKeepsTheOrderOfAConversation(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(nil)
	backend.FailAccept(1)
	box := &mailbox{texts: []string{"one", "two", "three"}}
	r := run(t, options(), backend, func(p *plain) chat.Platform {
		p.receive = func(ctx context.Context, in chat.Inbox) error { return in.Poll(ctx, "inbox", box.fetch) }
		box.plain = p
		return box
	})
	require.NoError(t, backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Accepted == 3 }))
	var texts []string
	for _, msg := range backend.Accepted() {
		texts = append(texts, msg.Text)
	}
	require.Equal(t, []string{"one", "two", "three"}, texts)
}
