package slack_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// stage is a channel that shows turns in a Slack.
type stage struct {
	*slacktest.Server
	t       *testing.T
	ctx     context.Context
	drafts  *channeltest.Drafts
	channel *slack.Channel
}

// statusless has Slack refuse the status below threads.
func statusless(s *stage) {
	s.Fail("assistant.threads.setStatus", slacktest.Always, slacktest.Fault{Error: "missing_scope"})
}

// without are the scopes of a server but for some.
func without(scopes ...string) slacktest.Option {
	var kept []string
	for _, scope := range slacktest.AllScopes {
		if !slices.Contains(scopes, scope) {
			kept = append(kept, scope)
		}
	}
	return slacktest.Scopes(kept...)
}

// How channels are in tests: with drafts at once, or with none.
func drafting(c *slack.Channel)  { c.Hasten(10 * time.Millisecond) }
func draftless(c *slack.Channel) { c.Hasten(time.Hour) }

func setupStage(t *testing.T, tune func(*slack.Channel), options ...slacktest.Option) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	s := &stage{Server: slacktest.Start(t, options...), t: t, ctx: ctx, drafts: channeltest.NewDrafts()}
	s.channel = s.open(tune)
	return s
}

// open makes another channel of the same bot, as another process does.
func (s *stage) open(tune func(*slack.Channel)) *slack.Channel {
	s.t.Helper()
	c, err := slack.New(slack.Options{BotToken: slacktest.BotToken, APIURL: s.APIURL(), Stream: true})
	require.NoError(s.t, err)
	tune(c)
	return c
}

// asked is a message that a turn answers.
type asked struct {
	id      string // the turn's
	msg     domain.Inbound
	channel string
}

// accept has a person ask something, in a thread of its own unless it is a direct
// message.
func (s *stage) accept(channel string) asked {
	s.t.Helper()
	ts := s.Say(slacktest.Ana, channel, "do it").TS
	msg := domain.Inbound{
		Channel: slack.Name, Scope: slacktest.Team + "/" + channel, PlatformID: ts, Chat: slacktest.Team + "/" + channel,
		Thread: ts, Sender: slacktest.Ana, Text: "do it", Push: true,
	}
	if channel == slacktest.DM {
		msg.Thread = ""
	}
	return asked{id: "m" + ts, msg: msg, channel: channel}
}

// turn is the turn of a message, and of those that joined it.
func (s *stage) turn(a asked, joined ...asked) channels.PresentedTurn {
	t := channels.PresentedTurn{ID: a.id, Reply: "o-" + a.id, Messages: []domain.Inbound{a.msg}, Drafts: s.drafts}
	for _, j := range joined {
		t.Messages = append(t.Messages, j.msg)
	}
	return t
}

// ask is accept, and presents the turn.
func (s *stage) ask(channel string) asked {
	s.t.Helper()
	a := s.accept(channel)
	s.channel.Present(s.turn(a))
	return a
}

// resume presents a turn of which another process has shown something.
func (s *stage) resume(a asked) {
	t := s.turn(a)
	t.Resumed = true
	s.channel.Present(t)
}

// await waits for something to be so at Slack.
func (s *stage) await(cond func() bool) {
	s.t.Helper()
	require.Eventually(s.t, cond, 20*time.Second, 2*time.Millisecond)
}

// emit lets things happen in a turn.
func (s *stage) emit(a asked, events ...event.Event) {
	for _, e := range events {
		s.channel.Show(a.id, e)
	}
}

// idle waits until what ended turns show is done.
func (s *stage) idle() { s.channel.Wait(s.ctx) }

// drafted waits for the draft of a message and returns it.
func (s *stage) drafted(a asked, cond func(slacktest.Message) bool) slacktest.Message {
	s.t.Helper()
	var draft slacktest.Message
	s.await(func() bool {
		for _, m := range s.Posted() {
			if m.Channel == a.channel && m.ThreadTS == a.msg.Thread && cond(m) {
				draft = m
				return true
			}
		}
		return false
	})
	return draft
}

func anyMessage(slacktest.Message) bool { return true }

// end ends a turn whose reply takes over its draft, and returns where that is.
func (s *stage) end(a asked) (draft string) {
	s.channel.Pause(s.ctx, a.id)
	return s.drafts.Take(a.id)
}

// conclude shows that a turn has ended.
func (s *stage) conclude(a asked, failed, replied bool) {
	s.channel.Conclude(s.turn(a), failed, replied)
}

// deliver sends a reply as the outbox does.
func (s *stage) deliver(c *slack.Channel, a asked, draft, text string) channels.Sent {
	s.t.Helper()
	sent, err := c.Send(s.ctx, s.reply(a, draft, text))
	require.NoError(s.t, err)
	return sent
}

func (s *stage) reply(a asked, draft, text string) domain.Outbound {
	return domain.Outbound{
		ID: "o-" + a.id, Channel: slack.Name, Chat: a.msg.Chat, Thread: a.msg.Thread, Text: text, Draft: draft,
	}
}

// answer ends the turn and delivers its reply.
func (s *stage) answer(a asked, text string) channels.Sent {
	s.t.Helper()
	sent := s.deliver(s.channel, a, s.end(a), text)
	s.conclude(a, false, true)
	return sent
}

// final requires that a message has exactly this one reply, as it is to be.
func (s *stage) final(a asked, text string) {
	s.t.Helper()
	var ours []slacktest.Message
	for _, m := range s.Posted() {
		if m.Channel == a.channel && m.ThreadTS == a.msg.Thread {
			ours = append(ours, m)
		}
	}
	require.Len(s.t, ours, 1)
	require.Equal(s.t, text, ours[0].Text)
	require.False(s.t, ours[0].Streaming)
	require.JSONEq(s.t, `{"id":"o-`+a.id+`"}`, string(ours[0].Metadata.EventPayload))
}

func (s *stage) reactions(a asked) []string {
	var names []string
	for _, r := range s.Message(a.channel, a.msg.PlatformID).Reactions {
		names = append(names, r.Name)
	}
	return names
}

// noticed is the condition that a message has the reaction that it is seen.
func (s *stage) noticed(a asked) func() bool {
	return func() bool { return slices.Contains(s.reactions(a), "eyes") }
}

func text(words string) event.Event { return event.Event{Kind: event.Text, Text: words} }

func tool(name, what string) event.Event {
	return event.Event{Kind: event.ToolStart, Tool: name, Text: what}
}

var reset = event.Event{Kind: event.Reset}

// metadataOf is the metadata of a draft.
type metadataOf struct {
	ID    string `json:"id"`
	Draft bool   `json:"draft"`
}

func isDraftOf(t *testing.T, m slacktest.Message, a asked) {
	t.Helper()
	require.NotNil(t, m.Metadata)
	require.Equal(t, "holdfast_reply", m.Metadata.EventType)
	var payload metadataOf
	require.NoError(t, json.Unmarshal(m.Metadata.EventPayload, &payload))
	require.Equal(t, metadataOf{ID: "o-" + a.id, Draft: true}, payload)
}
