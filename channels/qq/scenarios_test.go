package qq_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

// longMessage is more than QQ's limit: answers that need several windows have a test of
// their own.
const longMessage = 20_000

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: qqtest.Start(t, qqtest.Replies(1000), qqtest.TextLimit(longMessage))}
		return platformtest.Platform{
			Name: qq.Name, Promise: platformtest.Exactly, Files: true, Backlog: true, TextLimit: longMessage,
			Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen,
			LoseAnswers: func(n int) { s.LoseResponse("messages", n) },
			Limit: func(n int, wait time.Duration) {
				s.Fail("messages", n, qqtest.Fault{Status: http.StatusTooManyRequests, RetryAfter: wait})
			},
			Down: func() func() {
				s.Down()
				return s.Up
			},
		}
	})
}

// scenario is a QQ in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*qqtest.Server

	mu     sync.Mutex
	said   []platformtest.Said
	last   string // ID of the last message
	opened int    // connections when the last process was opened
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	everybody := []string{channels.Anyone}
	o := qq.Options{AppID: qqtest.AppID, Secret: qqtest.Secret, APIURL: s.URL(), TokenURL: s.TokenURL(), TextLimit: longMessage}
	o.Users, o.Chats, o.FileLimit = everybody, everybody, 1<<20
	c, err := qq.New(o)
	require.NoError(t, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = s.Connections()
	return c
}

func (s *scenario) listening(t *testing.T, _ platformtest.Channel) {
	s.mu.Lock()
	opened := s.opened
	s.mu.Unlock()
	require.NoError(t, s.AwaitConnections(t.Context(), opened+1))
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	chat, who := qqtest.AnaChat, qqtest.Ana
	if m.Group {
		chat = qqtest.OpsChat
	}
	if m.By == platformtest.Ben {
		who = qqtest.Ben
	}
	var files []qqtest.Attachment
	if m.File != nil {
		files = append(files, qqtest.Attachment{Name: m.File.Name, Type: "file", Content: m.File.Content})
	}
	s.last = s.Say(chat, who, m.Text, files...).ID
	s.said = append(s.said, m)
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Redeliver(s.last)
	require.NotEmpty(t, s.last)
}

func (s *scenario) seen(group bool) []platformtest.Seen {
	var all []platformtest.Seen
	s.mu.Lock()
	for _, m := range s.said {
		if m.Group == group {
			all = append(all, platformtest.Seen{Text: m.Text})
		}
	}
	s.mu.Unlock()
	for _, m := range s.Sent() {
		if qq.IsDirect(m.Chat) == group {
			continue
		}
		seen := platformtest.Seen{Ours: true, Text: m.Text}
		if m.FileName != "" {
			seen.File = &platformtest.File{Name: m.FileName, Content: m.Content}
		}
		all = append(all, seen)
	}
	return all
}
