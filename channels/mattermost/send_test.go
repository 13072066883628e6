package mattermost_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestQuiet(t *testing.T) {
	t.Parallel()
	const z = "\u200b"
	for said, want := range map[string]string{
		"@channel @all @here":                      "@" + z + "channel @" + z + "all @" + z + "here",
		"x.@here_@all (@Ana) **@ben**":             "x.@" + z + "here_@" + z + "all (@" + z + "Ana) **@" + z + "ben**",
		"@.@channel @-@all @@here":                 "@" + z + ".@" + z + "channel @" + z + "-@" + z + "all @" + z + "@" + z + "here",
		"ana@example.com costs 3 @ 4":              "ana@example.com costs 3 @ 4",
		"`@channel` and\n```\n@all\n```\n@here":    "`@channel` and\n```\n@all\n```\n@" + z + "here",
		"https://medium.com/@ana [x](http://a/@b)": "https://medium.com/%40ana [x](http://a/%40b)",
		"`@channel":                                 "`@" + z + "channel",
		"| a |\n|---|\n| @all |":                    "| a |\n|---|\n| @" + z + "all |",
		"<b>@all</b> <!-- -->@here":                 "<b>@" + z + "all</b> <!-- -->@" + z + "here",
		"@" + z + "all":                             "@" + z + "all",
		"e\u0301@channel 日本@all":                    "e\u0301@" + z + "channel 日本@all",
		strings.Repeat("x ", 60_000) + "`@channel`": strings.Repeat("x ", 60_000) + "`@" + z + "channel`",
	} {
		require.Equal(t, want, mattermost.Quiet(said), said)
	}
}

func TestOneReplyWhateverIsLost(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const n = 100
	s.LoseResponse(mattermosttest.CreatePost, n)
	for i := range n {
		msg := reply(fmt.Sprintf("o%d", i), directly, "hi")
		msg.FirstClaimedAt = time.Now()
		_, err := s.channel.Send(s.ctx, msg)
		require.NotNil(t, remote.As(err))
		if i%2 == 0 { // the server was restarted meanwhile
			s.Forget()
			found, err := s.channel.Find(s.ctx, msg)
			require.NoError(t, err)
			require.True(t, found.Posted)
		}
	}
	s.Heal()
	for i := 1; i < 3; i += 2 { // these keys the server still has
		_, err := s.channel.Send(s.ctx, reply(fmt.Sprintf("o%d", n-i), directly, "hi"))
		require.NoError(t, err)
	}
	require.Len(t, s.Ours(mattermosttest.DM), n)
	require.Zero(t, s.channel.KeyLasts(), "a key is never relied upon alone")
}

func TestAReplyIsFoundIfTheServersClockIsBehind(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.SetBack(10 * time.Minute)
	s.LoseResponse(mattermosttest.CreatePost, 1)
	msg := reply("o1", directly, "hi")
	msg.FirstClaimedAt = time.Now()
	_, err := s.channel.Send(s.ctx, msg)
	require.NotNil(t, remote.As(err))
	found, err := s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.True(t, found.Posted)
}

func TestRepliesInThreads(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	root := s.Say(mattermosttest.Ana, mattermosttest.General, "hi")
	msg := reply("o1", mattermosttest.General, "hello")
	msg.Thread, msg.FirstClaimedAt = root.ID, time.Now()
	sent, err := s.channel.Send(s.ctx, msg)
	require.NoError(t, err)
	require.Equal(t, root.ID, s.Ours(mattermosttest.General)[0].RootID)
	for i := range 450 { // it is found beyond the first page
		s.Say(mattermosttest.Ben, mattermosttest.General, strconv.Itoa(i), mattermosttest.In(root.ID))
	}
	other := reply("o2", mattermosttest.General, "later")
	other.Thread, other.FirstClaimedAt = root.ID, time.Now().Add(-time.Hour)
	last, err := s.channel.Send(s.ctx, other)
	require.NoError(t, err)
	for id, want := range map[string]string{"o1": sent.PlatformID, "o2": last.PlatformID} {
		other.ID = id
		found, err := s.channel.Find(s.ctx, other)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: want}, found)
	}
	s.Remove(root.ID)
	msg.ID = "o3"
	_, err = s.channel.Send(s.ctx, msg)
	require.ErrorIs(t, err, channels.ErrGone)
}

func TestWhereNobodyCanWrite(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.Archive(mattermosttest.General)
	s.Leave(mattermosttest.Group)
	for _, where := range []string{mattermosttest.General, mattermosttest.Group, "nochannelnochannelnochanne1"} {
		_, err := s.channel.Send(s.ctx, reply("o1", where, "hi"))
		require.ErrorIs(t, err, channels.ErrGone)
		require.True(t, remote.As(err).Permanent())
	}
}

func TestDraftsBecomeReplies(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	msg := reply("o1", directly, "The answer.")
	at := chat.Place{Chat: directly}
	id, err := s.channel.Post(s.ctx, at, chat.Message{ID: "o1", Draft: true, Part: 1, Text: "The", Note: "runs `exec`: @all"})
	require.NoError(t, err)
	require.Equal(t, "The\n\n\u200b*runs \\`exec\\`\\: @\u200ball*", s.Ours(mattermosttest.DM)[0].Message)
	found, err := s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.Equal(t, channels.Found{PlatformID: id}, found)

	kept, err := s.channel.Keep(s.ctx, domain.Draft{Turn: "t1", Chat: directly, PlatformID: id, ClaimedAt: time.Now()}, "stopped")
	require.NoError(t, err)
	require.True(t, kept)
	require.Equal(t, "The\n\n\u200b*stopped*", s.Ours(mattermosttest.DM)[0].Message)

	msg.Draft = id
	for range 2 {
		sent, err := s.channel.Send(s.ctx, msg)
		require.NoError(t, err)
		require.Equal(t, id, sent.PlatformID)
	}
	require.Len(t, s.Ours(mattermosttest.DM), 1)
	require.Equal(t, "The answer.", s.Ours(mattermosttest.DM)[0].Message)

	s.Remove(id)
	sent, err := s.channel.Send(s.ctx, msg)
	require.NoError(t, err)
	require.NotEqual(t, id, sent.PlatformID, "somebody deleted the draft")
	require.NoError(t, s.channel.Delete(s.ctx, at, id), "deleting again is no error")
	s.Fail(mattermosttest.EditPost, 1, faulty.Fault{Status: http.StatusBadRequest, Body: `{"id":"api.post.update_post.permissions_time_limit.app_error"}`})
	require.ErrorIs(t, s.channel.Edit(s.ctx, at, sent.PlatformID, chat.Message{Text: "x"}), chat.ErrNoMessage)
}

func TestLongReplies(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	long := strings.Repeat("A sentence with @ana in it, and then some more words that mean nothing at all. ", 420)
	require.Len(t, s.channel.Split(long), 3)
	small := open(t, nil)
	small.LimitPosts(4000)
	require.Greater(t, len(small.channel.Split(long)), 8)
	for i, p := range small.channel.Split("```go\n" + strings.Repeat("fmt.Println(1)\n", 1000) + "```\n" + long) {
		msg := reply(fmt.Sprintf("o%d", i), directly, p.Text)
		msg.Part = i + 1
		_, err := small.channel.Send(s.ctx, msg)
		require.NoError(t, err)
	}
	for _, p := range small.Ours(mattermosttest.DM) {
		require.LessOrEqual(t, utf8.RuneCountInString(p.Message), 4000)
		require.Zero(t, strings.Count(p.Message, "```")%2)
	}
	away := open(t, nil)
	away.Fail(mattermosttest.Config, faulty.Always, faulty.Fault{Status: http.StatusBadGateway})
	require.Greater(t, len(away.channel.Split(long)), 8, "every server takes 4,000 characters")
	_, err := away.channel.Post(away.ctx, chat.Place{Chat: directly}, chat.Message{Text: long})
	require.NoError(t, err, "what is too long is cut")
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	msg := reply("o1", directly, "The report.")
	msg.File, msg.Content, msg.FirstClaimedAt = "report ä.pdf", []byte("%PDF-1.4"), time.Now()
	s.LoseResponse(mattermosttest.CreatePost, 1)
	s.LoseResponse(mattermosttest.Upload, 1)
	for range 2 {
		_, err := s.channel.Send(s.ctx, msg)
		require.NotNil(t, remote.As(err))
	}
	found, err := s.channel.Find(s.ctx, msg)
	require.NoError(t, err)
	require.True(t, found.Posted)
	ours := s.Ours(mattermosttest.DM)
	require.Len(t, ours, 1)
	require.Equal(t, "The report.", ours[0].Message)
	require.Equal(t, "report ä.pdf", s.File(ours[0].FileIDs[0]).Name)
	require.Equal(t, "%PDF-1.4", string(s.File(ours[0].FileIDs[0]).Content))
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]http.Header{
		"Retry-After":   {"Retry-After": {"60"}},
		"seconds":       {"X-Ratelimit-Reset": {"60"}},
		"a time":        {"X-Ratelimit-Reset": {strconv.FormatInt(time.Now().Unix()+60, 10)}},
		"what is wrong": {"X-Ratelimit-Reset": {"soon"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil)
			s.channel.Split(strings.Repeat("x", 9000)) // the limit is known
			s.Fail(mattermosttest.CreatePost, 1, faulty.Fault{Status: http.StatusTooManyRequests, Header: header, Body: "limit exceeded"})
			_, err := s.channel.Send(s.ctx, reply("o1", directly, "hi"))
			require.False(t, remote.As(err).Permanent())
			if name == "what is wrong" {
				require.Equal(t, time.Second, remote.As(err).RetryAfter)
				return
			}
			require.InDelta(t, 60, remote.As(err).RetryAfter.Seconds(), 20)
			require.True(t, s.channel.Busy(chat.Place{}))
			_, err = s.channel.Send(s.ctx, reply("o1", directly, "hi"))
			require.Equal(t, http.StatusTooManyRequests, remote.As(err).Status)
			require.Equal(t, 1, s.Calls(mattermosttest.CreatePost), "not called while the server asked to wait")
		})
	}
}

func TestSomethingInBetweenAnswers(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for _, status := range []int{301, 403, 404, 407} {
		s.Fail(mattermosttest.CreatePost, 1, faulty.Fault{Status: status, Body: "<html>"})
		_, err := s.channel.Send(s.ctx, reply("o1", directly, "hi"))
		require.Equal(t, http.StatusBadGateway, remote.As(err).Status)
		require.NotErrorIs(t, err, channels.ErrGone)
	}
}

func TestTyping(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	require.NoError(t, s.channel.Indicate(s.ctx, chat.Place{Chat: directly}, chat.Indication{Text: "thinks"}))
	require.NoError(t, s.channel.Indicate(s.ctx, chat.Place{Chat: directly}, chat.Indication{}))
	require.Equal(t, []string{mattermosttest.DM}, s.Typed())
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	for to, want := range map[string]string{"~general": mattermosttest.General, "#General": mattermosttest.General, "@ana": directly, mattermosttest.General: mattermosttest.General} {
		got, err := s.channel.Resolve(s.ctx, mattermosttest.Ana, to)
		require.NoError(t, err, to)
		require.Equal(t, want, got)
	}
	for to, want := range map[string]string{
		"~secret": "not in a channel named", "~nothing": "not in a channel named", "@nobody": "no one is called nobody",
		"@stranger": "may not write to stranger", "": "neither", directly: "direct message",
	} {
		_, err := s.channel.Resolve(s.ctx, mattermosttest.Ana, to)
		require.ErrorContains(t, err, want, to)
	}
	in, err := s.channel.Locate(s.ctx, mattermosttest.DM, "")
	require.NoError(t, err)
	require.Equal(t, directly, in)
	_, err = s.channel.Locate(s.ctx, "general", "")
	require.ErrorAs(t, err, &channels.MalformedError{})
	_, err = s.channel.Locate(s.ctx, mattermosttest.General, "x")
	require.ErrorAs(t, err, &channels.MalformedError{})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	check := func(s *setup) string {
		var b strings.Builder
		for _, f := range s.channel.CheckSetup(s.ctx) {
			fmt.Fprintln(&b, f.Level, f.Text, f.Fix)
		}
		return b.String()
	}
	all := check(open(t, withButtons))
	require.Contains(t, all, "ok connected as holdfast")
	require.Contains(t, all, "ok in 1 team(s): Team")
	require.Contains(t, all, "warn channels.mattermost.url is not encrypted")
	require.Contains(t, all, "ok approvals have buttons")
	require.Contains(t, check(open(t, func(o *mattermost.Options) { o.Token = "wrong" })), "fail unknown token")
	away := open(t, nil)
	away.Down()
	require.Contains(t, check(away), "fail "+away.URL()+" does not answer like Mattermost")
	require.NotContains(t, check(away), mattermosttest.Token)
}

func TestButtons(t *testing.T) {
	t.Parallel()
	s := openAt(t, mattermosttest.Start(t), channeltest.NewBackend(channeltest.Hold), withButtons).run()
	require.Eventually(t, func() bool { return s.channel.Addr() != nil }, deadline, tick)
	hook := "http://" + s.channel.Addr().String() + "/mattermost"
	s.SendClicksTo(hook)
	question := reply("o1", mattermosttest.General, "May I?")
	question.Approval, question.Thread = "abcdefgh", s.Say(mattermosttest.Ana, mattermosttest.General, "x").ID
	sent, err := s.channel.Send(s.ctx, question)
	require.NoError(t, err)
	asked := s.Ours(mattermosttest.General)[0]
	require.Equal(t, []string{"approve", "deny"}, asked.Buttons())
	require.Equal(t, "May I?", asked.Message)

	s.backend.FailAccept(1)
	status, err := s.Click(mattermosttest.Ana, sent.PlatformID, "approve")
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status, "not acknowledged before it is accepted")
	for range 3 {
		status, err = s.Click(mattermosttest.Ana, sent.PlatformID, "approve")
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
	}
	got := s.accepted(1)
	require.Len(t, got, 1)
	require.Equal(t, "/approve abcdefgh", got[0].Text)
	require.Equal(t, question.Thread, got[0].Thread)
	_, err = s.Click(mattermosttest.Stranger, sent.PlatformID, "deny")
	require.NoError(t, err)
	require.Len(t, s.backend.Accepted(), 1, "a stranger may not answer")

	question.PlatformID = sent.PlatformID
	closed, err := s.channel.CloseQuestion(s.ctx, question, "Approved by Ana.")
	require.NoError(t, err)
	require.True(t, closed)
	asked = s.Ours(mattermosttest.General)[0]
	require.Empty(t, asked.Buttons())
	require.Equal(t, "May I?\n\n\u200b*Approved by Ana.*", asked.Message)

	for _, forged := range []string{
		``, `{}`, `[]`, `{"user_id":"` + mattermosttest.Ana + `","post_id":"` + sent.PlatformID + `","channel_id":"` + mattermosttest.General + `","context":{"action":"approve","value":"abcdefgh","chat":"` + mattermosttest.General + `","secret":"x"}}`,
	} {
		response, err := http.Post(hook, "application/json", strings.NewReader(forged))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusUnauthorized, response.StatusCode)
	}
	require.Len(t, s.backend.Accepted(), 1)
}

func TestWithoutButtonsTheQuestionSaysHowToAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	question := reply("o1", directly, "May I?")
	question.Approval = "abcdefgh"
	_, err := s.channel.Send(s.ctx, question)
	require.NoError(t, err)
	require.Equal(t, "May I?\n\nAnswer `approve abcdefgh` or `deny abcdefgh`. In a channel, mention me before that.", s.Ours(mattermosttest.DM)[0].Message)
	require.Empty(t, s.Ours(mattermosttest.DM)[0].Buttons())
}
