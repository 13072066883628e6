package matrix_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/matrix"
	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestReplies(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, root := s.Room(matrixtest.Ana, matrixtest.Ben), ""
	root = s.Say(matrixtest.Ana, room, "question")
	for i, tt := range []struct {
		change func(*domain.Outbound)
		want   matrixtest.Shown
	}{
		{func(o *domain.Outbound) { o.ReplyTo = root }, matrixtest.Shown{ReplyTo: root}},
		{func(o *domain.Outbound) { o.ReplyTo = root + "-$edit" }, matrixtest.Shown{ReplyTo: root}},
		{func(o *domain.Outbound) { o.ReplyTo = "command-7" }, matrixtest.Shown{}},
		{func(o *domain.Outbound) { o.ReplyTo, o.Part = root, 2 }, matrixtest.Shown{}},
		{func(o *domain.Outbound) { o.ReplyTo, o.Thread = root, root }, matrixtest.Shown{ReplyTo: root, Thread: root}},
		{func(o *domain.Outbound) { o.Thread = root }, matrixtest.Shown{Thread: root}},
	} {
		out := reply(room, fmt.Sprintf("o%d", i), "**Done** @room")
		tt.change(&out)
		sent, err := s.channel.Send(s.ctx, out)
		require.NoError(t, err)
		got := s.ours(room)[i]
		require.Equal(t, sent.PlatformID, got.ID)
		require.Equal(t, "m.text", got.Type)
		require.Equal(t, "**Done** @room", got.Body)
		require.Equal(t, "<p><strong>Done</strong> @room</p>\n", got.HTML)
		require.Equal(t, tt.want.ReplyTo, got.ReplyTo)
		require.Equal(t, tt.want.Thread, got.Thread)
	}
	for _, e := range s.Events(room, "m.room.message")[1:] {
		require.Equal(t, map[string]any{}, e.Content["m.mentions"], "it notifies nobody by accident")
	}
}

// TestOneReply loses the answers to posts and edits, on a homeserver that forgets keys.
func TestOneReply(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, chat := s.direct()
	for i := range 20 {
		out := reply(chat, fmt.Sprintf("o%d", i), fmt.Sprintf("answer %d", i))
		out.FirstClaimedAt = time.Now()
		s.LoseResponse(matrixtest.Send, 1)
		_, err := s.channel.Send(s.ctx, out)
		require.NotNil(t, remote.As(err))
		require.Zero(t, remote.As(err).Status, "whether it was sent is unknown")
		if i%2 == 0 {
			sent, err := s.channel.Send(s.ctx, out)
			require.NoError(t, err, "with the same key")
			require.Equal(t, s.ours(room)[i].ID, sent.PlatformID)
			continue
		}
		s.Restart()
		found, err := s.channel.Find(s.ctx, out)
		require.NoError(t, err)
		require.Equal(t, channels.Found{Posted: true, PlatformID: s.ours(room)[i].ID}, found)
	}
	require.Len(t, s.ours(room), 20)
}

func TestForgedMarksAreIgnored(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, chat := s.direct()
	s.Say(matrixtest.Ana, room, "I am the reply", matrixtest.With("ai.holdfast.message", map[string]any{"id": "o1"}))
	found, err := s.channel.Find(s.ctx, reply(chat, "o1", "hi"))
	require.NoError(t, err)
	require.Zero(t, found)
}

func TestDrafts(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, direct := s.direct()
	drafts := channeltest.NewDrafts()
	turn := channels.PresentedTurn{
		ID: "m1", Reply: "o1", Messages: []domain.Inbound{{Chat: direct, PlatformID: "$1", Sender: matrixtest.Ana}}, Drafts: drafts,
	}
	s.channel.Present(turn)
	s.await(func() bool { return len(s.TypingCalls()) > 0 })
	require.Equal(t, matrixtest.TypingCall{Room: room, User: matrixtest.Bot, On: true}, s.TypingCalls()[0])
	s.channel.Show("m1", event.Event{Kind: event.Text, Text: "It is *Tues"})
	s.await(func() bool { return len(s.ours(room)) == 1 && strings.HasPrefix(s.ours(room)[0].Body, "It is *Tues") })
	s.channel.Pause(s.ctx, "m1")
	id := s.ours(room)[0].ID
	out := reply(direct, "o1", "It is *Tuesday*.")
	out.Draft = id
	s.LoseResponse(matrixtest.Send, 1)
	_, err := s.channel.Send(s.ctx, out)
	require.Error(t, err)
	sent, err := s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	require.Equal(t, id, sent.PlatformID)
	all := s.ours(room)
	require.Len(t, all, 1)
	require.Equal(t, "It is *Tuesday*.", all[0].Body)
	require.Equal(t, "<p>It is <em>Tuesday</em>.</p>\n", all[0].HTML)
	found, err := s.channel.Find(s.ctx, out)
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)

	require.NoError(t, s.channel.Discard(s.ctx, domain.Draft{Chat: direct, PlatformID: id}))
	require.NoError(t, s.channel.Discard(s.ctx, domain.Draft{Chat: direct, PlatformID: id}), "it may be repeated")
	require.Empty(t, s.ours(room))
	_, err = s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	require.Len(t, s.ours(room), 1, "an edit of a removed draft would be seen by nobody")
}

func TestWhatWasWrittenOfAStoppedAnswerStays(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, direct := s.direct()
	id, err := matrix.Draft(s.ctx, s.channel, direct, "o1", "The first half", "runs exec")
	require.NoError(t, err)
	draft := domain.Draft{Turn: "m1", Chat: direct, PlatformID: id, ClaimedAt: time.Now()}
	require.Equal(t, "o1", draft.Reply())
	for range 2 {
		kept, err := s.channel.Keep(s.ctx, draft, "stopped")
		require.NoError(t, err)
		require.True(t, kept)
	}
	require.Equal(t, "The first half\n\n— stopped", s.ours(room)[0].Body)
	require.Contains(t, s.ours(room)[0].HTML, "<em>stopped</em>")
}

func TestLongReply(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, direct := s.direct()
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "Paragraph **%d** with some \"words\" that make it longer, 中文 and 👩‍👩‍👧 <T>.\n\n", i)
		if i == 100 {
			b.WriteString("| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc main() {}\n```\n\n")
		}
	}
	b.WriteString("```\n" + strings.Repeat("line of code\n", 200) + "```\n")
	parts := s.channel.Split(b.String())
	for i, part := range parts {
		out := reply(direct, fmt.Sprintf("o1/%d", i), part.Text)
		if part.File != "" {
			out.File, out.Content, out.Text = part.File, []byte(part.Text), ""
		}
		_, err := s.channel.Send(s.ctx, out)
		require.NoError(t, err)
	}
	var shown strings.Builder
	for _, m := range s.ours(room) {
		shown.WriteString(m.HTML)
		require.Less(t, m.Size, 65_536)
	}
	all := shown.String()
	for i := range 900 {
		require.Equal(t, 1, strings.Count(all, fmt.Sprintf("<strong>%d</strong>", i)))
	}
	require.Contains(t, all, "<th>a</th>")
	require.Contains(t, all, "&lt;T&gt;")
	last := s.ours(room)[len(parts)-1]
	require.Equal(t, strings.Repeat("line of code\n", 200), string(last.File.Content))
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, direct := s.direct()
	for i, file := range []struct {
		name, text, kind, body string
		content                []byte
	}{
		{"report.pdf", "here **it** is", "m.file", "here **it** is", []byte("%PDF-1.4 0123456789")},
		{"plot.png", "", "m.image", "plot.png", []byte("\x89PNG\r\n\x1a\n0000")},
		{"empty.txt", "", "m.file", "empty.txt", nil},
	} {
		out := reply(direct, fmt.Sprintf("o%d", i), file.text)
		out.File, out.Content = file.name, file.content
		s.Fail(matrixtest.Upload, 1, faulty.Fault{Status: http.StatusInternalServerError})
		_, err := s.channel.Send(s.ctx, out)
		require.Error(t, err)
		s.LoseResponse(matrixtest.Send, 1)
		_, err = s.channel.Send(s.ctx, out)
		require.Error(t, err)
		_, err = s.channel.Send(s.ctx, out)
		require.NoError(t, err)
		all := s.ours(room)
		require.Len(t, all, i+1)
		require.Equal(t, file.kind, all[i].Type)
		require.Equal(t, file.body, all[i].Body)
		require.Equal(t, file.name, all[i].File.Name)
		require.Equal(t, string(file.content), string(all[i].File.Content))
	}
	s.Fail(matrixtest.Upload, 1, faulty.Fault{Status: http.StatusRequestEntityTooLarge, Body: `{"errcode":"M_TOO_LARGE","error":"too large"}`})
	out := reply(direct, "o9", "")
	out.File, out.Content = "big.bin", []byte("x")
	_, err := s.channel.Send(s.ctx, out)
	require.True(t, remote.As(err).Permanent())
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	_, direct := s.direct()
	limited := func(ms int) {
		s.Fail(matrixtest.Send, 1, faulty.Fault{Status: http.StatusTooManyRequests, Body: fmt.Sprintf(`{"errcode":"M_LIMIT_EXCEEDED","error":"Too Many Requests","retry_after_ms":%d}`, ms)})
	}
	limited(60_000)
	_, err := s.channel.Send(s.ctx, reply(direct, "o1", "hi"))
	require.Equal(t, http.StatusTooManyRequests, remote.As(err).Status)
	require.Equal(t, time.Minute, remote.As(err).RetryAfter)
	calls := s.Calls(matrixtest.Send)
	_, err = s.channel.Send(s.ctx, reply(direct, "o1", "hi"))
	require.Greater(t, remote.As(err).RetryAfter, 50*time.Second)
	require.Equal(t, calls, s.Calls(matrixtest.Send), "the homeserver is left alone")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault     faulty.Fault
		gone      bool
		permanent bool
		says      string
	}{
		"no power to write":  {faulty.Fault{Status: 403, Body: `{"errcode":"M_FORBIDDEN","error":"You don't have permission to post that to the room."}`}, true, true, "permission"},
		"an unknown room":    {faulty.Fault{Status: 404, Body: `{"errcode":"M_NOT_FOUND","error":"Unknown room"}`}, true, true, "Unknown room"},
		"a revoked token":    {faulty.Fault{Status: 401, Body: `{"errcode":"M_UNKNOWN_TOKEN","error":"Access token has expired"}`}, false, false, "check the account and channels.matrix.access_token"},
		"a locked account":   {faulty.Fault{Status: 401, Body: `{"errcode":"M_USER_LOCKED","error":"This account has been locked","soft_logout":true}`}, false, false, "check the account"},
		"too large":          {faulty.Fault{Status: 413, Body: `{"errcode":"M_TOO_LARGE","error":"event too large"}`}, false, true, "M_TOO_LARGE"},
		"a proxy's refusal":  {faulty.Fault{Status: 403, Body: `<html>blocked</html>`}, false, false, "Forbidden"},
		"a redirect":         {faulty.Fault{Status: 302, Header: http.Header{"Location": {"http://127.0.0.1:1/"}}}, false, false, "Found"},
		"an overloaded one":  {faulty.Fault{Status: 502}, false, false, "Bad Gateway"},
		"an old rate limit":  {faulty.Fault{Status: 400, Body: `{"errcode":"M_LIMIT_EXCEEDED","error":"slow","retry_after_ms":-5}`}, false, false, "slow"},
		"a cut connection":   {faulty.Fault{}, false, false, "EOF"},
		"nonsense as answer": {faulty.Fault{Status: 200, Body: `[`}, false, false, "read the answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil)
			_, direct := s.direct()
			s.Fail(matrixtest.Send, 1, tt.fault)
			_, err := s.channel.Send(s.ctx, reply(direct, "o1", "hi"))
			require.ErrorContains(t, err, tt.says)
			require.Equal(t, tt.permanent, remote.As(err).Permanent())
			if tt.gone {
				require.ErrorIs(t, err, channels.ErrGone)
			} else {
				require.NotErrorIs(t, err, channels.ErrGone)
			}
			require.NotContains(t, err.Error(), matrixtest.Token)
		})
	}
}

func TestApprovalsAreAnsweredInWords(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, direct := s.direct()
	question := reply(direct, "o1", "May I run `rm`?")
	question.Approval = "a1b2"
	sent, err := s.channel.Send(s.ctx, question)
	require.NoError(t, err)
	require.Contains(t, s.ours(room)[0].Body, "Answer `/approve a1b2` or `/deny a1b2`.")
	question.PlatformID = sent.PlatformID
	closed, err := s.channel.CloseQuestion(s.ctx, question, "Approved by Ana")
	require.NoError(t, err)
	require.True(t, closed)
	require.Equal(t, "May I run `rm`?\n\n— Approved by Ana", s.ours(room)[0].Body)
	s.run()
	s.Say(matrixtest.Ana, room, "!approve a1b2")
	require.Equal(t, "/approve a1b2", s.accepted(1)[0].Text)
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, other := s.Room(matrixtest.Ana, matrixtest.Ben), s.Room(matrixtest.Ben)
	s.Address(room, "#ops:"+matrixtest.Host)
	for _, to := range []string{"#ops", "#ops:" + matrixtest.Host, room} {
		chat, err := s.channel.Resolve(s.ctx, matrixtest.Ana, to)
		require.NoError(t, err)
		require.Equal(t, room, chat)
	}
	for _, to := range []string{"#none", other, "!nowhere:example.org", "ops", "@nobody:example.org"} {
		_, err := s.channel.Resolve(s.ctx, matrixtest.Ana, to)
		require.Error(t, err, to)
	}
	chat, err := s.channel.Resolve(s.ctx, matrixtest.Ana, matrixtest.Ben)
	require.NoError(t, err)
	again, err := s.channel.Resolve(s.ctx, matrixtest.Ana, matrixtest.Ben)
	require.NoError(t, err)
	require.Equal(t, chat, again, "the room is used again")
	require.True(t, matrix.IsDirect(chat))
	membership, _ := s.Membership(strings.TrimPrefix(chat, "direct/"), matrixtest.Ben)
	require.Equal(t, "invite", membership)
	s.Move(strings.TrimPrefix(chat, "direct/"), matrixtest.Ben, matrixtest.Ben, "leave")
	another, err := s.channel.Resolve(s.ctx, matrixtest.Ana, matrixtest.Ben)
	require.NoError(t, err)
	require.NotEqual(t, chat, another, "nobody reads what is written there")

	at, err := s.channel.Locate(s.ctx, room, "$abc")
	require.NoError(t, err)
	require.Equal(t, room, at)
	for _, bad := range [][2]string{{"ops", ""}, {room, "abc"}} {
		_, err := s.channel.Locate(s.ctx, bad[0], bad[1])
		require.ErrorAs(t, err, &channels.MalformedError{})
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *matrix.Options) { o.Users = []string{matrixtest.Ana} })
	text := func() string {
		var all strings.Builder
		for _, f := range s.channel.CheckSetup(s.ctx) {
			fmt.Fprintf(&all, "%s %s\n", f.Level, f.Text)
		}
		return all.String()
	}
	require.Contains(t, text(), "ok connected as @holdfast:example.org, device DEVICEHOL\nwarn the account is in no room")
	room, _ := s.direct()
	require.NotContains(t, text(), "encrypted")
	nobody := ""
	s.Happen(matrixtest.Ana, room, "m.room.encryption", &nobody, map[string]any{"algorithm": "m.megolm.v1.aes-sha2"})
	require.Contains(t, text(), "warn the room "+room+" is encrypted: nothing in it can be read")

	s.Revoke()
	revoked := openAt(t, s.Server, s.backend, nil)
	findings := revoked.channel.CheckSetup(s.ctx)
	require.Equal(t, chat.LevelFail, findings[0].Level)
	require.Contains(t, findings[0].Text, "the homeserver rejects the access token: matrix: status 503: whoami: M_UNKNOWN_TOKEN")
	s.Down()
	require.Contains(t, openAt(t, s.Server, s.backend, nil).channel.CheckSetup(s.ctx)[0].Text, "does not answer like a Matrix homeserver")
}

func TestTheHomeserverIsFoundByItsName(t *testing.T) {
	t.Parallel()
	said, status := "", http.StatusOK
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/matrix/client":
			w.WriteHeader(status)
			_, _ = w.Write([]byte(said))
		case "/elsewhere/_matrix/client/v3/account/whoami", "/_matrix/client/v3/account/whoami":
			_, _ = w.Write([]byte(`{"user_id":"` + r.URL.Path + `"}`))
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"errcode":"M_NOT_FOUND"}`))
		}
	}))
	t.Cleanup(server.Close)
	ask := func() (string, error) {
		c, err := matrix.New(matrix.Options{Homeserver: strings.TrimPrefix(server.URL, "https://"), AccessToken: "x"})
		require.NoError(t, err)
		matrix.SetTransport(c, server.Client().Transport)
		self, err := c.Identify(t.Context())
		return self.ID, err
	}
	said = `{"m.homeserver":{"base_url":"` + server.URL + `/elsewhere/"}}`
	got, err := ask()
	require.NoError(t, err)
	require.Equal(t, "/elsewhere/_matrix/client/v3/account/whoami", got)
	status = http.StatusNotFound
	got, err = ask()
	require.NoError(t, err)
	require.Equal(t, "/_matrix/client/v3/account/whoami", got)
	for _, said = range []string{`{"m.homeserver":{"base_url":"http://insecure"}}`, `{}`, `<html>`} {
		status = http.StatusOK
		_, err = ask()
		require.ErrorContains(t, err, "does not say where")
	}
	status = http.StatusBadGateway
	_, err = ask()
	require.False(t, remote.As(err).Permanent())
}
