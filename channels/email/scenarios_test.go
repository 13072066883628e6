package email_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: emailtest.Start(t), t: t}
		return platformtest.Platform{
			Name: email.Name, Promise: platformtest.Exactly, Files: true, Backlog: true,
			Open: s.open, Say: s.say, Redeliver: s.redeliver, Seen: s.seen,
			Listening:   func(t *testing.T, _ platformtest.Channel) { require.NoError(t, s.AwaitIdle(t.Context(), s.before+1)) },
			LoseAnswers: s.LoseAnswers,
			Limit:       func(n int, _ time.Duration) { s.Refuse(n, 451) },
			Down: func() func() {
				s.Away(true)
				return func() { s.Away(false) }
			},
		}
	})
}

// scenario is mail servers at which Ana and Ben write to processes that come and go: Ana in a
// thread with the agent, and both in another.
type scenario struct {
	*emailtest.Server
	t      *testing.T
	before int // waits for mail before the current process

	mu   sync.Mutex
	said int
	last []byte
}

// The first mails of the threads.
const (
	direct  = "direct@example.com"
	between = "between@example.com"
)

func (s *scenario) open(t *testing.T) platformtest.Channel {
	s.before = s.Idles()
	o := options(s.Server)
	o.AllowUsers, o.HourlyLimit = []string{"*"}, 10_000
	c, err := email.New(o)
	require.NoError(t, err)
	email.SetGreylisting(c, 10*time.Millisecond)
	return c
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said++
	l := emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("said-%d@example.com", s.said), Refers: []string{direct}, Text: m.Text}
	if m.By == platformtest.Ben {
		l.From = emailtest.Bob
	}
	if m.Group {
		l.Refers = []string{between}
	}
	if m.File != nil {
		l.Files = map[string]string{m.File.Name: string(m.File.Content)}
	}
	s.last = l.Raw()
	s.Put(s.last)
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	uid := imap.UID(s.Put(s.last))
	s.mu.Unlock()
	c := s.Client()
	defer c.Close()
	_, err := c.Select("INBOX", nil).Wait()
	require.NoError(t, err)
	require.Eventually(t, func() bool { // it is marked as read once it was accepted
		about, err := c.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{Flags: true}).Collect()
		return err == nil && len(about) == 1 && slices.Contains(about[0].Flags, imap.FlagSeen)
	}, deadline, 5*time.Millisecond)
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	root := direct
	if group {
		root = between
	}
	for _, mail := range s.Sent() {
		m := openMail(s.t, mail)
		thread, err := m.MsgIDList("References")
		require.NoError(s.t, err)
		if len(thread) == 0 || thread[0] != root {
			continue
		}
		seen := platformtest.Seen{Ours: true, Text: m.text}
		for name, content := range m.files {
			seen.File = &platformtest.File{Name: name, Content: []byte(content)}
		}
		all = append(all, seen)
	}
	return all
}
