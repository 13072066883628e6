package telegram_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestWhatIsWrittenWhileWeAreAwayIsAnsweredInOrder(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		b := open(t, telegram.Options{Mode: mode})
		b.run()
		b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "0"))
		require.NoError(t, b.stop())
		var last *telegramtest.Delivery
		for i := range 250 { // more than an answer has
			last = b.Say(telegramtest.Ana, telegramtest.Ana, strconv.Itoa(i+1))
		}
		b.Advance(23 * time.Hour)
		b.renew()
		b.run()
		b.confirmed(last)
		for i, m := range b.accepted(251) {
			require.Equal(t, strconv.Itoa(i), m.Text)
		}
	})
}

func TestNothingIsConfirmedBeforeItIsAccepted(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	release := b.backend.BlockAccept()
	d := b.Say(telegramtest.Ana, telegramtest.Ana, "hi")
	require.NoError(t, b.Await(b.ctx, func() bool { return d.Handed() > 0 }))
	require.Equal(t, 1, b.Pending())
	release()
	b.confirmed(d)
}

func TestAfterAFailureTheMessagesOfAChatStayInOrder(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.backend.FailAccept(3)
	var all []*telegramtest.Delivery
	for i := range 20 {
		all = append(all, b.Say(telegramtest.Ana, telegramtest.Ana, strconv.Itoa(i)))
	}
	b.run()
	b.confirmed(all...)
	for i, m := range b.accepted(20) {
		require.Equal(t, strconv.Itoa(i), m.Text)
	}
}

func TestAMessageThatComesThreeTimesIsOne(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		b := receive(t, telegram.Options{Mode: mode})
		first := b.Say(telegramtest.Ana, telegramtest.Ana, "hi")
		b.confirmed(first, b.Again(first), b.Again(first), b.Say(telegramtest.Ana, telegramtest.Ana, "hi"))
		require.Len(t, b.backend.Accepted(), 2)
	})
}

func TestUpdatesAreNumberedAnewAfterAQuietWeek(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	b.channel.SetPolling(50*time.Millisecond, 0, time.Millisecond)
	b.run()
	for range 5 {
		b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "hi"))
		b.Advance(8 * 24 * time.Hour)
	}
	b.accepted(5)
}

func TestTelegramIsAwayForAWhile(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "one"))
	b.Down()
	d := b.Say(telegramtest.Ana, telegramtest.Ana, "two")
	b.logged("call failed, will try again")
	b.Up()
	b.confirmed(d)
	b.accepted(2)
}

func TestPollsThatFail(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]telegramtest.Fault{
		"429":                      {Status: http.StatusTooManyRequests, RetryAfter: 1, Description: "Too Many Requests: retry after 1"},
		"500":                      {Status: http.StatusInternalServerError},
		"cut off":                  {Cut: true},
		"a page of a proxy":        {Status: http.StatusBadGateway, Body: "<html>bad gateway</html>"},
		"an answer that is not":    {Status: http.StatusOK, Body: `{"ok": tr`},
		"a result of a wrong type": {Status: http.StatusOK, Body: `{"ok": true, "result": {"a": 1}}`},
		"updates without numbers":  {Status: http.StatusOK, Body: `{"ok": true, "result": [{"message": 5}, 7]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := open(t, telegram.Options{})
			b.Fail("getUpdates", 2, fault)
			d := b.Say(telegramtest.Ana, telegramtest.Ana, "hi")
			b.run()
			b.confirmed(d)
			b.accepted(1)
		})
	}
}

func TestTwoPollersAreToldWhatToDo(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Calls("setMyCommands")) == 1 }))
	other, err := telegram.New(b.options)
	require.NoError(t, err)
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "hi"))
	require.Eventually(t, func() bool {
		findings := other.CheckSetup(b.ctx)
		return findings[1].Level == chat.LevelWarn && strings.Contains(findings[1].Text, "another process polls with this token")
	}, deadline, time.Millisecond)
	b.logged("level=WARN")
	b.logged("give this one a bot of its own")
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "still here"))
}

func TestAWebhookThatIsInTheWayIsRemoved(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	d := b.Say(telegramtest.Ana, telegramtest.Ana, "hi")
	response, err := http.Get(b.URL() + "/bot" + telegramtest.Token + "/setWebhook?url=http://127.0.0.1:1/secret-path")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	b.run()
	b.confirmed(d)
	require.Empty(t, b.Webhook())
	b.logged("the bot has a webhook, which is removed")
	require.NotContains(t, b.log.String(), "secret-path")
}

func TestTheMenuOfCommands(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Commands()) > 0 }))
	for i, c := range domain.Commands() {
		require.Equal(t, string(c.Name), b.Commands()[i].Command)
		require.NotEmpty(t, b.Commands()[i].Description)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"/start":                  "/help",
		"/start deep-link":        "/help",
		"/stop":                   "/stop",
		"/stop@Holdfast_Bot":      "/stop",
		"/model@holdfast_bot a/b": "/model a/b",
		"/approve abcdefgh":       "/approve abcdefgh",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, at := range []int64{telegramtest.Ana, telegramtest.Group} {
				b := receive(t, telegram.Options{})
				b.confirmed(b.Say(telegramtest.Ana, at, text))
				require.Equal(t, want, b.accepted(1)[0].Text)
			}
		})
	}
}

// sorts says who is answered in which chat: in groups of which all messages arrive.
func TestWhichMessagesAreAnswered(t *testing.T) {
	t.Parallel()
	type sayer = func(b *bot) *telegramtest.Delivery
	say := func(chat int64, text string, options ...telegramtest.SayOption) sayer {
		return func(b *bot) *telegramtest.Delivery { return b.Say(telegramtest.Ana, chat, text, options...) }
	}
	reply := func(to string) sayer {
		return func(b *bot) *telegramtest.Delivery {
			id := b.Say(telegramtest.Ben, telegramtest.Group, "from ben").Message.ID
			if to == "us" {
				msg := out("o1", "from us")
				msg.Chat = chatID(telegramtest.Group)
				id = messageID(b, b.deliver(msg).PlatformID)
			}
			return b.Say(telegramtest.Ana, telegramtest.Group, "a reply", telegramtest.Answering(id))
		}
	}
	in := func(modes ...string) map[string]bool {
		all := map[string]bool{}
		for _, m := range modes {
			all[m] = true
		}
		return all
	}
	mention, replies, all := telegram.RespondMention, telegram.RespondThread, telegram.RespondAll
	for name, test := range map[string]struct {
		say  sayer
		want map[string]bool
	}{
		"private":                     {say(telegramtest.Ana, "hi"), in(mention, replies, all)},
		"in a group":                  {say(telegramtest.Group, "hi"), in(all)},
		"a mention":                   {say(telegramtest.Group, "@Holdfast_bot, hi"), in(mention, replies, all)},
		"a mention at the end":        {say(telegramtest.Group, "hi @holdfast_bot"), in(mention, replies, all)},
		"a longer name":               {say(telegramtest.Group, "hi @holdfast_bot2"), in(all)},
		"an address":                  {say(telegramtest.Group, "mail a@holdfast_bot"), in(all)},
		"a mention in a topic":        {say(telegramtest.Forum, "@holdfast_bot hi", telegramtest.InTopic(telegramtest.Topic)), in(mention, replies, all)},
		"a command":                   {say(telegramtest.Group, "/stop"), in(mention, replies, all)},
		"a command by name":           {say(telegramtest.Group, "/other@holdfast_bot"), in(mention, replies, all)},
		"a command of another bot":    {say(telegramtest.Group, "/stop@other_bot"), in()},
		"an unknown command":          {say(telegramtest.Group, "/weather"), in(all)},
		"a reply to us":               {reply("us"), in(replies, all)},
		"a reply to somebody":         {reply("ben"), in(all)},
		"a channel's post in a group": {say(telegramtest.Group, "@holdfast_bot hi", telegramtest.With(func(m *telegramtest.Message) { m.From = &telegramtest.User{ID: 777000, IsBot: true} })), in()},
		"another bot":                 {func(b *bot) *telegramtest.Delivery { return b.Say(telegramtest.Bot2, telegramtest.Bot2, "hi") }, in()},
		"a caption that mentions":     {say(telegramtest.Group, "@holdfast_bot look", telegramtest.WithPhoto([]byte("png"))), in(mention, replies, all)},
		"somebody joined":             {say(telegramtest.Group, ""), in()},
		"the answer to a topic's root": {say(telegramtest.Forum, "hi", telegramtest.InTopic(telegramtest.Topic), telegramtest.With(func(m *telegramtest.Message) {
			m.ReplyTo = &telegramtest.Message{ID: telegramtest.Topic, Chat: m.Chat, From: &telegramtest.User{ID: telegramtest.BotID, IsBot: true}}
		})), in(all)},
	} {
		for _, respond := range []string{mention, replies, all} {
			t.Run(name+", "+respond, func(t *testing.T) {
				t.Parallel()
				b := open(t, telegram.Options{Options: chat.Options{ReceiverOptions: chat.ReceiverOptions{Respond: respond, Access: chat.Access{Users: []string{chatID(telegramtest.Ana)}, Chats: everyone}}}})
				b.SetPrivacy(false)
				d := test.say(b)
				b.run()
				b.confirmed(d)
				require.Len(t, b.backend.Accepted(), map[bool]int{true: 1}[test.want[respond]], "%v", b.backend.Accepted())
			})
		}
	}
}

func messageID(b *bot, id string) (n int64) {
	_, err := fmt.Sscan(id, &n)
	require.NoError(b.t, err)
	return n
}

func TestWhereAMessageBelongs(t *testing.T) {
	t.Parallel()
	b := receive(t, respond(telegram.RespondAll))
	b.SetPrivacy(false)
	b.confirmed(
		b.Say(telegramtest.Ana, telegramtest.Ana, "private"),
		b.Say(telegramtest.Ana, telegramtest.Group, "group"),
		b.Say(telegramtest.Ana, telegramtest.Forum, "general"),
		b.Say(telegramtest.Ben, telegramtest.Forum, "topic", telegramtest.InTopic(telegramtest.Topic)),
		b.Say(telegramtest.Ben, telegramtest.Forum, "thread of replies", telegramtest.With(func(m *telegramtest.Message) { m.Thread = 7 })),
	)
	found := map[string]domain.Inbound{}
	for _, m := range b.accepted(5) {
		found[m.Text] = m
	}
	for text, want := range map[string][2]string{
		"private": {"1001", ""}, "group": {"-2001", ""}, "general": {"-1001000000001", ""}, "topic": {"-1001000000001", "42"},
		"thread of replies": {"-1001000000001", ""},
	} {
		require.Equal(t, want, [2]string{found[text].Chat, found[text].Thread}, text)
		require.Equal(t, found[text].Chat, found[text].Scope)
		require.True(t, found[text].Push)
	}
	require.Equal(t, "Ana Souza", found["private"].SenderName)
	require.Equal(t, "1002", found["topic"].Sender)
	require.WithinDuration(t, time.Now(), found["private"].SentAt, 5*time.Second)
	require.True(t, telegram.IsDirect("1001"))
	require.False(t, telegram.IsDirect("-2001"))
}

func TestAnEditedMessageIsANewRequest(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	d := b.Say(telegramtest.Ana, telegramtest.Ana, "deplyo it")
	b.confirmed(d)
	edited := b.Edit(telegramtest.Ana, d.Message.ID, "deploy it")
	b.confirmed(edited, b.Again(edited), b.Edit(telegramtest.Ana, d.Message.ID, "deplyo it"))
	require.Equal(t, []string{"deplyo it", "I edited my message. It now reads:\n\ndeploy it"}, inboundTexts(b.accepted(2)), "an edit that changes nothing is none")
	b.confirmed(b.Edit(telegramtest.Ana, d.Message.ID, "/stop"))
	require.Equal(t, "/stop", b.accepted(3)[2].Text)
	refused := b.Say(telegramtest.Ana, telegramtest.Group, "holdfast_bot look")
	require.Nil(t, refused, "nobody is mentioned")
	all := b.Messages(telegramtest.Group)
	b.confirmed(b.Edit(telegramtest.Group, all[0].ID, "@holdfast_bot look"))
	require.Equal(t, "look", b.accepted(4)[3].Text, "it was not for us before")
}

func inboundTexts(all []domain.Inbound) (found []string) {
	for _, m := range all {
		found = append(found, m.Text)
	}
	return found
}

func TestALocationThatMovesIsOneMessage(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	d := b.Say(telegramtest.Ana, telegramtest.Ana, "", telegramtest.With(func(m *telegramtest.Message) {
		m.Location = map[string]any{"latitude": 52.5, "longitude": 13.25, "live_period": 900}
	}))
	b.confirmed(d)
	b.confirmed(b.Edit(telegramtest.Ana, d.Message.ID, ""))
	require.Equal(t, []string{"[location: 52.5, 13.25]"}, inboundTexts(b.accepted(1)))
}

func TestAlbums(t *testing.T) {
	t.Parallel()
	part := func(b *bot, chat int64, album, text string) *telegramtest.Delivery {
		return b.Say(telegramtest.Ana, chat, text, telegramtest.WithPhoto([]byte(text)), telegramtest.InAlbum(album))
	}
	t.Run("one message when polling", func(t *testing.T) {
		t.Parallel()
		b := open(t, telegram.Options{})
		b.channel.SetPolling(5*time.Second, 100*time.Millisecond, time.Hour)
		b.SetPrivacy(false)
		b.run()
		first := part(b, telegramtest.Group, "a", "@holdfast_bot what is this?")
		require.NoError(t, b.Await(b.ctx, func() bool { return first.Handed() > 0 }))
		last := part(b, telegramtest.Group, "a", "")
		b.confirmed(first, last)
		b.confirmed(part(b, telegramtest.Ana, "b", ""), part(b, telegramtest.Ana, "c", ""))
		all := b.accepted(3)
		require.Equal(t, "what is this?", all[0].Text)
		require.Len(t, all[0].Files, 2)
		require.Equal(t, fmt.Sprintf("%d-%d", first.Message.ID, last.Message.ID), all[0].PlatformID)
		require.Len(t, all[1].Files, 1)
		require.Len(t, all[2].Files, 1)
	})
	t.Run("all of it is for us over a webhook", func(t *testing.T) {
		t.Parallel()
		b := receive(t, telegram.Options{Mode: telegram.ModeWebhook})
		b.SetPrivacy(false)
		b.confirmed(part(b, telegramtest.Group, "a", "@holdfast_bot what is this?"), part(b, telegramtest.Group, "a", ""), part(b, telegramtest.Group, "b", ""))
		require.Len(t, b.backend.Accepted(), 2)
	})
}

func TestWhoIsNotLetIn(t *testing.T) {
	t.Parallel()
	b := receive(t, allowing([]string{chatID(telegramtest.Ben)}, []string{}))
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "/start"), b.Say(telegramtest.Ana, telegramtest.Ana, "hello?"))
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Posted(telegramtest.Ana)) == 1 }))
	require.Contains(t, b.Posted(telegramtest.Ana)[0].Text, "holdfast pairing approve PAIR-1001")
	b.confirmed(b.Say(telegramtest.Ben, telegramtest.Group, "@holdfast_bot hi"))
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Posted(telegramtest.Group)) == 1 }))
	require.Contains(t, b.Posted(telegramtest.Group)[0].Text, "My operator can add -2001 to channels.telegram.allow_groups")
	require.Empty(t, b.backend.Accepted())
	b.backend.Approve(telegram.Name, chatID(telegramtest.Ana))
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "now?"))
	b.accepted(1)
}

func TestAConversationOfTwoPeople(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	in := telegramtest.InTopic(telegramtest.Topic)
	b.confirmed(
		b.Say(telegramtest.Ana, telegramtest.Forum, "@holdfast_bot one", in), b.Say(telegramtest.Ben, telegramtest.Forum, "@holdfast_bot two", in),
		b.Say(telegramtest.Ana, telegramtest.Forum, "@holdfast_bot three", in),
	)
	all := b.accepted(3)
	require.Equal(t, []string{"one", "two", "three"}, inboundTexts(all))
	require.Equal(t, []string{"1001", "1002", "1001"}, []string{all[0].Sender, all[1].Sender, all[2].Sender})
}

func TestForgedRequests(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{Mode: telegram.ModeWebhook})
	require.NoError(t, b.Await(b.ctx, func() bool { return b.channel.Addr() != nil && len(b.Calls("setWebhook")) > 0 }))
	payload := fmt.Sprintf(`{"update_id":1,"message":{"message_id":1,"date":1,"text":"hi","from":{"id":%d},"chat":{"id":%[1]d,"type":"private"}}}`, telegramtest.Ana)
	for _, secret := range []string{"", "wrong", telegramtest.Token} {
		require.Equal(t, http.StatusUnauthorized, b.knock(secret, payload))
	}
	require.Empty(t, b.backend.Accepted())
	secret := b.Calls("setWebhook")[0].Arguments["secret_token"]
	require.NotContains(t, secret, telegramtest.Token)
	for range 3 {
		require.Equal(t, http.StatusOK, b.knock(secret, payload))
	}
	require.Len(t, b.backend.Accepted(), 1)
	require.Equal(t, http.StatusBadRequest, b.knock(secret, "{"))
}

func TestManyChatsAtOnce(t *testing.T) {
	t.Parallel()
	b := open(t, telegram.Options{})
	var all []*telegramtest.Delivery
	var mu sync.Mutex
	var saying sync.WaitGroup
	for person := range int64(40) {
		b.AddPerson(5000+person, strconv.FormatInt(person, 10))
		saying.Go(func() {
			for i := range 5 {
				d := b.Say(5000+person, 5000+person, strconv.Itoa(i))
				mu.Lock()
				all = append(all, d)
				mu.Unlock()
			}
		})
	}
	b.run()
	saying.Wait()
	b.confirmed(all...)
	next := map[string]int{}
	for _, m := range b.accepted(200) {
		require.Equal(t, strconv.Itoa(next[m.Chat]), m.Text)
		next[m.Chat]++
	}
}
