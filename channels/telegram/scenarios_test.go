package telegram_test

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		platformtest.Run(t, func(t *testing.T) platformtest.Platform {
			return (&scenario{Server: telegramtest.Start(t), t: t, mode: mode}).platform()
		})
	})
}

// scenario is a Telegram in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*telegramtest.Server
	t    *testing.T
	mode string

	mu   sync.Mutex
	last *telegramtest.Delivery
}

func (s *scenario) platform() platformtest.Platform {
	return platformtest.Platform{
		Name: telegram.Name, Promise: platformtest.StrayPlaceholder, Drafts: true, Files: true, Backlog: true,
		Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen,
		TextLimit: 4096, Measure: telegramtest.Units,
		LoseAnswers: func(n int) { s.LoseResponse("sendMessage", n) },
		Limit:       func(n int, wait time.Duration) { s.TooMany(telegramtest.Sends, n, int(wait.Seconds())) },
		Down: func() func() {
			s.Down()
			return s.Up
		},
	}
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	o := allowing(everyone, everyone)
	o.Mode, o.Token, o.APIURL, o.FileLimit, o.Drafts = s.mode, telegramtest.Token, s.URL(), 1<<20, true
	if s.mode == telegram.ModeWebhook {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		o.Listen, o.Path = listener.Addr().String(), "/telegram"
		o.WebhookURL = "http://" + o.Listen + o.Path
	}
	c, err := telegram.New(o)
	require.NoError(t, err)
	c.Hurry()
	c.SetPace(chat.Pace{
		Notice: time.Millisecond, Draft: 5 * time.Millisecond, Status: 5 * time.Millisecond, Edit: 5 * time.Millisecond, Call: time.Second, Retry: time.Millisecond,
	})
	return c
}

// listening waits until Telegram can deliver to the channel.
func (s *scenario) listening(t *testing.T, c platformtest.Channel) {
	if s.mode == telegram.ModeWebhook {
		require.Eventually(t, func() bool {
			address := c.(*telegram.Channel).Addr()
			return address != nil && strings.Contains(s.Webhook(), address.String())
		}, deadline, time.Millisecond)
	}
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	by, to, text := int64(telegramtest.Ana), int64(telegramtest.Ana), m.Text
	if m.By == platformtest.Ben {
		by, to = telegramtest.Ben, telegramtest.Ben
	}
	var options []telegramtest.SayOption
	if m.File != nil {
		options = append(options, telegramtest.WithDocument(m.File.Name, "text/plain", m.File.Content))
	}
	if m.Group {
		to, text = telegramtest.Forum, "@"+telegramtest.BotName+" "+text
		options = append(options, telegramtest.InTopic(telegramtest.Topic))
	}
	s.last = s.Say(by, to, text, options...)
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	again := s.Again(s.last)
	s.mu.Unlock()
	require.NoError(t, again.Wait(t.Context()))
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	in := int64(telegramtest.Ana)
	if group {
		in = telegramtest.Forum
	}
	for _, m := range s.Messages(in) {
		seen := platformtest.Seen{Ours: m.From.ID == telegramtest.BotID, Text: m.Text + m.Caption}
		if m.Document != nil {
			stored := s.FileOf(m.Document.ID)
			seen.File = &platformtest.File{Name: stored.Name, Content: stored.Content}
		}
		for _, b := range m.Buttons() {
			if seen.Buttons == nil {
				seen.Buttons = map[string]func(){}
			}
			seen.Buttons[b.Text] = func() { _, _ = s.Press(telegramtest.Ana, in, m.ID, b.Text) }
		}
		all = append(all, seen)
	}
	return all
}
