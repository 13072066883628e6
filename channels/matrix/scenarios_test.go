package matrix_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/matrix"
	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: matrixtest.Start(t)}
		s.direct, s.group = s.Room(matrixtest.Ana), s.Room(matrixtest.Ana, matrixtest.Ben)
		return platformtest.Platform{
			Name: matrix.Name, Promise: platformtest.Exactly, Drafts: true, Files: true, Backlog: true, TextLimit: 65_536,
			Measure: func(raw string) int { return len(raw) },
			Open:    s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen, Stop: "!stop",
			LoseAnswers: func(n int) { s.LoseResponse(matrixtest.Send, n) },
			Limit: func(n int, wait time.Duration) {
				s.Fail(matrixtest.Send, n, faulty.Fault{Status: http.StatusTooManyRequests, Body: fmt.Sprintf(
					`{"errcode":"M_LIMIT_EXCEEDED","error":"Too Many Requests","retry_after_ms":%d}`, wait.Milliseconds())})
			},
			Down: func() func() {
				s.Down()
				return s.Up
			},
		}
	})
}

// scenario is a homeserver on which Ana and Ben talk to processes that come and go.
type scenario struct {
	*matrixtest.Server
	direct, group string

	mu   sync.Mutex
	last [2]string // the room and ID of the last message
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	o := matrix.Options{Homeserver: s.URL(), AccessToken: matrixtest.Token}
	everybody := []string{channels.Anyone}
	o.Users, o.Chats, o.Respond, o.Drafts, o.FileLimit = everybody, everybody, chat.RespondMention, true, 1<<20
	c, err := matrix.New(o)
	require.NoError(t, err)
	matrix.SetPace(c, fast)
	return c
}

// listening waits until the homeserver holds a call of the channel: only the first one begins
// at the present.
func (s *scenario) listening(t *testing.T, _ platformtest.Channel) {
	require.NoError(t, s.Await(t.Context(), func() bool { return s.Since() != "" }))
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by, room := matrixtest.Ana, s.direct
	if m.By == platformtest.Ben {
		by = matrixtest.Ben
	}
	var options []matrixtest.SayOption
	if m.Group {
		room = s.group
		options = append(options, matrixtest.Mentioning(matrixtest.Bot))
	}
	if m.File != nil {
		options = append(options, matrixtest.WithFile(s.Server, m.File.Name, "text/plain", m.File.Content))
	}
	s.last = [2]string{room, s.Say(by, room, m.Text, options...)}
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	s.Again(s.last[0], s.last[1])
	s.mu.Unlock()
	require.NoError(t, s.Listening(t.Context()))
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	room := s.direct
	if group {
		room = s.group
	}
	for _, m := range s.Shown(room) {
		seen := platformtest.Seen{Ours: m.Sender == matrixtest.Bot, Text: m.Body, Raw: m.Body + m.HTML}
		if m.File != nil {
			seen.File = &platformtest.File{Name: m.File.Name, Content: m.File.Content}
		}
		all = append(all, seen)
	}
	return all
}
