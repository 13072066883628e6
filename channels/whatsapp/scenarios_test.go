package whatsapp_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: whatsapptest.Start(t), used: map[string]bool{}}
		return platformtest.Platform{
			Name: whatsapp.Name, Promise: platformtest.Exactly, Alone: true, Files: true, Unordered: true, TextLimit: 4096,
			Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen,
			LoseAnswers: func(n int) { s.LoseResponse("messages", n) },
			Limit: func(n int, wait time.Duration) {
				s.Fail("messages", n, whatsapptest.Fault{Status: http.StatusTooManyRequests, Code: 130429, RetryAfter: wait})
			},
			Down: func() func() {
				s.Down()
				return s.Up
			},
		}
	})
}

// scenario is a WhatsApp in which Ana talks to processes that come and go.
type scenario struct {
	*whatsapptest.Server

	mu   sync.Mutex
	said []platformtest.Seen
	last string          // ID of the last message
	used map[string]bool // messages of which a button was pressed: each takes one answer
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	o := whatsapp.Options{
		PhoneNumberID: whatsapptest.PhoneNumberID, AccessToken: whatsapptest.AccessToken, AppSecret: whatsapptest.AppSecret,
		VerifyToken: whatsapptest.VerifyToken, Listen: "127.0.0.1:0", Path: "/whatsapp", APIURL: s.APIURL(), ReportWait: 1500 * time.Millisecond,
	}
	o.Users, o.FileLimit = []string{channels.Anyone}, 1<<20
	c, err := whatsapp.New(o)
	require.NoError(t, err)
	return c
}

func (s *scenario) listening(t *testing.T, c platformtest.Channel) {
	channel := c.(*whatsapp.Channel)
	require.Eventually(t, func() bool { return channel.Addr() != nil }, deadline, time.Millisecond)
	s.ServeEvents("http://" + channel.Addr().String() + "/whatsapp")
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var files []whatsapptest.Attachment
	if m.File != nil {
		files = append(files, whatsapptest.Attachment{Name: m.File.Name, Type: "document", MIME: "text/plain", Content: m.File.Content})
	}
	s.last = s.Say(whatsapptest.Ana, m.Text, files...).IDs[0]
	s.said = append(s.said, platformtest.Seen{Text: m.Text})
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	require.NoError(t, s.Redeliver(last).Wait(t.Context()))
}

func (s *scenario) seen(bool) []platformtest.Seen {
	s.mu.Lock()
	all := slices.Clone(s.said)
	s.mu.Unlock()
	for _, m := range s.Sent() {
		seen := platformtest.Seen{Ours: true, Text: m.Text}
		if m.FileName != "" {
			seen.File = &platformtest.File{Name: m.FileName, Content: m.Content}
		}
		for _, b := range m.Buttons {
			if s.isUsed(m.ID) {
				break
			}
			if seen.Buttons == nil {
				seen.Buttons = map[string]func(){}
			}
			seen.Buttons[b.Title] = func() { s.press(m.ID, b) }
		}
		all = append(all, seen)
	}
	return all
}

func (s *scenario) isUsed(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used[id]
}

func (s *scenario) press(id string, b whatsapptest.Button) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[id] = true
	s.Click(whatsapptest.Ana, b)
}
