package mattermost_test

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		return (&scenario{Server: mattermosttest.Start(t)}).platform()
	})
}

func TestScenariosWithButtons(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		return (&scenario{Server: mattermosttest.Start(t), buttons: true}).platform()
	})
}

// scenario is a Mattermost in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*mattermosttest.Server
	buttons bool
	before  int // sessions that were begun before the current process

	mu     sync.Mutex
	last   string // ID of the last post
	thread string // in which the two write
}

func (s *scenario) platform() platformtest.Platform {
	return platformtest.Platform{
		Name: mattermost.Name, Promise: platformtest.Exactly, Drafts: true, Files: true, Backlog: true,
		Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen, TextLimit: 16_383, Stop: " /stop",
		LoseAnswers: func(n int) { s.LoseResponse(mattermosttest.CreatePost, n) },
		Limit: func(n int, wait time.Duration) {
			reset := http.Header{"X-Ratelimit-Reset": {strconv.Itoa(int(max(wait, time.Second).Seconds()))}}
			s.Fail(mattermosttest.CreatePost, n, faulty.Fault{Status: http.StatusTooManyRequests, Header: reset, Body: "limit exceeded"})
		},
		Down: func() func() {
			s.Down()
			return s.Up
		},
	}
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	s.before, _ = s.Sessions()
	everybody := []string{channels.Anyone}
	o := mattermost.Options{
		URL: s.URL(), Token: mattermosttest.Token,
		Options: chat.Options{
			ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: everybody, Chats: everybody}, Respond: chat.RespondMention},
			FileLimit:       1 << 20, Drafts: true,
		},
	}
	if s.buttons {
		withButtons(&o)
	}
	c, err := mattermost.New(o)
	require.NoError(t, err)
	mattermost.SetPace(c, fast, 10*time.Second)
	return c
}

// listening waits until Mattermost can deliver to the channel.
func (s *scenario) listening(t *testing.T, c platformtest.Channel) {
	require.NoError(t, s.Await(t.Context(), func() bool {
		opened, _ := s.Sessions()
		return opened > s.before && s.Connected()
	}))
	if address := c.(*mattermost.Channel).Addr; s.buttons {
		require.Eventually(t, func() bool { return address() != nil }, deadline, tick)
		s.SendClicksTo("http://" + address().String() + "/mattermost")
	}
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, where, text := mattermosttest.Ana, mattermosttest.DM, m.Text
	if m.By == platformtest.Ben {
		user = mattermosttest.Ben
	}
	var options []mattermosttest.SayOption
	if m.Group {
		where, text = mattermosttest.General, mattermosttest.Mention+" "+m.Text
		options = append(options, mattermosttest.In(s.thread))
	}
	if m.File != nil {
		options = append(options, s.Attached(m.File.Name, "", m.File.Content))
	}
	s.last = s.Say(user, where, text, options...).ID
	if m.Group && s.thread == "" {
		s.thread = s.last
	}
}

// redeliver announces the last post again, in a session of its own.
func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Redeliver(s.last)
	listed := s.Calls(mattermosttest.Channels)
	s.Restart()
	require.NoError(t, s.Await(t.Context(), func() bool { return s.Calls(mattermosttest.Channels) > listed && s.Connected() }))
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	where := mattermosttest.DM
	if group {
		where = mattermosttest.General
	}
	for _, p := range s.Posts(where) {
		seen := platformtest.Seen{Ours: p.UserID == mattermosttest.BotID, Text: p.Message, Buttons: map[string]func(){}}
		for _, id := range p.Buttons() {
			label := map[string]string{"approve": "Approve", "deny": "Deny", "stop": "Stop"}[id]
			seen.Buttons[label] = func() { _, _ = s.Click(mattermosttest.Ana, p.ID, id) }
		}
		for _, id := range p.FileIDs {
			stored := s.File(id)
			file := seen
			file.File = &platformtest.File{Name: stored.Name, Content: stored.Content}
			all = append(all, file)
		}
		if len(p.FileIDs) == 0 {
			all = append(all, seen)
		}
	}
	return all
}
