package slack_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack/slackutilsx"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		platformtest.Run(t, func(t *testing.T) platformtest.Platform { return newScenario(t, mode).platform() })
	})
}

// scenario is a Slack in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*slacktest.Server
	t    *testing.T
	mode string

	mu     sync.Mutex
	last   slacktest.Delivery
	thread string // in the channel that all are in
}

func newScenario(t *testing.T, mode string) *scenario {
	t.Helper()
	short := make([]time.Duration, 1000)
	for i := range short {
		short[i] = 5 * time.Millisecond
	}
	return &scenario{Server: slacktest.Start(t, slacktest.RetryDelays(short...)), t: t, mode: mode}
}

// platform describes Slack. What it delivers again, it delivers in any order: what was sent
// over a connection that was lost comes after later messages.
func (s *scenario) platform() platformtest.Platform {
	return platformtest.Platform{
		Name: slack.Name, Promise: platformtest.Exactly, Drafts: true, Files: true, Backlog: true, Unordered: true, Rated: true, OpenHome: s.openHome, Stop: " /stop",
		Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen, TextLimit: 12_000,
		LoseAnswers: func(n int) { s.LoseResponse("chat.postMessage", n) },
		Limit:       func(n int, wait time.Duration) { s.RateLimit("chat.postMessage", n, wait) },
		Down: func() func() {
			s.Down()
			return s.Up
		},
	}
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	everybody := []string{"*"}
	c, err := slack.New(slack.Options{
		Mode: s.mode, APIURL: s.APIURL(), Listen: "127.0.0.1:0", Path: "/slack",
		BotToken: slacktest.BotToken, AppToken: slacktest.AppToken, SigningSecret: slacktest.SigningSecret,
		AllowUsers: everybody, AllowChannels: everybody, Respond: chat.RespondMention, Stream: true, Feedback: true, FileLimit: 1 << 20,
	})
	require.NoError(t, err)
	c.Hasten(time.Millisecond)
	return c
}

// listening waits until Slack can deliver to the channel.
func (s *scenario) listening(t *testing.T, c platformtest.Channel) {
	if s.mode == slack.ModeSocket {
		require.NoError(t, s.AwaitConnections(t.Context(), 1))
		return
	}
	address := func() bool { return c.(*slack.Channel).Addr() != nil }
	require.Eventually(t, address, receivingDeadline, time.Millisecond)
	s.ServeEvents("http://" + c.(*slack.Channel).Addr().String() + "/slack")
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user, text := slacktest.Ana, slackutilsx.EscapeMessage(m.Text)
	if m.By == platformtest.Ben {
		user = slacktest.Ben
	}
	var options []slacktest.SayOption
	if m.File != nil {
		options = append(options, slacktest.WithFiles(slacktest.File{Name: m.File.Name, Content: m.File.Content}))
	}
	if !m.Group {
		s.last = s.Say(user, slacktest.DM, text, options...)
		return
	}
	if s.thread != "" {
		options = append(options, slacktest.InThread(s.thread))
	}
	s.last = s.Say(user, slacktest.General, slacktest.Mention+" "+text, options...)
	if s.thread == "" {
		s.thread = s.last.TS
	}
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), receivingDeadline)
	defer cancel()
	require.NoError(t, s.Redeliver(last.Events[0].ID).Wait(ctx))
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	channel := slacktest.DM
	if group {
		channel = slacktest.General
	}
	for _, m := range s.Channel(channel) {
		seen := platformtest.Seen{Ours: m.BotID != "", Text: m.Text}
		if m.Blocks != nil {
			seen.Text, seen.Buttons = s.blocks(m)
		}
		for _, f := range m.Files {
			stored, _ := s.File(f.ID)
			file := seen
			file.File = &platformtest.File{Name: f.Name, Content: stored.Content}
			all = append(all, file)
		}
		if len(m.Files) == 0 {
			all = append(all, seen)
		}
	}
	return all
}

// button is a button, or one of the thumbs.
type button struct {
	Value string
	Text  json.RawMessage
}

// blocks returns the texts of a message's blocks, and its buttons.
func (s *scenario) blocks(m slacktest.Message) (text string, buttons map[string]func()) {
	var texts []string
	decoder := json.NewDecoder(bytes.NewReader(m.Blocks))
	for isText := false; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(s.t, err)
		word, is := token.(string)
		if is && isText {
			texts = append(texts, word)
		}
		isText = is && word == "text" && !isText
	}
	return strings.Join(texts, "\n"), s.buttons(m.Blocks, func(action, value string) { s.Click(slacktest.Ana, m.Channel, m.TS, action, value) })
}

// openHome has Ana open the Home tab.
func (s *scenario) openHome(*testing.T) func() platformtest.Seen {
	s.OpenHome(slacktest.Ana)
	return func() platformtest.Seen {
		blocks, _ := s.Home(slacktest.Ana)
		return platformtest.Seen{Buttons: s.buttons(blocks, func(action, value string) { s.ClickHome(slacktest.Ana, action, value) })}
	}
}

// buttons returns the buttons in blocks, by their labels.
func (*scenario) buttons(raw json.RawMessage, press func(action, value string)) map[string]func() {
	var blocks []struct {
		Elements []struct {
			Type string
			button
			ActionID string `json:"action_id"`
			Positive button `json:"positive_button"`
			Negative button `json:"negative_button"`
		}
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	buttons := map[string]func(){}
	for _, b := range blocks {
		for _, e := range b.Elements {
			for _, b := range []button{e.button, e.Positive, e.Negative} {
				var label struct{ Text string }
				if json.Unmarshal(b.Text, &label) == nil && label.Text != "" && b.Value != "" {
					buttons[label.Text] = func() { press(e.ActionID, b.Value) }
				}
			}
		}
	}
	return buttons
}
