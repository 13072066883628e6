package wechat_test

import (
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: wechattest.Start(t)}
		s.Limit(many) // windows have tests of their own
		return platformtest.Platform{
			Name: wechat.Name, Promise: platformtest.AtLeastOnce, Alone: true, Files: true, Backlog: true, TextLimit: 4000,
			Open: s.open, Say: s.say, Redeliver: s.redeliver, Seen: s.seen,
			LoseAnswers: func(n int) { s.LoseResponse(wechattest.SendMessage, n) },
			Limit: func(n int, wait time.Duration) {
				retry := http.Header{"Retry-After": {wait.String()[:1]}}
				s.Fail(wechattest.SendMessage, n, faulty.Fault{Status: http.StatusTooManyRequests, Header: retry})
			},
			Down: func() func() {
				s.Down()
				return s.Up
			},
		}
	})
}

// many is more than the messages of a scenario.
const many = 1000

// scenario is a WeChat in which Ana talks to processes that come and go.
type scenario struct {
	*wechattest.Server

	mu   sync.Mutex
	said []platformtest.Seen
	last string // ID of the last message
}

// loggedIn is a channel whose login is in each store.
type loggedIn struct {
	*wechat.Channel
	t *testing.T
	s *scenario
}

// UseStore implements channels.Stored.
func (l loggedIn) UseStore(s channels.Store) {
	l.Channel.UseStore(s)
	account := wechat.Account{BotID: wechattest.BotID, Token: l.s.Token(), BaseURL: l.s.URL()}
	require.NoError(l.t, wechat.LogIn(l.t.Context(), l.Channel, account))
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	c := wechat.New(wechat.Options{APIURL: s.URL(), CDNURL: s.CDNURL(), AllowUsers: []string{channels.Anyone}, FileLimit: 1 << 20, Replies: many})
	wechat.SetPace(c, tick, time.Second, fast)
	return loggedIn{c, t, s}
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	items := []map[string]any{wechattest.Text(m.Text)}
	if m.File != nil {
		items = append(items, s.Store(4, m.File.Name, m.File.Content))
	}
	s.last = s.Say(wechattest.Ana, "", wechattest.Items(items...))
	s.said = append(s.said, platformtest.Seen{Text: m.Text})
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	s.Again(s.last)
	s.mu.Unlock()
	require.NoError(t, s.Await(t.Context(), func() bool { return s.Acknowledged() == s.Written() }))
}

func (s *scenario) seen(bool) []platformtest.Seen {
	s.mu.Lock()
	all := slices.Clone(s.said)
	s.mu.Unlock()
	for _, p := range s.Posts() {
		seen := platformtest.Seen{Ours: true, Text: p.Text}
		if p.File != "" {
			seen.File = &platformtest.File{Name: p.File, Content: p.Content}
		}
		all = append(all, seen)
	}
	return all
}
