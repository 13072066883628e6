package telegram_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestAReplyIsTheEditOfAPlaceholder(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	b.Before("editMessageText", func(*http.Request) {
		require.Equal(t, []string{"…"}, texts(b.Posted(telegramtest.Ana)))
	})
	sent := b.deliver(out("o1", "**Done**: `a < b` & [more](https://example.com)"))
	posted := b.Posted(telegramtest.Ana)
	require.Len(t, posted, 1)
	require.Equal(t, sent.PlatformID, chatID(posted[0].ID))
	require.Equal(t, "Done: a < b & more", posted[0].Text)
	require.Equal(t, []telegramtest.Entity{
		{Type: "bold", Offset: 0, Length: 4}, {Type: "code", Offset: 6, Length: 5}, {Type: "text_link", Offset: 14, Length: 4, URL: "https://example.com"},
	}, posted[0].Entities)
	require.Nil(t, posted[0].ReplyTo, "a private chat needs no quotation")
}

// In a hundred deliveries all answers of one method are lost: of an answer nothing is doubled.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for method, strays := range map[string]int{"sendMessage": 100, "editMessageText": 0} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			b := open(t, telegram.Options{})
			b.meet()
			for i := range 100 {
				b.LoseResponse(method, 1)
				b.deliver(out(fmt.Sprint("o", i), fmt.Sprint("answer ", i)))
			}
			count := map[string]int{}
			for _, text := range texts(b.Posted(telegramtest.Ana)) {
				count[text]++
			}
			require.Equal(t, strays, count["…"])
			for i := range 100 {
				require.Equal(t, 1, count[fmt.Sprint("answer ", i)])
			}
		})
	}
}

func TestFaultsAtRandomMakeNoSecondReply(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
	for i := range 200 {
		b.Heal()
		for range 1 + random.IntN(4) {
			method := []string{"sendMessage", "editMessageText"}[random.IntN(2)]
			switch random.IntN(4) {
			case 0:
				b.LoseResponse(method, 1)
			case 1:
				b.Fail(method, 1, telegramtest.Fault{Cut: true})
			case 2:
				b.Fail(method, 1, telegramtest.Fault{Status: http.StatusInternalServerError})
			case 3:
				b.Fail(method, 1, telegramtest.Fault{Status: http.StatusBadGateway, Body: "<html>"})
			}
		}
		b.deliver(out(fmt.Sprint("o", i), fmt.Sprint("answer ", i)))
	}
	count := map[string]int{}
	for _, text := range texts(b.Posted(telegramtest.Ana)) {
		count[text]++
	}
	for i := range 200 {
		require.Equal(t, 1, count[fmt.Sprint("answer ", i)])
	}
}

func TestAPlaceholderThatSomebodyDeletedIsReplaced(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	remove := sync.OnceFunc(func() {
		require.NoError(t, b.channel.Delete(b.ctx, chat.Place{Chat: chatID(telegramtest.Ana)}, chatID(b.Posted(telegramtest.Ana)[0].ID)))
	})
	b.Before("editMessageText", func(*http.Request) { remove() })
	b.deliver(out("o1", "hi"))
	require.Equal(t, []string{"hi"}, texts(b.Posted(telegramtest.Ana)))
	require.NoError(t, b.channel.Delete(b.ctx, chat.Place{Chat: chatID(telegramtest.Ana)}, "12345"), "what is not there is deleted")
	err := b.channel.Edit(b.ctx, chat.Place{Chat: chatID(telegramtest.Ana)}, "1", chat.Message{Text: "not ours"})
	require.ErrorIs(t, err, chat.ErrNoMessage)
}

func TestMarkupThatIsRefusedIsSentAsText(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	b.Fail("editMessageText", 1, telegramtest.Fault{Status: http.StatusBadRequest, Description: "Bad Request: can't parse entities: Unsupported start tag"})
	b.deliver(out("o1", "**Done** & `more`"))
	require.Equal(t, []string{"Done & more"}, texts(b.Posted(telegramtest.Ana)))
	require.Empty(t, b.Posted(telegramtest.Ana)[0].Entities)
}

func TestGroupsQuoteWhatIsAnswered(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	asked := b.Say(telegramtest.Ana, telegramtest.Forum, "@holdfast_bot hi", telegramtest.InTopic(telegramtest.Topic)).Message
	msg := domain.Outbound{ID: "o1", Chat: chatID(telegramtest.Forum), Thread: chatID(telegramtest.Topic), ReplyTo: chatID(asked.ID), Text: "hi"}
	b.deliver(msg)
	posted := b.Posted(telegramtest.Forum)[0]
	require.Equal(t, asked.ID, posted.ReplyTo.ID)
	require.EqualValues(t, telegramtest.Topic, posted.Thread)
	for i, to := range []string{chatID(asked.ID) + "-1700000000-77", "99999999", "stop-123", "", chatID(asked.ID)} {
		msg.ID, msg.ReplyTo, msg.Part = fmt.Sprint("part", i), to, i/4*2
		b.deliver(msg)
	}
	var quoted []bool
	for _, m := range b.Posted(telegramtest.Forum)[1:] {
		quoted = append(quoted, m.ReplyTo != nil)
	}
	require.Equal(t, []bool{true, false, false, false, false}, quoted, "of an edited message, of none, and of a second part")
}

func TestChatsThatAreGone(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	gone := func(chat string, thread string) {
		t.Helper()
		msg := domain.Outbound{ID: "o1", Chat: chat, Thread: thread, Text: "hi"}
		_, err := b.channel.Placeholder(b.ctx, msg)
		require.ErrorIs(t, err, channels.ErrGone)
		require.True(t, remote.As(err).Permanent())
		msg.File, msg.Content = "a.png", []byte("a")
		_, err = b.channel.Send(b.ctx, msg)
		require.ErrorIs(t, err, channels.ErrGone)
	}
	gone("4711", "")
	gone(chatID(telegramtest.Ben), "")
	gone(chatID(telegramtest.Channel), "")
	gone(chatID(telegramtest.Forum), "4711")
	b.Block(telegramtest.Ana, true)
	gone(chatID(telegramtest.Ana), "")
	for _, why := range []string{
		"Forbidden: bot was kicked from the group chat", "Forbidden: user is deactivated", "Bad Request: not enough rights to send text messages to the chat",
		"Bad Request: TOPIC_CLOSED", "Bad Request: CHAT_WRITE_FORBIDDEN",
	} {
		b.CloseChat(telegramtest.Group, why)
		gone(chatID(telegramtest.Group), "")
	}
}

func TestAGroupThatBecameASupergroup(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	msg := domain.Outbound{ID: "o1", Chat: chatID(telegramtest.OldGroup), Text: "hi"}
	b.deliver(msg)
	msg.ID, msg.File, msg.Content = "o2", "a.txt", []byte("a")
	b.deliver(msg)
	require.Equal(t, []string{"hi", ""}, texts(b.Posted(telegramtest.NewGroup)))
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.OldGroup, "", telegramtest.With(func(m *telegramtest.Message) { m.MigrateTo = telegramtest.NewGroup })))
	b.logged("new=-1001000000003")
}

func TestFloodControlIsObeyed(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	b.TooMany("sendMessage", 1, 60)
	for range 3 {
		_, err := b.channel.Placeholder(b.ctx, out("o1", "hi"))
		failed := remote.As(err)
		require.False(t, failed.Permanent())
		require.InDelta(t, 60, failed.RetryAfter.Seconds(), 5)
	}
	require.Len(t, b.Calls("sendMessage"), 1, "the others were not made")
	require.True(t, b.channel.Busy(chat.Place{Chat: chatID(telegramtest.Ana)}))
	msg := out("o2", "hi")
	msg.Chat = chatID(telegramtest.Group)
	b.deliver(msg)
}

func TestThePaceOfAChat(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	channel, err := telegram.New(b.options)
	require.NoError(t, err)
	b.Flood(telegramtest.Group, 3*time.Second, 20)
	at := chat.Place{Chat: chatID(telegramtest.Group)}
	id, err := channel.Post(b.ctx, at, chat.Message{Text: "…", Draft: true})
	require.NoError(t, err)
	for i := range 100 { // a draft that changes all the time
		_ = channel.Edit(chat.Skippable(b.ctx), at, id, chat.Message{Text: strconv.Itoa(i), Draft: true})
	}
	require.Empty(t, b.Calls("editMessageText"))
	for i := range 9 { // the reply and its parts are not held up
		_, err := channel.Post(b.ctx, at, chat.Message{Text: strconv.Itoa(i)})
		require.NoError(t, err)
	}
	for _, c := range b.Calls("") {
		require.Zero(t, c.Failed)
	}
}

func TestErrorsThatTheOperatorCanMend(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	for _, status := range []int{http.StatusUnauthorized, http.StatusNotFound} {
		b.Fail("sendMessage", 1, telegramtest.Fault{Status: status})
		_, err := b.channel.Placeholder(b.ctx, out("o1", "hi"))
		require.True(t, telegram.Refused(err))
		require.False(t, remote.As(err).Permanent(), "the reply waits")
		require.ErrorContains(t, err, "check channels.telegram.token")
	}
	b.Fail("sendMessage", 1, telegramtest.Fault{Status: http.StatusForbidden, Body: "blocked by the proxy"})
	_, err := b.channel.Placeholder(b.ctx, out("o1", "hi"))
	require.NotErrorIs(t, err, channels.ErrGone)
	require.False(t, remote.As(err).Permanent())
}

func TestTheTokenIsInNoError(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{"refused": "http://127.0.0.1:1", "not a host": "http://not a host", "not resolved": "http://holdfast.invalid"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := telegram.New(telegram.Options{Token: telegramtest.Token, APIURL: url})
			require.NoError(t, err)
			_, err = c.Self(t.Context())
			require.NotNil(t, remote.As(err))
			require.NotContains(t, err.Error(), "AAtest")
		})
	}
	b := open(t, telegram.Options{})
	b.meet()
	for _, f := range []telegramtest.Fault{
		{Status: http.StatusBadRequest, Description: "Bad Request: no method /bot" + telegramtest.Token + "/sendMessage"},
		{Status: http.StatusFound, Body: "/bot" + telegramtest.Token},
		{Status: http.StatusBadGateway, Body: telegramtest.Token},
		{Cut: true},
	} {
		b.Fail("sendMessage", 1, f)
		_, err := b.channel.Placeholder(b.ctx, out("o1", "hi"))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "AAtest")
	}
}

// long is an answer of 30,000 characters with everything that Markdown has.
func long() string {
	var b strings.Builder
	for i := 0; b.Len() < 30_000; i++ {
		fmt.Fprintf(&b, "## Part %d 🦆\n\nSome **bold** text with `code %d`, an [address](https://example.com/%d) and 🎉 emoji. %s\n\n", i, i, i, strings.Repeat("More of it. ", 30))
		fmt.Fprintf(&b, "```go\nfunc f%d() {\n%s}\n```\n\n", i, strings.Repeat("\tprintln(\"<&>\")\n", 20))
		fmt.Fprintf(&b, "| a | b |\n|---|--:|\n%s\n\n", strings.Repeat(fmt.Sprintf("| x%d | 🎈 |\n", i), 10))
		b.WriteString("- one\n  - two\n\n> a quotation\n> > within another\n\n")
	}
	return b.String()
}

func TestALongAnswer(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	parts := b.channel.Split(long())
	require.Equal(t, parts, b.channel.Split(long()))
	for i, p := range parts {
		msg := out(fmt.Sprint("o", i), p.Text)
		if p.File != "" {
			msg.File, msg.Content, msg.Text = p.File, []byte(p.Text), ""
		}
		msg.Part = i + 1
		b.deliver(msg)
	}
	posted := b.Posted(telegramtest.Ana)
	require.Len(t, posted, len(parts))
	require.Less(t, len(parts), 13)
	var all strings.Builder
	for _, m := range posted {
		require.LessOrEqual(t, telegramtest.Units(m.Text), 4096)
		require.NotContains(t, m.Text, "```")
		require.NotContains(t, m.Text, "**")
		all.WriteString(m.Text)
	}
	for i := range 10 {
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("func f%d()", i)))
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("Part %d ", i)))
		require.Equal(t, 10, strings.Count(all.String(), fmt.Sprintf("x%d ", i)))
	}
	for _, c := range b.Calls("editMessageText") {
		require.Zero(t, c.Failed)
		require.Equal(t, "HTML", c.Arguments["parse_mode"])
	}
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.meet()
	send := func(name string, content []byte) telegramtest.Message {
		t.Helper()
		msg := out("o-"+name, "**the** file")
		msg.File, msg.Content = name, content
		sent := b.deliver(msg)
		all := b.Posted(telegramtest.Ana)
		m := all[len(all)-1]
		require.Equal(t, sent.PlatformID, chatID(m.ID))
		require.Equal(t, "the file", m.Caption)
		return m
	}
	content := bytes.Repeat([]byte("\x00\xff<>"), 1<<18)
	doc := send("größe \"1\".csv", content)
	require.Equal(t, content, b.FileOf(doc.Document.ID).Content)
	require.Equal(t, "größe \"1\".csv", doc.Document.Name)
	require.Len(t, send("a.PNG", content).Photo, 1)
	require.NotNil(t, send("a.mp3", content).Audio)
	require.NotNil(t, send("a.ogg", content).Voice)
	require.NotNil(t, send("a.mp4", content).Video)
	require.NotNil(t, send("empty.txt", nil).Document)
	b.Fail("sendPhoto", 1, telegramtest.Fault{Status: http.StatusBadRequest, Description: "Bad Request: PHOTO_INVALID_DIMENSIONS"})
	require.NotNil(t, send("b.png", content).Document, "what is no photo is a document")
	require.NotNil(t, send("big.png", make([]byte, 11<<20)).Document)
	msg := out("o9", strings.Repeat("🦆", 3000))
	msg.File, msg.Content = "a.txt", content
	b.deliver(msg)
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Forum, "@holdfast_bot push it", telegramtest.InTopic(telegramtest.Topic)))
	question := domain.Outbound{
		ID: "o1", Chat: chatID(telegramtest.Forum), Thread: chatID(telegramtest.Topic), Text: "Run `git push`?", Approval: "abcdefgh",
	}
	question.PlatformID = b.deliver(question).PlatformID
	asked := b.Posted(telegramtest.Forum)[0]
	require.Len(t, asked.Buttons(), 2)
	click, err := b.Press(telegramtest.Ana, telegramtest.Forum, asked.ID, "Approve")
	require.NoError(t, err)
	b.confirmed(click.Delivery)
	got := b.accepted(2)[1]
	require.Equal(t, "/approve abcdefgh", got.Text)
	require.Equal(t, chatID(telegramtest.Topic), got.Thread)
	require.Equal(t, chatID(telegramtest.Ana), got.Sender)
	require.False(t, got.Push)
	require.NoError(t, b.Await(b.ctx, func() bool { return b.ClickOf(click.ID).Answered }))
	closed, err := b.channel.CloseQuestion(b.ctx, question, "Approved by @ana")
	require.NoError(t, err)
	require.True(t, closed)
	asked = b.Posted(telegramtest.Forum)[0]
	require.Empty(t, asked.Buttons())
	require.Equal(t, "Run git push?\n\nApproved by @ana", asked.Text)
	b.confirmed(b.Again(click.Delivery), b.Forge(telegramtest.Ana, telegramtest.Forum, asked.ID, "approve:not-one:42").Delivery,
		b.Forge(telegramtest.Ana, telegramtest.Forum, asked.ID, "approve:abcdefgh:x").Delivery, b.Forge(telegramtest.Ana, telegramtest.Forum, asked.ID, "reboot:1:").Delivery)
	require.Len(t, b.backend.Accepted(), 2)
}

func TestAnswersInWords(t *testing.T) {
	t.Parallel()
	b := receive(t, respond(telegram.RespondThread))
	question := domain.Outbound{ID: "o1", Chat: chatID(telegramtest.Group), Text: "Run `git push`?", Approval: "abcdefgh"}
	id := messageID(b, b.deliver(question).PlatformID)
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Group, "yes", telegramtest.Answering(id)))
	require.Equal(t, "yes", b.accepted(1)[0].Text)
}

func TestADraftAndItsStopButton(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{Options: chat.Options{Drafts: true}})
	b.channel.SetPace(chat.Pace{Notice: time.Millisecond, Draft: 5 * time.Millisecond, Status: time.Millisecond, Edit: time.Millisecond, Call: time.Second, Retry: time.Millisecond})
	b.run()
	asked := b.Say(telegramtest.Ana, telegramtest.Forum, "@holdfast_bot think", telegramtest.InTopic(telegramtest.Topic))
	b.confirmed(asked)
	turn := channels.PresentedTurn{ID: "t1", Reply: "r1", Messages: b.accepted(1), Drafts: channeltest.NewDrafts()}
	b.channel.Present(turn)
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Calls("sendChatAction")) > 0 }))
	require.Equal(t, chatID(telegramtest.Topic), b.Calls("sendChatAction")[0].Arguments["message_thread_id"])
	b.channel.Show("t1", event.Event{Kind: event.Text, Text: "The **answer"})
	require.NoError(t, b.Await(b.ctx, func() bool {
		posted := b.Posted(telegramtest.Forum)
		return len(posted) == 1 && strings.Contains(posted[0].Text, "The **answer")
	}))
	draft := b.Posted(telegramtest.Forum)[0]
	require.Equal(t, asked.Message.ID, draft.ReplyTo.ID)
	click, err := b.Press(telegramtest.Ana, telegramtest.Forum, draft.ID, "Stop")
	require.NoError(t, err)
	b.confirmed(click.Delivery)
	stop := b.accepted(2)[1]
	require.Equal(t, "/stop", stop.Text)
	require.Equal(t, chatID(telegramtest.Topic), stop.Thread)
	b.channel.Pause(b.ctx, "t1")
	msg := domain.Outbound{ID: "r1", Chat: chatID(telegramtest.Forum), Thread: chatID(telegramtest.Topic), Text: "The **answer**.", Draft: chatID(draft.ID)}
	_, err = b.channel.Send(b.ctx, msg)
	require.NoError(t, err)
	posted := b.Posted(telegramtest.Forum)
	require.Equal(t, []string{"The answer."}, texts(posted))
	require.Empty(t, posted[0].Buttons())
	b.channel.Conclude(turn, false, true)
	b.channel.Wait(b.ctx)
}

// A draft whose ID nobody learned stays in the chat. The reply must not be in it as well.
func TestADraftThatIsLeftBehindSaysNothing(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{Options: chat.Options{Drafts: true}})
	b.channel.SetPace(chat.Pace{Notice: time.Millisecond, Draft: time.Millisecond, Edit: time.Millisecond, Call: time.Second, Retry: time.Millisecond})
	b.run()
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "think"))
	b.LoseResponse("sendMessage", 1)
	b.channel.Present(channels.PresentedTurn{ID: "t1", Reply: "r1", Messages: b.accepted(1), Drafts: channeltest.NewDrafts(), Text: "The answer."})
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Posted(telegramtest.Ana)) == 1 }))
	b.channel.Pause(b.ctx, "t1")
	b.deliver(out("r1", "The answer."))
	posted := texts(b.Posted(telegramtest.Ana))
	require.Len(t, posted, 2)
	require.NotContains(t, posted[0], "answer")
	require.Equal(t, "The answer.", posted[1])
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	b.SetPrivacy(false)
	photo, doc := []byte("a photo"), []byte("a,b\n1,2\n")
	first := b.Say(telegramtest.Ana, telegramtest.Ana, "look", telegramtest.WithPhoto(photo))
	b.confirmed(first, b.Say(telegramtest.Ana, telegramtest.Ana, "", telegramtest.WithDocument("a.csv", "text/csv", doc)),
		b.Say(telegramtest.Ana, telegramtest.Ana, "and this?", telegramtest.Answering(first.Message.ID)),
		b.Say(telegramtest.Ana, telegramtest.Ana, "", telegramtest.WithVoice([]byte("a voice"))))
	all := b.accepted(4)
	saved := map[string]string{}
	enrich := func(msg domain.Inbound) channels.Enriched {
		t.Helper()
		got, err := b.channel.Enrich(b.ctx, channels.Enrichment{Message: msg, Save: save(saved)})
		require.NoError(t, err)
		return got
	}
	require.Equal(t, "image/jpeg", enrich(all[0]).Files[0].MIME)
	require.Equal(t, "text/csv", enrich(all[1]).Files[0].MIME)
	require.Equal(t, map[string]string{"photo.jpg": string(photo), "a.csv": string(doc)}, saved)
	require.Equal(t, "> In reply to Ana Souza:\n> look\n\nand this?", all[2].Text)
	require.Len(t, enrich(all[2]).Files, 1, "of the message that is answered")
	require.Equal(t, "audio/ogg", enrich(all[3]).Files[0].MIME)
	require.Equal(t, "a voice", saved["voice.ogg"])

	msg := all[1]
	msg.Files = []domain.File{{ID: "gone", Name: "gone.csv", MIME: "text/csv"}, {ID: "x", Name: "big.csv", MIME: "text/csv", Size: 21 << 20}}
	require.Equal(t, []string{"gone.csv is no longer available", "big.csv is larger than 20 MB, which Telegram does not give to bots"}, enrich(msg).Notes)
	b.Fail("getFile", 1, telegramtest.Fault{Status: http.StatusInternalServerError})
	_, err := b.channel.Enrich(b.ctx, channels.Enrichment{Message: all[1], Save: save(saved)})
	require.False(t, remote.As(err).Permanent())
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	b := open(t, allowing([]string{chatID(telegramtest.Ana)}, []string{chatID(telegramtest.Group)}))
	b.meet()
	ana, ben := chatID(telegramtest.Ana), chatID(telegramtest.Ben)
	for to, want := range map[string]string{chatID(telegramtest.Group): chatID(telegramtest.Group), ana: ana} {
		got, err := b.channel.Resolve(b.ctx, ana, to)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for to, want := range map[string]string{
		ben: "may not write to", chatID(telegramtest.Forum): "allow_groups does not include", "@thenews": "not in #News", "@nobody": "no", "somebody else": "by its ID",
		"-4711": "not in a channel named",
	} {
		_, err := b.channel.Resolve(b.ctx, ana, to)
		require.ErrorContains(t, err, want, to)
	}
	_, err := b.channel.Resolve(b.ctx, "4711", chatID(telegramtest.Group))
	require.Error(t, err, "who asks must be in the group")
	at, err := b.channel.Locate(b.ctx, "-100123", "42")
	require.NoError(t, err)
	require.Equal(t, "-100123", at)
	for _, wrong := range [][2]string{{"@name", ""}, {"", ""}, {"-100123", "x"}} {
		_, err := b.channel.Locate(b.ctx, wrong[0], wrong[1])
		var malformed channels.MalformedError
		require.ErrorAs(t, err, &malformed)
	}
}

func TestAWhisper(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	asked := b.Say(telegramtest.Ana, telegramtest.Group, "@holdfast_bot yes").Message
	err := b.channel.TellSender(context.WithoutCancel(b.ctx), domain.Inbound{Chat: chatID(telegramtest.Group), PlatformID: chatID(asked.ID)}, "Only Ben may answer.")
	require.NoError(t, err)
	require.Equal(t, asked.ID, b.Posted(telegramtest.Group)[0].ReplyTo.ID)
}
