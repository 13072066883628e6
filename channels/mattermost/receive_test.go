package mattermost_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestWhatIsReceived(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	direct := s.Say(mattermosttest.Ana, mattermosttest.DM, "Grüße <b>")
	got := s.accepted(1)[0]
	require.Equal(t, direct.ID, got.PlatformID)
	require.Equal(t, directly, got.Chat)
	require.Empty(t, got.Thread)
	require.Equal(t, "ana", got.SenderName)
	require.WithinDuration(t, time.Now(), got.SentAt, time.Minute)

	root := s.Say(mattermosttest.Ana, mattermosttest.General, "@Holdfast: what is this?\n@ana")
	got = s.accepted(2)[1]
	require.Equal(t, "what is this?\n@ana", got.Text)
	require.Equal(t, mattermosttest.General, got.Chat)
	require.Equal(t, root.ID, got.Thread, "the answer opens a thread")

	s.Say(mattermosttest.Ben, mattermosttest.General, "and that?", mattermosttest.In(root.ID))
	require.Equal(t, root.ID, s.accepted(3)[2].Thread, "we take part in the thread")
	s.Say(mattermosttest.Ben, mattermosttest.Group, "hey @holdfast.")
	require.Equal(t, "hey @holdfast.", s.accepted(4)[3].Text)
	s.Say(mattermosttest.Ana, mattermosttest.General, "@holdfast stop")
	require.Equal(t, "/stop", s.accepted(5)[4].Text)
	s.Say(mattermosttest.Ana, mattermosttest.DM, " /stop")
	require.Equal(t, "/stop", s.accepted(6)[5].Text)
	s.Say(mattermosttest.Ana, mattermosttest.DM, "look", s.Attached("a.txt", "text/plain", []byte("hello")))
	require.Equal(t, "a.txt", s.accepted(7)[6].Files[0].Name)
	s.Say(mattermosttest.Ana, mattermosttest.General, "@holdfast")
	require.Equal(t, "@holdfast", s.accepted(8)[7].Text)

	ours := s.Say(mattermosttest.BotID, mattermosttest.General, "a report")
	s.Say(mattermosttest.Ben, mattermosttest.General, "thanks", mattermosttest.In(ours.ID))
	require.Equal(t, "thanks", s.accepted(9)[8].Text, "we began the thread")
}

func TestWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	system := mattermosttest.With(func(p *mattermosttest.Post) { p.Type = "system_join_channel" })
	hooked := mattermosttest.With(func(p *mattermosttest.Post) { p.Props["from_webhook"] = "true" })
	s.Say(mattermosttest.Ana, mattermosttest.General, "no mention")
	s.Say(mattermosttest.Ana, mattermosttest.General, "`@holdfast` is code, @holdfaster and ana@holdfast are others")
	s.Say(mattermosttest.Ana, mattermosttest.General, "@all @here @channel")
	s.Say(mattermosttest.Ana, mattermosttest.General, "@holdfast joined", system)
	s.Say(mattermosttest.Ana, mattermosttest.General, "@holdfast by a webhook", hooked)
	s.Say(mattermosttest.OtherBot, mattermosttest.General, "@holdfast by a bot")
	s.Say(mattermosttest.BotID, mattermosttest.DM, "our own")
	other := s.Say(mattermosttest.Ben, mattermosttest.General, "somebody else's thread")
	s.Say(mattermosttest.Ana, mattermosttest.General, "in a thread of others", mattermosttest.In(other.ID))
	s.Say(mattermosttest.Ben, mattermosttest.Secret, "@holdfast in a channel that is not allowed")
	s.Say(mattermosttest.Stranger, mattermosttest.General, "@holdfast let me in")
	s.Say(mattermosttest.Ana, mattermosttest.DM, "hi")
	require.Equal(t, []string{"hi"}, texts(s.accepted(1)))
	told := func(where, what string) {
		s.await(func() bool {
			return slices.ContainsFunc(s.Ours(where), func(p mattermosttest.Post) bool { return strings.Contains(p.Message, what) })
		})
	}
	told(mattermosttest.BensDM, "I don't answer in this channel yet. My operator can add `"+mattermosttest.Secret+"` to `channels.mattermost.allow_channels`.")
	require.Empty(t, s.Ours(mattermosttest.Secret), "told in private")
}

func TestStrangersGetACode(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *mattermost.Options) { o.Users = []string{channels.Anyone} }).run()
	direct := s.DirectWith(mattermosttest.Stranger)
	s.Say(mattermosttest.Stranger, direct, "let me in")
	s.await(func() bool { return len(s.Ours(direct)) == 1 })
	require.Contains(t, s.Ours(direct)[0].Message, "holdfast pairing approve PAIR-"+mattermosttest.Stranger, "is in none of our teams")
	s.Say(mattermosttest.Guest, s.DirectWith(mattermosttest.Guest), "I am a guest")
	s.await(func() bool { return len(s.Ours(s.DirectWith(mattermosttest.Guest))) == 1 })
	s.backend.Approve(mattermost.Name, mattermosttest.Stranger)
	s.Say(mattermosttest.Stranger, direct, "thanks")
	s.Say(mattermosttest.Ben, mattermosttest.BensDM, "I am of the team")
	all := texts(s.accepted(2))
	slices.Sort(all)
	require.Equal(t, []string{"I am of the team", "thanks"}, all)
}

func TestNothingIsLostInAWeek(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(channeltest.Hold)
	s := openAt(t, mattermosttest.Start(t), backend, nil).run()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "one")
	s.accepted(1)
	require.NoError(t, s.stop())
	var want []string
	for i := range 1500 { // more than the server returns at once
		s.Say(mattermosttest.Ben, mattermosttest.General, fmt.Sprintf("chatter %d", i))
		if i%30 == 0 {
			want = append(want, fmt.Sprintf("question %d", i))
			s.Say(mattermosttest.Ana, mattermosttest.General, fmt.Sprintf("@holdfast question %d", i))
		}
	}
	thread := s.Say(mattermosttest.Ana, mattermosttest.DM, "two")
	s.Say(mattermosttest.Ana, mattermosttest.DM, "three", mattermosttest.In(thread.ID))
	again := openAt(t, s.Server, backend, nil).run()
	var got []string
	for _, m := range again.accepted(1 + len(want) + 2) {
		if m.Chat == mattermosttest.General {
			got = append(got, m.Text)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	require.Equal(t, want, got)
	require.NoError(t, again.stop())
	require.Len(t, backend.Accepted(), 1+len(want)+2)
}

func TestPostsOfOneMillisecond(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(channeltest.Hold)
	s := openAt(t, mattermosttest.Start(t), backend, func(o *mattermost.Options) { o.Respond = chat.RespondAll }).run()
	require.NoError(t, s.stop())
	at := mattermosttest.At(time.Now().Add(time.Second))
	for i := range 1100 { // pages end between posts of the same time
		s.Say(mattermosttest.Ana, mattermosttest.General, strconv.Itoa(i), at)
		if i%7 == 6 {
			at = mattermosttest.At(time.Now().Add(time.Second + time.Duration(i)*time.Millisecond))
		}
	}
	again := openAt(t, s.Server, backend, func(o *mattermost.Options) { o.Respond = chat.RespondAll }).run()
	again.accepted(1100)
}

func TestEachMessageIsAcceptedOnceInOrder(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(channeltest.Hold)
	s := openAt(t, mattermosttest.Start(t), backend, nil).run()
	backend.FailAccept(1)
	first := s.Say(mattermosttest.Ana, mattermosttest.DM, "one")
	s.Say(mattermosttest.Ana, mattermosttest.DM, "two")
	for range 3 {
		s.Redeliver(first.ID)
	}
	s.accepted(2)

	s.Cut()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "three")
	s.accepted(3)
	_, resumed := s.Sessions()
	require.Equal(t, 1, resumed, "the session was resumed")

	s.Restart()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "four")
	s.accepted(4)

	s.Skip(1)
	s.Say(mattermosttest.Ana, mattermosttest.DM, "five")
	s.Say(mattermosttest.Ana, mattermosttest.DM, "six")
	s.accepted(6)
	require.True(t, s.log.has("events were left out"))
	require.NoError(t, s.stop())
	require.Equal(t, []string{"one", "two", "three", "four", "five", "six"}, texts(backend.Accepted()))
}

func TestTheServerIsAway(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "one")
	s.accepted(1)
	s.Down()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "two")
	s.Restart()
	s.Fail(mattermosttest.Channels, 1, faulty.Fault{Status: http.StatusBadGateway})
	s.LoseResponse(mattermosttest.GetPosts, 1)
	s.Up()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "three")
	s.accepted(3)
	require.NoError(t, s.stop())
	require.Equal(t, []string{"one", "two", "three"}, texts(s.backend.Accepted()))
}

func TestTheCursorMovesOnlyAfterAcceptance(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	before := s.position()
	release := s.backend.BlockAccept()
	said := s.Say(mattermosttest.Ana, mattermosttest.DM, "hi")
	require.NoError(t, s.backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
	require.Equal(t, before, s.position())
	release()
	require.NoError(t, s.backend.Await(s.ctx, func(channeltest.Counts) bool { return s.position() == strconv.FormatInt(said.CreateAt, 10) }))
	s.Say(mattermosttest.Ana, mattermosttest.DM, "from the future", mattermosttest.At(time.Now().Add(24*time.Hour)))
	s.accepted(2)
	s.Say(mattermosttest.Ana, mattermosttest.DM, "now")
	s.accepted(3)
	require.Less(t, s.position(), strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10), "a wrong clock does not make us skip anything")
}

func TestTheFirstStartBeginsAtThePresent(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.Say(mattermosttest.Ana, mattermosttest.DM, "long ago")
	s.run()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "now")
	require.Equal(t, []string{"now"}, texts(s.accepted(1)))
}

func TestEditedAndDeletedRequests(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	said := s.Say(mattermosttest.Ana, mattermosttest.DM, "one")
	s.accepted(1)
	s.Edit(said.ID, "two")
	all := s.accepted(3)
	require.Equal(t, []string{"one", "/stop", "two"}, texts(all))
	s.Touch(said.ID) // pinned, say
	s.Restart()
	s.Say(mattermosttest.Ben, mattermosttest.BensDM, "three")
	require.Len(t, s.accepted(4), 4, "an edit is noticed once")

	root := s.Say(mattermosttest.Ana, mattermosttest.General, "@holdfast four")
	s.accepted(5)
	s.Remove(root.ID)
	last := s.accepted(6)[5]
	require.Equal(t, "/stop", last.Text)
	require.Equal(t, root.ID, last.Thread)
}

func TestAnEditWhileWeAreAway(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(channeltest.Hold)
	s := openAt(t, mattermosttest.Start(t), backend, nil).run()
	said := s.Say(mattermosttest.Ana, mattermosttest.DM, "one")
	removed := s.Say(mattermosttest.Ben, mattermosttest.BensDM, "two")
	s.accepted(2)
	require.NoError(t, s.stop())
	s.Edit(said.ID, "three")
	s.Remove(removed.ID)
	openAt(t, s.Server, backend, nil).run().accepted(5)
	all := texts(backend.Accepted())
	slices.Sort(all)
	require.Equal(t, []string{"/stop", "/stop", "one", "three", "two"}, all)
}

func TestARevokedToken(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *mattermost.Options) { o.Token = "wrong" })
	s.start(s.backend)
	require.Eventually(t, func() bool { return s.log.has("the token is not valid: check channels.mattermost.token") }, deadline, tick)
	_, err := s.channel.Send(s.ctx, reply("o1", directly, "hi"))
	require.ErrorContains(t, err, "status 503")
	require.NotContains(t, err.Error(), "wrong")
	require.NotErrorIs(t, err, channels.ErrGone)
}

func TestWithoutTheHeaderOfTheHandshake(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	s.Before(mattermosttest.Websocket, func(r *http.Request) { r.Header.Del("Authorization") })
	s.run()
	s.Say(mattermosttest.Ana, mattermosttest.DM, "hi")
	s.accepted(1)
}

func TestEnrich(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	root := s.Say(mattermosttest.Ben, mattermosttest.General, "The printer is broken.")
	s.Say(mattermosttest.Stranger, mattermosttest.General, "Mine too.", mattermosttest.In(root.ID))
	s.Say(mattermosttest.Ana, mattermosttest.General, "@holdfast what do we do?", mattermosttest.In(root.ID), s.Attached("notes.txt", "text/plain", []byte("hello")))
	files := map[string]string{}
	rich, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: s.accepted(1)[0], Save: channeltest.SaveTo(files)})
	require.NoError(t, err)
	require.Equal(t, "Ana Lopez", rich.SenderName)
	require.Equal(t, "Europe/Berlin", rich.Zone)
	require.Equal(t, map[string]string{"notes.txt": "hello"}, files)
	require.Len(t, rich.Before, 2)
	require.Equal(t, "ben", rich.Before[0].Name)
	require.True(t, rich.Before[1].Stranger)
	require.Equal(t, 2, s.Calls(mattermosttest.Users), "one for Ana, one for all in the thread")

	bare := domain.Inbound{Channel: mattermost.Name, Chat: directly, Sender: mattermosttest.Ana, PlatformID: "p", Text: "x", Files: []domain.File{{ID: "missingmissingmissingmiss1", Name: "missingmissingmissingmiss1"}}}
	rich, err = s.channel.Enrich(s.ctx, channels.Enrichment{Message: bare, Save: channeltest.SaveTo(files)})
	require.NoError(t, err)
	require.Equal(t, []string{"missingmissingmissingmiss1 is no longer available from Mattermost"}, rich.Notes)
}

func TestMalformedEventsAreSkipped(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	random := rand.New(rand.NewPCG(1, 2))
	odd := []any{nil, true, -1, 1e300, "", "x", "\x00", []any{}, map[string]any{}, []any{nil, 1, "x"}, []any{map[string]any{"actions": "x"}}, strings.Repeat("[", 100)}
	fields := []string{"id", "create_at", "user_id", "channel_id", "root_id", "message", "type", "props", "file_ids", "metadata", "edit_at"}
	events := []string{"posted", "post_edited", "post_deleted", "typing", "", "hello?"}
	for range 1000 {
		p := map[string]any{
			"id": "aaaaaaaaaaaaaaaaaaaaaaaaaa", "create_at": 1, "user_id": mattermosttest.Stranger, "channel_id": mattermosttest.General, "message": "@holdfast", "props": map[string]any{"attachments": 3},
		}
		for range 1 + random.IntN(3) {
			p[fields[random.IntN(len(fields))]] = odd[random.IntN(len(odd))]
		}
		encoded, err := json.Marshal(p)
		require.NoError(t, err)
		data := map[string]any{"post": string(encoded), "channel_type": odd[random.IntN(len(odd))]}
		if random.IntN(10) == 0 {
			data["post"] = odd[random.IntN(len(odd))]
		}
		s.Raw(events[random.IntN(len(events))], data)
	}
	s.Say(mattermosttest.Ana, mattermosttest.DM, "hi")
	require.Equal(t, []string{"hi"}, texts(s.accepted(1)))
	require.False(t, s.log.has("panic"))
	opened, resumed := s.Sessions()
	require.Equal(t, [2]int{1, 0}, [2]int{opened, resumed}, "nothing cut the connection")
}

func TestAnEventThatIsTooLargeDoesNotComeAgain(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	s.Raw("posted", map[string]any{"post": strings.Repeat("x", 5<<20)})
	s.Say(mattermosttest.Ana, mattermosttest.DM, "hi")
	require.Equal(t, []string{"hi"}, texts(s.accepted(1)))
	opened, resumed := s.Sessions()
	require.Equal(t, [2]int{2, 0}, [2]int{opened, resumed})
}

func FuzzPost(f *testing.F) {
	f.Add([]byte(`{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","create_at":1,"user_id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","channel_id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","message":"@holdfast hi","props":{"attachments":[{"text":"x"}]}}`), "holdfast")
	f.Add([]byte(`{"id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","create_at":1,"user_id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","channel_id":"aaaaaaaaaaaaaaaaaaaaaaaaaa","file_ids":["x"],"metadata":{"files":[{"id":"x"}]}}`), "a.b-")
	f.Fuzz(func(t *testing.T, raw []byte, self string) {
		if post, err := mattermost.Read(raw, self); err == nil {
			require.Len(t, post.PlatformID, 26)
			require.Len(t, post.Chat, 26)
		}
		if click, err := mattermost.ReadClick(raw); err == nil {
			require.NotNil(t, click)
		}
	})
}
