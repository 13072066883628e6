package dingtalk_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestPlainMessages(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	sent, err := s.channel.Send(s.ctx, reply("o1", dingtalktest.Group, "**Done**\nsee below\n\n| a | b |\n|---|---|\n| 1 | 2 |"))
	require.NoError(t, err)
	_, err = s.channel.Send(s.ctx, reply("o2", dingtalktest.Ana, "hi"))
	require.NoError(t, err)
	posts := s.Posts()
	require.Equal(t, dingtalktest.Group, posts[0].To, "a group is answered in the group")
	require.Equal(t, posts[0].Key, sent.PlatformID)
	require.Equal(t, "Done", posts[0].Title)
	require.Contains(t, posts[0].Text, "**Done**  \nsee below")
	require.Contains(t, posts[0].Text, "```\n| a | b |")
	require.Equal(t, dingtalktest.Ana, posts[1].To)
	require.Equal(t, 1, s.Calls(dingtalktest.AccessToken), "the token is used again")
	require.Zero(t, s.channel.KeyLasts(), "a plain message is not recognized")

	s.RevokeTokens()
	_, err = s.channel.Send(s.ctx, reply("o3", dingtalktest.Ana, "hi"))
	require.Equal(t, http.StatusServiceUnavailable, remote.As(err).Status)
	_, err = s.channel.Send(s.ctx, reply("o3", dingtalktest.Ana, "hi"))
	require.NoError(t, err, "with a new token")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	send := func(to string) error {
		_, err := s.channel.Send(s.ctx, reply("o1", to, "hi"))
		return err
	}
	s.Remove(dingtalktest.Group)
	s.Remove(dingtalktest.Ben)
	require.ErrorIs(t, send(dingtalktest.Group), channels.ErrGone)
	require.ErrorIs(t, send(dingtalktest.Ben), channels.ErrGone)

	s.Withhold(dingtalktest.Ana, 1)
	require.Equal(t, http.StatusTooManyRequests, remote.As(send(dingtalktest.Ana)).Status)
	calls := s.Calls(dingtalktest.SendPerson)
	require.Equal(t, http.StatusTooManyRequests, remote.As(send(dingtalktest.Ana)).Status)
	require.Equal(t, calls, s.Calls(dingtalktest.SendPerson), "DingTalk is left alone")

	for code, want := range map[string]int{
		`{"code":"Forbidden.AccessDenied.QpsLimitForAppkeyAndApi"}`:     http.StatusTooManyRequests,
		`{"code":"Forbidden.AccessDenied.AccessTokenPermissionDenied"}`: http.StatusServiceUnavailable,
		`{"code":"invalidParameter.msgParam","message":"too long"}`:     http.StatusBadRequest,
		`<html>a proxy</html>`: http.StatusServiceUnavailable,
	} {
		s.Fail(dingtalktest.SendGroup, 1, faulty.Fault{Status: http.StatusBadRequest, Body: code})
		failed := remote.As(send("cid" + code))
		require.NotNil(t, failed, code)
		require.Equal(t, want, failed.Status, code)
		require.NotErrorIs(t, failed, channels.ErrGone)
	}
}

func TestCardsAreCreatedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, withCards)
	require.Positive(t, s.channel.KeyLasts())
	for i := range 20 {
		s.LoseResponse(dingtalktest.CreateCard, 1)
		msg := reply(fmt.Sprintf("o%d", i), dingtalktest.Group, fmt.Sprintf("answer %d", i))
		_, err := s.channel.Send(s.ctx, msg)
		require.Zero(t, remote.As(err).Status, "whether it was created is unknown")
		sent, err := s.channel.Send(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, chat.Message{ID: msg.ID}.Key(), sent.PlatformID)
	}
	cards := s.Cards()
	require.Len(t, cards, 20)
	for i, card := range cards {
		require.Equal(t, dingtalktest.Group, card.To)
		require.Equal(t, fmt.Sprintf("answer %d", i), card.Text)
		require.Equal(t, 2, card.Created)
	}
	s.Remove("cidGone")
	_, err := s.channel.Send(s.ctx, reply("gone", "cidGone", "hi"))
	require.ErrorIs(t, err, channels.ErrGone)
}

func TestACardShowsTheTurnAndBecomesTheReply(t *testing.T) {
	t.Parallel()
	s := open(t, withCards)
	drafts := channeltest.NewDrafts()
	turn := channels.PresentedTurn{ID: "t1", Reply: "o1", Messages: []domain.Inbound{{Chat: dingtalktest.Ana, PlatformID: "1", Sender: dingtalktest.Ana}}, Drafts: drafts}
	s.channel.Present(turn)
	s.channel.Show("t1", event.Event{Kind: event.Text, Text: "Let me"})
	s.await(func() bool { return len(s.Cards()) == 1 })
	s.channel.Show("t1", event.Event{Kind: event.Text, Text: " see"})
	s.await(func() bool { return s.Cards()[0].Text == "Let me see" })
	require.False(t, s.Cards()[0].Final)
	s.channel.Pause(s.ctx, "t1")
	s.channel.Conclude(turn, false, true)

	final := reply("o1", dingtalktest.Ana, "Done")
	final.Draft = drafts.Take("t1")
	s.LoseResponse(dingtalktest.StreamCard, 1)
	_, err := s.channel.Send(s.ctx, final)
	require.NotNil(t, remote.As(err))
	s.Fail(dingtalktest.StreamCard, 1, faulty.Fault{Status: http.StatusInternalServerError, Body: `{"code":"unknownError"}`})
	for range 2 {
		_, err = s.channel.Send(s.ctx, final)
		require.NoError(t, err)
	}
	card := s.Cards()[0]
	require.Equal(t, "Done", card.Text)
	require.Equal(t, "3", card.Variables["flowStatus"])
	require.Len(t, s.Cards(), 1)
	require.Empty(t, s.Posts())

	final.Draft = "gone"
	_, err = s.channel.Send(s.ctx, final)
	require.NoError(t, err)
	require.Len(t, s.Cards(), 2, "a draft that is gone is replaced")
	require.NoError(t, s.channel.Discard(s.ctx, domain.Draft{Chat: dingtalktest.Ana, PlatformID: card.ID}))
	require.Equal(t, "…", s.Cards()[0].Text)
}

func TestApprovalsByButtonsAndWords(t *testing.T) {
	t.Parallel()
	s := open(t, withCards).run()
	question := reply("o1", dingtalktest.Group, "May I run it?")
	question.Approval = "a2b3c4d5"
	sent, err := s.channel.Send(s.ctx, question)
	require.NoError(t, err)
	card := s.Cards()[0]
	require.Equal(t, "a2b3c4d5", card.Variables["question"])
	require.Contains(t, card.Text, "`/approve a2b3c4d5`")

	for range 2 {
		require.NoError(t, s.Click(dingtalktest.Ana, card.ID, "approve").Wait(s.ctx))
	}
	require.NoError(t, s.Click("stranger", card.ID, "deny").Wait(s.ctx))
	require.NoError(t, s.Click(dingtalktest.Ana, "unknown", "deny").Wait(s.ctx))
	require.NoError(t, s.Click(dingtalktest.Ana, card.ID, "like").Wait(s.ctx))
	require.NoError(t, s.Say(dingtalktest.Ana, "/stop", dingtalktest.InGroup(dingtalktest.Group)).Wait(s.ctx))
	all := s.backend.Accepted()
	require.Len(t, all, 2)
	require.Equal(t, "/approve a2b3c4d5", all[0].Text)
	require.Equal(t, dingtalktest.Group, all[0].Chat)
	require.Equal(t, "/stop", all[1].Text)

	question.PlatformID = sent.PlatformID
	closed, err := s.channel.CloseQuestion(s.ctx, question, "Approved by Ana")
	require.NoError(t, err)
	require.True(t, closed)
	card = s.Cards()[0]
	require.Equal(t, "May I run it?\n\n> Approved by Ana", card.Text)
	require.Empty(t, card.Variables["question"], "its buttons are gone")
}

func TestLongReply(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "Paragraph **%d** with some words that make it longer, 中文 and 👩‍👩‍👧.\n\n", i)
		if i == 100 {
			b.WriteString("| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc main() {}\n```\n\n")
		}
	}
	b.WriteString("```\n" + strings.Repeat("line of code\n", 500) + "```\n")
	for i, part := range s.channel.Split(b.String()) {
		out := reply(fmt.Sprintf("o1/%d", i), dingtalktest.Group, part.Text)
		if part.File != "" {
			out.File, out.Content, out.Text = part.File, []byte(part.Text), ""
		}
		_, err := s.channel.Send(s.ctx, out)
		require.NoError(t, err)
	}
	var all strings.Builder
	for _, post := range s.Posts() {
		all.WriteString(post.Text + "\n")
	}
	for i := range 300 {
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("Paragraph **%d** with", i)))
	}
	last := s.Posts()[len(s.Posts())-1]
	require.Equal(t, "snippet-1.txt", last.File)
	require.Equal(t, strings.Repeat("line of code\n", 500), string(last.Content))
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	out := reply("o1", dingtalktest.Ana, "the report")
	out.File, out.Content = "report.pdf", []byte("%PDF-1.4")
	s.Fail(dingtalktest.Upload, 1, faulty.Fault{Status: http.StatusOK, Body: `{"errcode":40014,"errmsg":"invalid access_token"}`})
	_, err := s.channel.Send(s.ctx, out)
	require.Equal(t, http.StatusServiceUnavailable, remote.As(err).Status)
	s.Fail(dingtalktest.Upload, 1, faulty.Fault{})
	_, err = s.channel.Send(s.ctx, out)
	require.NotContains(t, err.Error(), "access_token", "it would be in the address")
	_, err = s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	out.ID, out.File, out.Content, out.Text = "o2", "plot.png", []byte("\x89PNG\r\n\x1a\n0000"), ""
	_, err = s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	posts := s.Posts()
	require.Len(t, posts, 3)
	require.Equal(t, "report.pdf", posts[0].File)
	require.Equal(t, "%PDF-1.4", string(posts[0].Content))
	require.Equal(t, "the report", posts[1].Text)
	require.Equal(t, "image", posts[2].File)

	file := func(code, name string) map[string]any { return map[string]any{"downloadCode": code, "fileName": name} }
	notes, big := s.Store([]byte("hello")), s.Store([]byte(strings.Repeat("x", 2<<20)))
	for _, content := range []map[string]any{file(notes, "../notes.txt"), file(big, "big.txt"), file("expired", "old.txt")} {
		require.NoError(t, s.Say(dingtalktest.Ana, "", dingtalktest.With("msgtype", "file"), dingtalktest.With("content", content)).Wait(s.ctx))
	}
	saved, noted := map[string]string{}, []string{}
	for _, msg := range s.accepted(3) {
		enriched, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: msg, Save: channeltest.SaveTo(saved)})
		require.NoError(t, err)
		noted = append(noted, enriched.Notes...)
	}
	require.Equal(t, map[string]string{"notes.txt": "hello"}, saved)
	require.Equal(t, []string{"big.txt is larger than 1 MB", "old.txt is no longer stored by DingTalk"}, noted)
}

func TestCheck(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	texts := func(c *dingtalk.Channel) string {
		var all []string
		for _, f := range c.CheckSetup(s.ctx) {
			all = append(all, string(f.Level)+" "+f.Text)
		}
		return strings.Join(all, "\n")
	}
	require.Equal(t, "ok the app "+dingtalktest.ClientID+" is known to DingTalk; replies are plain messages\nok answers 2 people, in direct messages and in 1 group it is invited to", texts(s.channel))
	require.Zero(t, s.Connections(), "no message is taken from a running process")

	wrong := open(t, func(o *dingtalk.Options) { o.ClientSecret = "wrong" })
	require.Contains(t, texts(wrong.channel), "fail DingTalk rejects the credentials: ")
	s.Down()
	require.Contains(t, texts(open(t, func(o *dingtalk.Options) { o.APIURL = s.URL() }).channel), "does not answer like DingTalk")
}
