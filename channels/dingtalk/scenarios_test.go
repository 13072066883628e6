package dingtalk_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenariosWithCards(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: dingtalktest.Start(t), cards: true}
		p := s.platform(dingtalktest.CreateCard)
		p.Promise, p.Drafts = platformtest.Exactly, true
		return p
	})
}

func TestScenariosWithPlainMessages(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: dingtalktest.Start(t)}
		p := s.platform(dingtalktest.SendPerson)
		p.Promise = platformtest.AtLeastOnce
		return p
	})
}

// scenario is a DingTalk in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*dingtalktest.Server
	cards  bool
	before int // streams that were opened before the current process

	mu   sync.Mutex
	last *dingtalktest.Delivery
}

func (s *scenario) platform(method string) platformtest.Platform {
	return platformtest.Platform{
		Name: dingtalk.Name, TextLimit: 5000,
		Open: s.open, Say: s.say, Redeliver: s.redeliver, Seen: s.seen,
		Listening: func(t *testing.T, _ platformtest.Channel) {
			require.NoError(t, s.Await(t.Context(), func() bool { return s.Opened() > s.before && s.Connections() == 1 }))
		},
		LoseAnswers: func(n int) { s.LoseResponse(method, n) },
		Limit: func(n int, _ time.Duration) {
			s.Fail(method, n, faulty.Fault{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}})
		},
		Down: func() func() {
			s.Down()
			return s.Up
		},
	}
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	s.before = s.Opened()
	everybody := []string{channels.Anyone}
	o := dingtalk.Options{
		ClientID: dingtalktest.ClientID, ClientSecret: dingtalktest.ClientSecret, APIURL: s.URL(), UploadURL: s.URL(),
		Options: chat.Options{
			ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: everybody, Chats: everybody}, Respond: chat.RespondMention},
			FileLimit:       1 << 20, Drafts: true,
		},
	}
	if s.cards {
		o.CardTemplate = dingtalktest.Template
	}
	c, err := dingtalk.New(o)
	require.NoError(t, err)
	dingtalk.SetPace(c, fast, 10*time.Second)
	return c
}

func (s *scenario) say(m platformtest.Said) {
	from, options := dingtalktest.Ana, []dingtalktest.SayOption(nil)
	if m.By == platformtest.Ben {
		from = dingtalktest.Ben
	}
	if m.Group {
		options = append(options, dingtalktest.InGroup(dingtalktest.Group))
	}
	d := s.Say(from, m.Text, options...)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = d
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	last.Again()
	require.NoError(t, s.Await(t.Context(), func() bool { codes := last.Codes(); return len(codes) > 0 && codes[len(codes)-1] == http.StatusOK }))
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	to := dingtalktest.Ana
	if group {
		to = dingtalktest.Group
	}
	for _, card := range s.Cards() {
		if card.To != to || card.Text == "…" { // cards cannot be deleted: this one is no longer needed
			continue
		}
		seen := platformtest.Seen{Ours: true, Text: card.Text}
		if card.Variables["question"] != "" {
			seen.Buttons = map[string]func(){
				"Approve": func() { s.Click(dingtalktest.Ana, card.ID, "approve") },
				"Deny":    func() { s.Click(dingtalktest.Ana, card.ID, "deny") },
			}
		}
		all = append(all, seen)
	}
	for _, p := range s.Posts() {
		if p.To != to {
			continue
		}
		seen := platformtest.Seen{Ours: true, Text: p.Text}
		if p.File != "" {
			seen.File = &platformtest.File{Name: p.File, Content: p.Content}
		}
		all = append(all, seen)
	}
	return all
}
