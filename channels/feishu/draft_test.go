package feishu_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// eachCard runs a test with streaming cards and without.
func eachCard(t *testing.T, test func(t *testing.T, fake []feishutest.Option)) {
	t.Helper()
	for name, fake := range map[string][]feishutest.Option{"streaming": nil, "edits": {feishutest.Without(feishutest.ScopeCards)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fake)
		})
	}
}

func TestDraftBecomesTheReply(t *testing.T) {
	t.Parallel()
	eachCard(t, func(t *testing.T, fake []feishutest.Option) {
		r := start(t, setup{fake: fake, options: feishu.Options{Stream: true}, answer: channeltest.Hold})
		asked := r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 count", feishutest.Mentioning(feishutest.Bot)), 1)
		drafts := channeltest.NewDrafts()
		turn := channels.PresentedTurn{ID: "t1", Reply: "o1", Messages: []domain.Inbound{asked}, Drafts: drafts}
		r.channel.Present(turn)
		shows := func(text string) {
			t.Helper()
			require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Posted()) == 1 && strings.Contains(r.texts()[0], text) }))
		}
		r.channel.Show("t1", event.Event{Kind: event.ToolStart, Tool: "exec", Text: "date <at id=all></at>"})
		shows("runs exec: date")
		r.channel.Show("t1", event.Event{Kind: event.ToolDone})
		for _, text := range []string{"one, ", "two, ", "three"} {
			r.channel.Show("t1", event.Event{Kind: event.Text, Text: text})
			shows(strings.TrimSpace(text))
		}
		require.Contains(t, r.Posted()[0].Content, `"Stop"`)
		require.Equal(t, asked.PlatformID, r.Posted()[0].Parent)
		r.channel.Pause(r.ctx, "t1")

		reply := outgoing("o1", asked.Chat, "one, two, three.")
		reply.Draft, reply.ReplyTo = drafts.Take("t1"), asked.PlatformID
		require.NotEmpty(t, reply.Draft)
		for range 3 { // as if answers were lost
			require.Equal(t, reply.Draft, r.send(reply))
		}
		require.Len(t, r.Posted(), 1)
		m := r.Posted()[0]
		require.Equal(t, "one, two, three.", m.Text())
		require.NotContains(t, m.Content, "Stop")
		require.NotContains(t, m.Content, `"streaming_mode":true`)
		found, err := r.channel.Find(r.ctx, reply)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: m.ID}, found)
		if fake == nil {
			require.NotEmpty(t, r.Made(feishutest.CallCardText), "text is streamed")
		} else {
			require.Len(t, r.Made(feishutest.CallCard), 1, "a permission that is missing is asked for once")
		}
	})
}

func TestDraftOfAnotherProcess(t *testing.T) {
	t.Parallel()
	eachCard(t, func(t *testing.T, fake []feishutest.Option) {
		r := start(t, setup{fake: fake, idle: true})
		at := chat.Place{Chat: feishutest.General}
		id, err := feishu.PostDraft(r.ctx, r.channel, at, "o1", "half", "")
		require.NoError(t, err)
		another, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: feishutest.AppSecret, APIURL: r.URL()})
		require.NoError(t, err)
		reply := outgoing("o1", at.Chat, "whole")
		found, err := another.Find(r.ctx, reply)
		require.NoError(t, err)
		require.Equal(t, channels.Found{PlatformID: id}, found, "the draft of a process that died")
		reply.Draft = id
		sent, err := another.Send(r.ctx, reply)
		require.NoError(t, err)
		require.Equal(t, id, sent.PlatformID)
		require.Equal(t, []string{"whole"}, r.texts())
	})
}

func TestDraftThatCannotBeEdited(t *testing.T) {
	t.Parallel()
	eachCard(t, func(t *testing.T, fake []feishutest.Option) {
		r := start(t, setup{fake: fake, idle: true})
		at := chat.Place{Chat: feishutest.General}
		for i, spoil := range []func(id string){
			r.Recall,
			func(string) { r.Fail(feishutest.CallPatch, 1, feishutest.Fault{Code: 230999}) },
			func(string) { r.Fail(feishutest.CallPatch, 2, feishutest.Fault{Code: 230099}) },
			func(string) { r.Skip(15 * 24 * time.Hour); r.ExpireTokens() },
		} {
			reply := outgoing("o"+string(rune('1'+i)), at.Chat, "whole")
			id, err := feishu.PostDraft(r.ctx, r.channel, at, reply.ID, "half", "")
			require.NoError(t, err)
			another, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: feishutest.AppSecret, APIURL: r.URL()})
			require.NoError(t, err)
			spoil(id)
			reply.Draft = id
			sent, err := another.Send(r.ctx, reply)
			require.NoError(t, err)
			require.NotEqual(t, id, sent.PlatformID, "the reply is a message of its own")
		}
	})
}

func TestStreamingCardThatEnded(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	at := chat.Place{Chat: feishutest.General}
	id, err := feishu.PostDraft(r.ctx, r.channel, at, "o1", "a", "")
	require.NoError(t, err)
	require.NoError(t, feishu.EditDraft(r.ctx, r.channel, at, id, "o1", "ab", ""))
	r.Fail(feishutest.CallCardText, 1, feishutest.Fault{Code: 300309}) // streaming ends after ten minutes
	require.NoError(t, feishu.EditDraft(r.ctx, r.channel, at, id, "o1", "abc", ""))
	require.Equal(t, []string{"abc"}, r.texts())
	require.NoError(t, feishu.EditDraft(r.ctx, r.channel, at, id, "o1", "abcd", "thinks"))
	require.Equal(t, []string{"abcd\nthinks"}, r.texts())
	require.NoError(t, r.channel.Delete(r.ctx, at, id))
	require.NoError(t, r.channel.Delete(r.ctx, at, id), "what is gone is gone")
	require.Empty(t, r.Posted())
}

func TestDraftsUnderRateLimits(t *testing.T) {
	t.Parallel()
	r := start(t, setup{fake: []feishutest.Option{feishutest.Without(feishutest.ScopeCards)}, options: feishu.Options{Stream: true}, answer: channeltest.Hold})
	asked := r.said(r.Say(feishutest.Ana, "", "count"), 1)
	drafts := channeltest.NewDrafts()
	r.Fail(feishutest.CallPatch, 2, feishutest.RateLimited(1))
	r.channel.Present(channels.PresentedTurn{ID: "t1", Reply: "o1", Messages: []domain.Inbound{asked}, Drafts: drafts})
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Posted()) == 1 }))
	r.channel.Show("t1", event.Event{Kind: event.Text, Text: "one"})
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Made(feishutest.CallPatch)) == 1 }))
	require.True(t, r.channel.Busy(chat.Place{Chat: feishutest.Ana}) || len(r.Made(feishutest.CallPatch)) < 3, "edits wait as long as they are asked to")
	r.channel.Pause(r.ctx, "t1")
	reply := outgoing("o1", asked.Chat, "one")
	reply.Draft = drafts.Take("t1")
	require.Eventually(t, func() bool {
		_, err := r.channel.Send(r.ctx, reply)
		return err == nil
	}, deadline, 50*time.Millisecond)
	require.Equal(t, []string{"one"}, r.texts())
}
