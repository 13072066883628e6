package matrix_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
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
)

func TestWhatIsReceived(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, chat := s.direct()
	s.run()
	first := s.Say(matrixtest.Ana, room, "Grüße <b>\x00 & more")
	for _, tt := range []struct {
		say  func() string
		want string
	}{
		{func() string { return first }, "Grüße <b> & more"},
		{func() string {
			return s.Say(matrixtest.Ana, room, "waves", matrixtest.With("msgtype", "m.emote"))
		}, "* waves"},
		{func() string {
			return s.Say(matrixtest.Ana, room, "Here", matrixtest.With("msgtype", "m.location"), matrixtest.With("geo_uri", "geo:52.5,13.4"))
		}, "Here\ngeo:52.5,13.4"},
		{func() string { return s.Say(matrixtest.Ana, room, "and this?", matrixtest.ReplyingTo(first)) }, "> Grüße <b> & more\n\nand this?"},
		{func() string {
			return s.Say(matrixtest.Ana, room, "> <@ana:example.org> Grüße\n> more\n\nand this?", matrixtest.ReplyingTo(first))
		}, "> Grüße <b> & more\n\nand this?"},
		{func() string { return s.Say(matrixtest.Ana, room, "!status") }, "/status"},
		{func() string { return s.Say(matrixtest.Ana, room, "!important: this") }, "!important: this"},
		{func() string {
			return s.Say(matrixtest.Ana, room, "in a thread", matrixtest.InThread(first))
		}, "in a thread"},
	} {
		id := tt.say()
		var got domain.Inbound
		require.NoError(t, s.backend.Await(s.ctx, func(channeltest.Counts) bool {
			all := s.backend.Accepted()
			if len(all) > 0 {
				got = all[len(all)-1]
			}
			return got.PlatformID == id
		}), tt.want)
		require.Equal(t, tt.want, got.Text)
		require.Equal(t, chat, got.Chat)
		require.Equal(t, matrixtest.Ana, got.Sender)
		require.WithinDuration(t, time.Now(), got.SentAt, time.Minute)
	}
	all := s.backend.Accepted()
	require.Equal(t, first, all[len(all)-1].Thread)
}

func TestWhatIsAnsweredInRooms(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room := s.Room(matrixtest.Ana, matrixtest.Ben)
	s.run()
	root := s.Say(matrixtest.Ana, room, "not for the bot")
	for i, tt := range []struct {
		text    string
		options []matrixtest.SayOption
		want    string // empty: it is not answered
	}{
		{matrixtest.BotName + ": hello", []matrixtest.SayOption{matrixtest.Mentioning(matrixtest.Bot)}, "hello"},
		{"hello @holdfast:example.org there", []matrixtest.SayOption{matrixtest.With("m.mentions", nil)}, "hello @holdfast:example.org there"},
		{"@holdfast:example.org, hi", []matrixtest.SayOption{matrixtest.With("m.mentions", nil)}, "hi"},
		{"Holdfast Bot: pill", []matrixtest.SayOption{
			matrixtest.With("m.mentions", nil), matrixtest.With("formatted_body", `<a href="https://matrix.to/#/%40holdfast%3Aexample.org">Holdfast Bot</a>: pill`),
		}, "pill"},
		{"holdfast bot: old client", []matrixtest.SayOption{matrixtest.With("m.mentions", nil)}, "old client"},
		{"@holdfast:example.org is quoted, not mentioned", nil, ""},
		{"a notice", []matrixtest.SayOption{matrixtest.Mentioning(matrixtest.Bot), matrixtest.With("msgtype", "m.notice")}, ""},
		{"in a thread", []matrixtest.SayOption{matrixtest.InThread(root)}, ""},
		{"Holdfast Bot: in a thread", []matrixtest.SayOption{matrixtest.InThread(root), matrixtest.Mentioning(matrixtest.Bot)}, ""},
	} {
		before := len(s.backend.Accepted())
		s.Say(matrixtest.Ana, room, tt.text, tt.options...)
		require.NoError(t, s.Listening(s.ctx))
		all := s.backend.Accepted()
		if tt.want == "" && i < 8 {
			require.Len(t, all, before, tt.text)
			continue
		}
		require.Len(t, all, before+1, tt.text)
		if tt.want != "" {
			require.Equal(t, tt.want, all[before].Text)
		}
		require.Equal(t, room, all[before].Chat)
	}
	in := s.backend.Accepted()
	require.Equal(t, root, in[len(in)-1].Thread)
	s.Say(matrixtest.Ben, room, "now it takes part", matrixtest.InThread(root))
	s.accepted(len(in) + 1)

	sent, err := s.channel.Send(s.ctx, reply(room, "o1", "an answer"))
	require.NoError(t, err)
	s.Say(matrixtest.Ben, room, "thanks", matrixtest.ReplyingTo(sent.PlatformID))
	require.Equal(t, "> an answer\n\nthanks", s.accepted(len(in) + 2)[len(in)+1].Text, "a reply to the bot is for the bot")
	out := reply(room, "o1", "a better answer")
	out.Draft = sent.PlatformID
	_, err = s.channel.Send(s.ctx, out)
	require.NoError(t, err)
	require.NoError(t, s.Listening(s.ctx))
	s.Say(matrixtest.Ben, room, "even better", matrixtest.ReplyingTo(sent.PlatformID))
	require.Equal(t, "> a better answer\n\neven better", s.accepted(len(in) + 3)[len(in)+2].Text, "it quotes what is shown now")
	require.NoError(t, s.stop())
	s = openAt(t, s.Server, s.backend, nil).run()
	s.Say(matrixtest.Ben, room, "still", matrixtest.ReplyingTo(sent.PlatformID))
	require.Equal(t, "> a better answer\n\nstill", s.accepted(len(in) + 4)[len(in)+3].Text)
	s.Say(matrixtest.Ben, room, "under the answer", matrixtest.InThread(sent.PlatformID))
	require.Equal(t, "under the answer", s.accepted(len(in) + 5)[len(in)+4].Text, "the bot's message began the thread")
}

func TestStrangersGetACode(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *matrix.Options) { o.Users = nil }).run()
	room := s.Invite(matrixtest.Ben, true, false)
	s.await(func() bool {
		membership, _ := s.Membership(room, matrixtest.Bot)
		return membership == "join"
	})
	s.Say(matrixtest.Ben, room, "let me in")
	s.await(func() bool { return len(s.ours(room)) == 1 })
	require.Contains(t, s.ours(room)[0].Body, "holdfast pairing approve PAIR-"+matrixtest.Ben)
	s.backend.Approve(matrix.Name, matrixtest.Ben)
	s.Say(matrixtest.Ben, room, "thanks")
	require.Equal(t, "thanks", s.accepted(1)[0].Text)
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *matrix.Options) { o.Users = []string{matrixtest.Ana} })
	joined := func(room string) {
		t.Helper()
		s.await(func() bool {
			membership, _ := s.Membership(room, matrixtest.Bot)
			return membership == "join"
		})
	}
	waiting := s.Invite(matrixtest.Ana, true, false)
	s.Say(matrixtest.Ana, waiting, "before we ever ran")
	s.run()
	joined(waiting)
	require.Equal(t, "before we ever ran", s.accepted(1)[0].Text)

	s.Fail(matrixtest.Join, 2, faulty.Fault{Status: http.StatusBadGateway})
	room := s.Invite(matrixtest.Ana, true, false)
	s.Say(matrixtest.Ana, room, "are you there?")
	joined(room)
	require.Equal(t, "are you there?", s.accepted(2)[1].Text, "written between the invitation and our joining")
	require.Equal(t, "direct/"+room, s.backend.Accepted()[1].Chat)

	other := s.Invite(matrixtest.Ben, false, false)
	s.await(func() bool { return s.log.has("invitation ignored: the user is not allowed") })
	membership, _ := s.Membership(other, matrixtest.Bot)
	require.Equal(t, "invite", membership)

	sealed := s.Invite(matrixtest.Ana, true, true)
	s.await(func() bool {
		membership, _ := s.Membership(sealed, matrixtest.Bot)
		return membership == "leave"
	})
	_, reason := s.Membership(sealed, matrixtest.Bot)
	require.Equal(t, "I cannot read encrypted rooms. Please invite me to a room without encryption.", reason)
}

func TestARoomWithAThirdPersonIsNotDirect(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, direct := s.direct()
	s.run()
	s.Say(matrixtest.Ana, room, "for the bot")
	require.Equal(t, direct, s.accepted(1)[0].Chat)
	s.Move(room, matrixtest.Ana, matrixtest.Ben, "join")
	s.Say(matrixtest.Ana, room, "for Ben")
	s.Say(matrixtest.Ana, room, "for the bot", matrixtest.Mentioning(matrixtest.Bot))
	all := s.accepted(2)
	require.Equal(t, room, all[1].Chat)
	require.Equal(t, "for the bot", all[1].Text)
}

func TestEncryptedRooms(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, _ := s.direct()
	s.run()
	for range 3 {
		s.Happen(matrixtest.Ana, room, "m.room.encrypted", nil, map[string]any{"algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "…"})
	}
	s.Say(matrixtest.Ana, room, "in the clear")
	s.accepted(1)
	require.Equal(t, 1, s.log.count("a room is encrypted, nothing in it can be read"))
}

func TestOrderAndRedelivery(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, _ := s.direct()
	s.run()
	s.backend.FailAccept(1)
	first := s.Say(matrixtest.Ana, room, "one")
	s.Say(matrixtest.Ana, room, "two")
	for range 3 {
		s.Again(room, first)
	}
	s.accepted(2)
	require.NoError(t, s.stop())

	s.Say(matrixtest.Ana, room, "three") // while we are away
	again := openAt(t, s.Server, s.backend, nil).run()
	again.accepted(3)
	again.Fail(matrixtest.Sync, 2, faulty.Fault{Status: http.StatusBadGateway})
	again.Fail(matrixtest.Sync, 1, faulty.Fault{Status: http.StatusOK, Body: `{"rooms": 3}`})
	again.Fail(matrixtest.Sync, 1, faulty.Fault{Status: http.StatusOK, Body: `{}`})
	again.LoseResponse(matrixtest.Sync, 2)
	again.Down()
	again.Say(matrixtest.Ana, room, "four")
	again.Up()
	again.accepted(4)
	require.NoError(t, again.Listening(again.ctx))
	var texts []string
	for _, msg := range s.backend.Accepted() {
		texts = append(texts, msg.Text)
	}
	require.Equal(t, []string{"one", "two", "three", "four"}, texts)
}

func TestThePositionMovesOnlyAfterAcceptance(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, _ := s.direct()
	s.run()
	cursor := func() string {
		at, err := s.backend.Cursor(s.ctx, matrix.Name, "sync")
		require.NoError(t, err)
		return at
	}
	before := cursor()
	release := s.backend.BlockAccept()
	s.Say(matrixtest.Ana, room, "hi")
	require.NoError(t, s.backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
	require.Equal(t, before, cursor())
	release()
	require.NoError(t, s.Listening(s.ctx))
	require.Equal(t, s.Position(), cursor())
}

// TestWhatSyncLeavesOutIsReadFromTheHistory is a week in which much is written.
func TestWhatSyncLeavesOutIsReadFromTheHistory(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, _ := s.direct()
	other := s.Room(matrixtest.Ana, matrixtest.Ben)
	s.Say(matrixtest.Ana, room, "before we ever ran")
	s.run()
	s.Say(matrixtest.Ana, room, "0")
	s.accepted(1)
	require.NoError(t, s.stop())
	var want []string
	for i := range 350 {
		want = append(want, strconv.Itoa(i))
		if i > 0 {
			s.Say(matrixtest.Ana, room, want[i])
		}
		s.Say(matrixtest.Ben, other, "chatter")
	}
	s.Say(matrixtest.Ben, other, "hey", matrixtest.Mentioning(matrixtest.Bot))
	again := openAt(t, s.Server, s.backend, nil)
	again.Fail(matrixtest.Messages, 1, faulty.Fault{Status: http.StatusBadGateway})
	again.LoseResponse(matrixtest.Messages, 1)
	again.run()
	var got []string
	for _, msg := range again.accepted(351) {
		if msg.Chat != other {
			got = append(got, msg.Text)
		}
	}
	require.Equal(t, want, got)
}

func TestAnUnknownPosition(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, _ := s.direct()
	s.run()
	require.NoError(t, s.stop())
	s.Forget()
	again := openAt(t, s.Server, s.backend, nil)
	again.Say(matrixtest.Ana, room, "lost with the database")
	again.run()
	require.True(t, again.log.has("the homeserver does not know how far messages were read"))
	again.Say(matrixtest.Ana, room, "hi")
	require.Equal(t, "hi", again.accepted(1)[0].Text)
}

func TestARefusalThatIsNotAboutThePositionKeepsIt(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room, _ := s.direct()
	s.run()
	require.NoError(t, s.stop())
	s.Say(matrixtest.Ana, room, "hi")
	calls := 0
	news := func(method string) bool { // the call before it looks for invitations
		if method == matrixtest.Sync {
			calls++
		}
		return method == matrixtest.Sync && calls == 2
	}
	s.FailSome(news, 1, faulty.Fault{Status: 400, Body: `{"errcode":"M_BAD_JSON","error":"filter"}`})
	again := openAt(t, s.Server, s.backend, nil)
	require.ErrorContains(t, again.channel.Run(again.ctx, again.backend), "M_BAD_JSON")
	again = openAt(t, s.Server, s.backend, nil).run()
	require.Equal(t, "hi", again.accepted(1)[0].Text)
}

func TestARevokedTokenIsLoggedUntilThereIsANewOne(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.run()
	s.Revoke()
	require.Eventually(t, func() bool { return s.log.has("M_UNKNOWN_TOKEN") }, 20*time.Second, 10*time.Millisecond)
	require.True(t, s.log.has("check the account and channels.matrix.access_token"))
	require.NotContains(t, s.log.String(), matrixtest.Token)
}

func TestChangesOfARequest(t *testing.T) {
	t.Parallel()
	s := openAt(t, matrixtest.Start(t), channeltest.NewBackend(channeltest.Hold), nil)
	room, _ := s.direct()
	s.run()
	first := s.Say(matrixtest.Ana, room, "draw a cat")
	s.accepted(1)
	s.Edit(matrixtest.Ben, room, first, "not his")
	s.Edit(matrixtest.Ana, room, first, "draw a dog")
	all := s.accepted(3)
	require.Equal(t, "/stop", all[1].Text)
	require.Equal(t, "draw a dog", all[2].Text)
	for _, msg := range all {
		s.backend.End(s.backend.MessageID(msg.Channel, msg.Scope, msg.PlatformID), channeltest.Answer{})
	}

	second := s.Say(matrixtest.Ana, room, "draw a bird")
	s.accepted(4)
	s.Remove(matrixtest.Ana, room, second)
	require.Equal(t, "/stop", s.accepted(5)[4].Text)
	s.Edit(matrixtest.Ana, room, first, "too late")
	require.NoError(t, s.Listening(s.ctx))
	require.Len(t, s.backend.Accepted(), 5)
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*setup){"authenticated": func(*setup) {}, "old server": func(s *setup) { s.BeOld() }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, nil)
			prepare(s)
			room, _ := s.direct()
			s.run()
			s.Say(matrixtest.Ana, room, "", matrixtest.WithFile(s.Server, "../notes.txt", "text/plain", []byte("hello")))
			s.Say(matrixtest.Ana, room, "look", matrixtest.WithFile(s.Server, "plot.png", "image/png", []byte("\x89PNG\r\n\x1a\n")))
			s.Say(matrixtest.Ana, room, "", matrixtest.WithFile(s.Server, "big.txt", "text/plain", make([]byte, 2<<20)))
			s.Say(matrixtest.Ana, room, "", matrixtest.With("msgtype", "m.file"), matrixtest.With("body", "gone.txt"), matrixtest.With("url", "mxc://example.org/gone"))
			all := s.accepted(4)
			require.Empty(t, all[0].Text)
			require.Equal(t, "look", all[1].Text)
			saved := map[string]string{}
			var notes []string
			for _, msg := range all {
				out, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: msg, Save: channeltest.SaveTo(saved)})
				require.NoError(t, err)
				require.Equal(t, "Ana", out.SenderName)
				notes = append(notes, out.Notes...)
			}
			require.Equal(t, map[string]string{"notes.txt": "hello", "plot.png": "\x89PNG\r\n\x1a\n"}, saved)
			require.Equal(t, []string{"big.txt (2 MB) is larger than 1 MB", "gone.txt is not available: M_NOT_FOUND"}, notes)
		})
	}
}

func TestTheThreadBeforeARequest(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	room := s.Room(matrixtest.Ana, matrixtest.Ben)
	s.run()
	root := s.Say(matrixtest.Ana, room, "which day?")
	s.Say(matrixtest.Ana, room, "elsewhere")
	said := s.Say(matrixtest.Ben, room, "Monday", matrixtest.InThread(root))
	s.Edit(matrixtest.Ben, room, said, "Tuesday")
	time.Sleep(2 * tick) // the homeserver's clock has milliseconds
	s.Say(matrixtest.Ana, room, "put it down", matrixtest.InThread(root), matrixtest.Mentioning(matrixtest.Bot))
	s.Say(matrixtest.Ana, room, "and hurry", matrixtest.InThread(root), matrixtest.With("m.mentions", nil))
	out, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: s.accepted(1)[0]})
	require.NoError(t, err)
	var before []string
	for _, earlier := range out.Before {
		before = append(before, earlier.Name+": "+earlier.Text)
	}
	require.Equal(t, []string{"Ana: which day?", "Ben: Tuesday"}, before)
}

func TestMalformedEventsAreSkipped(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *matrix.Options) { o.Users = []string{channels.Anyone} })
	room, _ := s.direct()
	s.run()
	random := rand.New(rand.NewPCG(1, 2))
	odd := []any{nil, true, -1, 1e300, "", "x", "\x00", []any{}, map[string]any{}, []any{nil, 1, "x"}, map[string]any{"event_id": 3}, map[string]any{"rel_type": "m.replace", "event_id": "$x"}}
	fields := []string{"msgtype", "body", "url", "info", "m.relates_to", "m.new_content", "m.mentions", "filename", "formatted_body", "redacts", "membership"}
	kinds := []string{"m.room.message", "m.sticker", "m.room.redaction", "m.room.encrypted", "m.room.member"}
	for range 1000 {
		content := map[string]any{"msgtype": "m.text", "body": "x"}
		for range 1 + random.IntN(3) {
			content[fields[random.IntN(len(fields))]] = odd[random.IntN(len(odd))]
		}
		kind, by, nobody := kinds[random.IntN(len(kinds))], matrixtest.Ben, "@x:example.org"
		if kind == "m.room.member" {
			s.Happen(by, room, kind, &nobody, content)
			continue
		}
		s.Happen(by, room, kind, nil, content)
	}
	s.Say(matrixtest.Ana, room, "hi", matrixtest.Mentioning(matrixtest.Bot))
	require.NoError(t, s.Listening(s.ctx))
	all := s.backend.Accepted()
	require.Equal(t, "hi", all[len(all)-1].Text)
	require.False(t, s.log.has("panic"))
}

func FuzzEvent(f *testing.F) {
	channel, err := matrix.New(matrix.Options{Homeserver: "http://127.0.0.1:1", AccessToken: "x"})
	require.NoError(f, err)
	for _, seed := range []map[string]any{
		{"msgtype": "m.text", "body": "> <@a:b> x\n\nhi", "m.relates_to": map[string]any{"m.in_reply_to": map[string]any{"event_id": "$a"}}},
		{"msgtype": "m.file", "body": "a.txt", "url": "mxc://a/b", "info": map[string]any{"size": 3}},
		{"m.new_content": map[string]any{"body": "x"}, "m.relates_to": map[string]any{"rel_type": "m.replace", "event_id": "$a"}},
	} {
		raw, _ := json.Marshal(map[string]any{"event_id": "$1", "type": "m.room.message", "sender": "@a:b", "content": seed})
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if post, is := matrix.Read(channel, "!r:b", raw).(*chat.Post); is {
			require.NotEmpty(t, post.PlatformID)
			require.NotEmpty(t, post.Sender)
		}
	})
}
