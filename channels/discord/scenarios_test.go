package discord_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	platformtest.Run(t, func(t *testing.T) platformtest.Platform {
		s := &scenario{Server: discordtest.Start(t), t: t}
		return s.platform()
	})
}

// scenario is a Discord in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*discordtest.Server
	t *testing.T

	mu       sync.Mutex
	last     *discordtest.Message
	sessions int // that were begun
}

func (s *scenario) platform() platformtest.Platform {
	return platformtest.Platform{
		Name: discord.Name, Promise: platformtest.Exactly, Drafts: true, Files: true, Backlog: true,
		Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen, TextLimit: 2000,
		LoseAnswers: func(n int) { s.LoseAnswers("POST", "/messages", n) },
		Limit: func(n int, wait time.Duration) {
			s.Inject(discordtest.Fault{Method: "POST", Path: "/messages", Times: n, Status: 429, Wait: wait})
		},
		Down: func() func() {
			s.Down()
			return s.Up
		},
	}
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	o := discord.Options{Token: discordtest.Token, APIURL: s.APIURL(), Reactions: true}
	everybody := []string{channels.Anyone}
	o.Users, o.Chats, o.Respond, o.Drafts, o.FileLimit = everybody, everybody, chat.RespondMention, true, 1<<20
	c, err := discord.New(o)
	require.NoError(t, err)
	c.Hasten(time.Millisecond)
	return c
}

// listening waits until Discord can deliver to the channel that was opened last.
func (s *scenario) listening(t *testing.T, _ platformtest.Channel) {
	s.sessions++
	require.NoError(t, s.AwaitSessions(t.Context(), s.sessions, 0))
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, channel, text := discordtest.Ana, discordtest.General, discordtest.Mention+" "+m.Text
	if m.By == platformtest.Ben {
		user = discordtest.Bob
	}
	if !m.Group {
		channel, text = s.Direct(discordtest.Ana), m.Text
	}
	var options []discordtest.SayOption
	if m.File != nil {
		options = append(options, discordtest.WithFile(m.File.Name, "", string(m.File.Content)))
	}
	s.last = s.Say(user, channel, text, options...)
}

func (s *scenario) redeliver(*testing.T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Redeliver(s.last)
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	channel := discordtest.General
	if !group {
		channel = s.Direct(discordtest.Ana)
	}
	for _, m := range s.Messages(channel) {
		seen := platformtest.Seen{Ours: m.Author.ID == discordtest.Self, Text: discord.Unmarked(m.Content), Raw: m.Content, Buttons: s.buttons(m)}
		for _, a := range m.Attachments {
			file := seen
			file.File = &platformtest.File{Name: a.Filename, Content: a.Content}
			all = append(all, file)
		}
		if len(m.Attachments) == 0 {
			all = append(all, seen)
		}
	}
	return all
}

func (s *scenario) buttons(m discordtest.Message) map[string]func() {
	buttons := map[string]func(){}
	for _, raw := range m.Components {
		var row struct {
			Components []struct {
				Label    string
				CustomID string `json:"custom_id"`
			}
		}
		require.NoError(s.t, json.Unmarshal(raw, &row))
		for _, b := range row.Components {
			buttons[b.Label] = func() { s.Click(discordtest.Ana, m.ChannelID, m.ID, b.CustomID) }
		}
	}
	return buttons
}
