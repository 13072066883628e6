package feishu_test

import (
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
	"github.com/holdfast-ai/holdfast/internal/platformtest"
)

func TestScenarios(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		platformtest.Run(t, func(t *testing.T) platformtest.Platform { return newScenario(t, mode).platform() })
	})
}

// scenario is a Feishu in which Ana and Ben talk to processes that come and go.
type scenario struct {
	*feishutest.Server
	t    *testing.T
	mode string

	mu   sync.Mutex
	last *feishutest.Delivery
}

func newScenario(t *testing.T, mode string) *scenario {
	t.Helper()
	short := make([]time.Duration, 2000)
	for i := range short {
		short[i] = 5 * time.Millisecond
	}
	options := []feishutest.Option{feishutest.RetryDelays(short...)}
	if mode == feishu.ModeWebhook {
		options = append(options, feishutest.Webhook(encryptKey, token), feishutest.Without(feishutest.ScopeCards))
	}
	return &scenario{Server: feishutest.Start(t, options...), t: t, mode: mode}
}

func (s *scenario) platform() platformtest.Platform {
	return platformtest.Platform{
		Name: feishu.Name, Promise: platformtest.Exactly, Drafts: true, Files: true, Backlog: true, Unordered: true,
		Open: s.open, Listening: s.listening, Say: s.say, Redeliver: s.redeliver, Seen: s.seen, TextLimit: 30_000, Measure: chat.Bytes,
		LoseAnswers: func(n int) { s.LoseResponse(feishutest.CallCreate, n) },
		Limit: func(n int, wait time.Duration) {
			s.Fail(feishutest.CallCreate, n, feishutest.RateLimited(int(wait.Seconds())))
		},
		Down: func() func() {
			s.Down()
			return s.Up
		},
	}
}

func (s *scenario) open(t *testing.T) platformtest.Channel {
	everybody := []string{"*"}
	o := feishu.Options{
		Mode: s.mode, APIURL: s.URL(), AppID: feishutest.AppID, AppSecret: feishutest.AppSecret,
		AllowUsers: everybody, AllowGroups: everybody, Respond: chat.RespondMention, Stream: true, FileLimit: 1 << 20,
	}
	if s.mode == feishu.ModeWebhook {
		o.EncryptKey, o.VerificationToken, o.Listen, o.Path = encryptKey, token, "127.0.0.1:0", "/feishu"
	}
	c, err := feishu.New(o)
	require.NoError(t, err)
	feishu.Tune(c, quick, 0)
	return c
}

// listening waits until Feishu can deliver to the channel.
func (s *scenario) listening(t *testing.T, c platformtest.Channel) {
	if s.mode == feishu.ModeSocket {
		require.NoError(t, s.Await(t.Context(), func() bool { return s.Connections() > 0 }))
		return
	}
	hook := c.(*feishu.Channel).Webhook()
	require.Eventually(t, func() bool { return hook.Addr() != nil }, deadline, time.Millisecond)
	s.PointAt("http://" + hook.Addr().String() + "/feishu")
}

func (s *scenario) say(m platformtest.Said) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, text := feishutest.Ana, m.Text
	if m.By == platformtest.Ben {
		who = feishutest.Ben
	}
	switch {
	case m.File != nil: // as people write of a video; other files come without a text
		key := s.AddFile(feishutest.File{Kind: "file", Content: m.File.Content})
		content, _ := json.Marshal(map[string]any{"title": "", "content": [][]map[string]string{
			{{"tag": "text", "text": text}}, {{"tag": "media", "file_key": key, "file_name": m.File.Name}},
		}})
		s.last = s.Say(who, "", "", feishutest.As("post", string(content)))
	case m.Group:
		s.last = s.Say(who, feishutest.General, "@_user_1 "+text, feishutest.Mentioning(feishutest.Bot))
	default:
		s.last = s.Say(who, "", text)
	}
}

func (s *scenario) redeliver(t *testing.T) {
	s.mu.Lock()
	last := s.last
	s.mu.Unlock()
	require.NoError(t, s.Redeliver(last).Wait(t.Context()))
}

func (s *scenario) seen(group bool) (all []platformtest.Seen) {
	for _, m := range s.Messages(group) {
		seen := platformtest.Seen{Ours: m.Sender == feishutest.Bot, Text: m.Text()}
		var content map[string]any
		_ = json.Unmarshal([]byte(m.Content), &content)
		if key, is := content["file_key"].(string); is {
			seen.File = &platformtest.File{Name: s.Uploaded(key).Name, Content: s.Uploaded(key).Content}
		}
		for _, label := range m.Buttons() {
			if seen.Buttons == nil {
				seen.Buttons = map[string]func(){}
			}
			seen.Buttons[label] = func() { s.Click(feishutest.Ana, m.ID, label, "") }
		}
		all = append(all, seen)
	}
	return all
}
