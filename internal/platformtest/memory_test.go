package platformtest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// memory is the in-memory channel as a platform with a direct chat and a group.
type memory struct {
	*channeltest.Memory
	deliver chan domain.Inbound

	mu   sync.Mutex
	said int
	last domain.Inbound
}

// say queues a message, which is delivered until it is acknowledged.
func (m *memory) say(s platformtest.Said) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said++
	m.last = domain.Inbound{PlatformID: fmt.Sprintf("in%d", m.said), Chat: "direct", Sender: []string{"ana", "ben"}[s.By], Text: s.Text}
	if s.Group {
		m.last.Chat = "group"
	}
	m.deliver <- m.last
}

func (m *memory) redeliver(t *testing.T) {
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	if err := m.Deliver(t.Context(), last); err != nil {
		t.Error(err)
	}
}

func (m *memory) run(ctx context.Context) {
	for {
		select {
		case msg := <-m.deliver:
			for ctx.Err() == nil && m.Deliver(ctx, msg) != nil {
				time.Sleep(time.Millisecond)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (m *memory) seen(group bool) (all []platformtest.Seen) {
	for _, out := range m.Posted() {
		if (out.Chat == "group") == group {
			all = append(all, platformtest.Seen{Ours: true, Text: out.Text})
		}
	}
	return all
}

func TestScenariosInMemory(t *testing.T) {
	t.Parallel()
	fast := chat.Pace{Notice: time.Millisecond, Draft: time.Millisecond, Edit: time.Millisecond, Call: time.Second}
	for _, tt := range []struct {
		name    string
		promise platformtest.Promise
		set     func(*channeltest.Memory)
		drafts  bool
	}{
		{"that can be searched", platformtest.Exactly, func(*channeltest.Memory) {}, false},
		{"that can be searched, with drafts", platformtest.Exactly, func(*channeltest.Memory) {}, true},
		{"that recognizes keys", platformtest.Exactly, func(m *channeltest.Memory) { m.RecognizeKeys(time.Hour) }, false},
		{"that only edits, with drafts", platformtest.StrayPlaceholder, func(m *channeltest.Memory) { m.HideHistory() }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			platformtest.Run(t, func(t *testing.T) platformtest.Platform {
				m := &memory{Memory: channeltest.NewMemory("memory"), deliver: make(chan domain.Inbound, 100)}
				tt.set(m.Memory)
				if tt.drafts {
					m.ShowDrafts(fast)
				}
				go m.run(t.Context())
				return platformtest.Platform{
					Name: "memory", Promise: tt.promise, Drafts: tt.drafts,
					Open: func(*testing.T) platformtest.Channel { return m.Reopen() },
					Say:  m.say, Redeliver: m.redeliver, Backlog: true, Seen: m.seen, LoseAnswers: m.LoseResponse,
					Down: func() func() {
						m.Fail(1_000_000)
						return func() { m.Fail(0) }
					},
				}
			})
		})
	}
}
