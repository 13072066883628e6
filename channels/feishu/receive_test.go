package feishu_test

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := start(t, setup{mode: mode})
		group := r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 ask @_user_2, please", feishutest.Mentioning(feishutest.Bot, feishutest.Ben)), 1)
		require.Equal(t, "ask @Ben Okafor, please", group.Text)
		require.Equal(t, feishutest.General, group.Chat)
		require.Empty(t, group.Thread)
		require.Equal(t, feishutest.Ana, group.Sender)
		require.WithinDuration(t, time.Now(), group.SentAt, time.Minute)
		require.True(t, group.Push)

		direct := r.said(r.Say(feishutest.Ana, "", "hello"), 2)
		require.Equal(t, feishutest.Ana, direct.Chat, "a direct chat is named by the person")
		require.True(t, feishu.IsDirect(direct.Chat))

		begun := r.said(r.Say(feishutest.Ben, feishutest.Topics, "@_user_1 go", feishutest.Mentioning(feishutest.Bot)), 3)
		require.Equal(t, begun.PlatformID, begun.Thread, "every message of a topic group begins a topic")
		inside := r.said(r.Say(feishutest.Ana, feishutest.Topics, "@_user_1 on", feishutest.Mentioning(feishutest.Bot), feishutest.InTopic(begun.PlatformID)), 4)
		require.Equal(t, begun.Thread, inside.Thread, "a topic is named by the message that began it")
	})
}

func TestWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	r := start(t, setup{options: feishu.Options{AllowUsers: []string{"*"}, AllowGroups: []string{feishutest.General}}})
	r.AddChat(feishutest.Chat{ID: "oc_other", Members: []string{feishutest.Ana}})
	for name, d := range map[string]*feishutest.Delivery{
		"not mentioned":       r.Say(feishutest.Ana, feishutest.General, "hello all"),
		"somebody else":       r.Say(feishutest.Ana, feishutest.General, "@_user_1 hello", feishutest.Mentioning(feishutest.Ben)),
		"our own":             r.Say(feishutest.Bot, feishutest.General, "hello @_user_1", feishutest.Mentioning(feishutest.Bot)),
		"another group":       r.Say(feishutest.Ana, "oc_other", "@_user_1 hello", feishutest.Mentioning(feishutest.Bot)),
		"the bot was added":   r.Event("im.chat.member.bot.added_v1", map[string]any{"chat_id": feishutest.General}),
		"the bot was removed": r.Event("im.chat.member.bot.deleted_v1", map[string]any{"chat_id": feishutest.General}),
		"an unknown event":    r.Event("im.message.message_read_v1", map[string]any{}),
	} {
		require.NoError(t, d.Wait(r.ctx), name)
	}
	require.Empty(t, r.backend.Accepted())
	require.Eventually(t, func() bool { return len(r.Ephemerals()) == 1 }, deadline, time.Millisecond, "only who can expect an answer is told")
	require.Contains(t, r.Ephemerals()[0].Card, "channels.feishu.allow_groups")
	require.Len(t, r.texts(), 1, "and nobody else; the only one is the bot's own above")
}

func TestPairing(t *testing.T) {
	t.Parallel()
	r := start(t, setup{options: feishu.Options{AllowUsers: []string{}}})
	require.NoError(t, r.Say(feishutest.Ana, "", "let me in").Wait(r.ctx))
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.texts()) == 1 }))
	require.Contains(t, r.texts()[0], "PAIR-"+feishutest.Ana)
	require.Empty(t, r.backend.Accepted())
	r.backend.Approve(feishu.Name, feishutest.Ana)
	require.Equal(t, "now?", r.said(r.Say(feishutest.Ana, "", "now?"), 1).Text)
}

func TestOutsiders(t *testing.T) {
	t.Parallel()
	for users, n := range map[string]int{"*": 0, feishutest.Cai: 1} {
		r := start(t, setup{options: feishu.Options{AllowUsers: []string{users}}})
		d := r.Event("im.message.receive_v1", map[string]any{
			"sender": map[string]any{"sender_id": map[string]any{"open_id": feishutest.Cai}, "sender_type": "user", "tenant_key": "another"},
			"message": map[string]any{
				"message_id": "om_1", "chat_id": "oc_p2p_cai", "chat_type": "p2p", "message_type": "text", "content": `{"text":"hi"}`, "create_time": "1700000000000",
			},
		})
		require.NoError(t, d.Wait(r.ctx))
		require.Len(t, r.backend.Accepted(), n, `"*" means the members of the tenant; others are let in by name`)
	}
}

func TestTopicsForAnswers(t *testing.T) {
	t.Parallel()
	r := start(t, setup{options: feishu.Options{Topics: true, Respond: chat.RespondThread}})
	asked := r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 go", feishutest.Mentioning(feishutest.Bot)), 1)
	require.Equal(t, asked.PlatformID, asked.Thread)
	answer := outgoing("o1", asked.Chat, "done")
	answer.Thread, answer.ReplyTo = asked.Thread, asked.PlatformID
	r.send(answer)
	require.NotEmpty(t, r.Posted()[0].Thread)
	more := r.said(r.Say(feishutest.Ben, feishutest.General, "and then?", feishutest.InTopic(asked.PlatformID)), 2)
	require.Equal(t, asked.Thread, more.Thread)
	require.Empty(t, r.said(r.Say(feishutest.Ana, "", "hi"), 3).Thread, "a direct chat has no topics")
}

func TestTwoQuickMessages(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := start(t, setup{mode: mode})
		const n = 10
		var all []*feishutest.Delivery
		for i := range n {
			d := r.Say(feishutest.Ana, "", strconv.Itoa(i))
			if mode == feishu.ModeWebhook { // which has no order of its own
				require.NoError(t, d.Wait(r.ctx))
			}
			all = append(all, d)
		}
		for _, d := range all {
			require.NoError(t, d.Wait(r.ctx))
		}
		for i, msg := range r.accepted(n) {
			require.Equal(t, strconv.Itoa(i), msg.Text)
		}
	})
}

func TestRedelivery(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := start(t, setup{mode: mode, fake: []feishutest.Option{feishutest.RetryDelays(time.Millisecond, time.Millisecond, time.Millisecond)}})
		r.backend.FailAccept(2)
		d := r.Say(feishutest.Ana, "", "once")
		require.NoError(t, d.Wait(r.ctx), "delivered until it is accepted")
		for range 3 {
			require.NoError(t, r.Redeliver(d).Wait(r.ctx))
		}
		require.Len(t, r.backend.Accepted(), 1)
	})
}

func TestRedeliveryToAnotherProcess(t *testing.T) {
	t.Parallel()
	r := start(t, setup{})
	d := r.Say(feishutest.Ana, "", "once")
	require.NoError(t, d.Wait(r.ctx))
	require.NoError(t, r.stop())
	require.NoError(t, r.Await(r.ctx, func() bool { return r.Connections() == 0 }))
	again, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: feishutest.AppSecret, APIURL: r.URL(), AllowUsers: []string{feishutest.Ana}})
	require.NoError(t, err)
	r.channel = again
	r.run()
	r.ready()
	require.NoError(t, r.Redeliver(d).Wait(r.ctx))
	require.Len(t, r.backend.Accepted(), 1)
}

func TestPieces(t *testing.T) {
	t.Parallel()
	r := start(t, setup{fake: []feishutest.Option{feishutest.InPieces(100)}})
	var text strings.Builder
	for i := range 300 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	long := text.String()
	require.Equal(t, long[:len(long)-1], r.said(r.Say(feishutest.Ana, "", long), 1).Text)
}

func TestAssemble(t *testing.T) {
	t.Parallel()
	whole, err := feishu.Assemble(3, []int{2, 0, 0, 1}, "c", "x", "a", "b")
	require.NoError(t, err)
	require.Equal(t, "abc", string(whole), "in any order, and one twice")
	whole, err = feishu.Assemble(2, []int{1}, "b")
	require.NoError(t, err)
	require.Nil(t, whole)
	for _, bad := range [][2]int{{2, 2}, {2, -1}, {1 << 20, 0}} {
		_, err = feishu.Assemble(bad[0], []int{bad[1]}, "x")
		require.Error(t, err)
	}
}

func TestReconnect(t *testing.T) {
	t.Parallel()
	r := start(t, setup{fake: []feishutest.Option{feishutest.RetryDelays(20*time.Millisecond, 20*time.Millisecond, 200*time.Millisecond, time.Second, time.Second)}})
	require.NoError(t, r.Say(feishutest.Ana, "", "before").Wait(r.ctx))
	r.Down()
	r.Fail(feishutest.CallEndpoint, 1, feishutest.Fault{Status: 502})
	d := r.Say(feishutest.Ana, "", "meanwhile")
	r.Up()
	require.NoError(t, d.Wait(r.ctx), "what was written meanwhile is delivered again")
	require.Len(t, r.accepted(2), 2)
	require.True(t, r.log.has("will try again"))
}

func TestSilentConnection(t *testing.T) {
	t.Parallel()
	r := start(t, setup{pings: 50 * time.Millisecond})
	require.NoError(t, r.Await(r.ctx, func() bool { return r.Pings() > 2 }))
	require.Len(t, r.Made(feishutest.CallEndpoint), 1, "answers keep it")
	r.MuteConnections()
	require.NoError(t, r.Await(r.ctx, func() bool { return r.Connections() == 1 }), "one that says nothing is replaced")
	require.Equal(t, "hello", r.said(r.Say(feishutest.Ana, "", "hello"), 1).Text)
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := start(t, setup{mode: mode})
		release := r.backend.BlockAccept()
		d := r.Say(feishutest.Ana, "", "last")
		require.NoError(t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
		r.end()
		release()
		require.NoError(t, r.stop())
		require.NoError(t, d.Wait(r.ctx), "what was accepted is acknowledged")
		require.Len(t, r.backend.Accepted(), 1)
	})
}

func TestClicks(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := start(t, setup{mode: mode, answer: channeltest.Hold})
		asked := r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 deploy", feishutest.Mentioning(feishutest.Bot)), 1)
		question := outgoing("q1", asked.Chat, "May I run `make deploy`? Ask feishu:"+feishutest.Ben)
		question.Approval, question.ReplyTo = "abcd2345", asked.PlatformID
		id := r.send(question)
		require.Contains(t, r.Message(id).Text(), "<at id="+feishutest.Ben+"></at>", "approvers are mentioned")

		click := r.Click(feishutest.Ben, id, "Approve", "")
		require.NoError(t, click.Wait(r.ctx))
		require.JSONEq(t, `{}`, string(click.Reply))
		for range 3 {
			require.NoError(t, r.Redeliver(click).Wait(r.ctx))
		}
		answers := r.accepted(2)
		require.Len(t, answers, 2)
		require.Equal(t, "/approve abcd2345", answers[1].Text)
		require.Equal(t, feishutest.Ben, answers[1].Sender)
		require.Equal(t, asked.Chat, answers[1].Chat)
		require.False(t, answers[1].Push)

		closed, err := r.channel.CloseQuestion(r.ctx, domain.Outbound{ID: "q1", Chat: asked.Chat, PlatformID: id, Text: question.Text, Approval: "abcd2345"}, "Approved by feishu:"+feishutest.Ben)
		require.NoError(t, err)
		require.True(t, closed)
		require.NotContains(t, r.Message(id).Content, "button")
		require.Contains(t, r.Message(id).Text(), "Approved by <at id="+feishutest.Ben+"></at>")
	})
}

func TestClicksThatDoNotCount(t *testing.T) {
	t.Parallel()
	r := start(t, setup{})
	question := outgoing("q1", feishutest.General, "May I?")
	question.Approval = "abcd2345"
	id := r.send(question)
	require.NoError(t, r.Click(feishutest.Cai, id, "Approve", "").Wait(r.ctx), "of somebody who may not use the bot")
	require.NoError(t, r.Click(feishutest.Ana, id, "Approve", feishutest.Topics).Wait(r.ctx), "on a forwarded card")
	direct := outgoing("q2", feishutest.Ana, "May I?")
	direct.Approval = "abcd2346"
	require.NoError(t, r.Click(feishutest.Ben, r.send(direct), "Approve", feishutest.General).Wait(r.ctx), "on one from somebody's direct chat")
	require.NoError(t, r.Event("card.action.trigger", map[string]any{
		"operator": map[string]any{"open_id": feishutest.Ana}, "action": map[string]any{"value": map[string]any{"holdfast": "format", "chat": feishutest.General}},
	}).Wait(r.ctx), "on another app's button")
	require.Empty(t, r.backend.Accepted())
}

func TestStop(t *testing.T) {
	t.Parallel()
	r := start(t, setup{answer: channeltest.Hold})
	at := chat.Place{Chat: feishutest.General, Thread: r.send(outgoing("root", feishutest.General, "root"))}
	id, err := r.channel.Post(r.ctx, at, chat.Message{ID: "o1", Draft: true, Text: "working", Buttons: []chat.Button{{Action: chat.ActionStop, Value: at.Thread, Label: "Stop"}}})
	require.NoError(t, err)
	stop := r.said(r.Click(feishutest.Ana, id, "Stop", ""), 1)
	require.Equal(t, "/stop", stop.Text)
	require.Equal(t, at.Thread, stop.Thread)
	require.Equal(t, "/stop", r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 stop", feishutest.Mentioning(feishutest.Bot)), 2).Text)
}

func TestMalformed(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := start(t, setup{mode: mode})
		valid := r.Say(feishutest.Ana, feishutest.General, "nothing for us").Payload
		for i := range 500 {
			payload := bytes.Clone(valid)
			payload[(i*7)%len(payload)] = byte(i)
			d := r.Deliver("", payload[:len(payload)-i%40])
			ctx, cancel := context.WithTimeout(r.ctx, time.Second)
			_ = d.Wait(ctx)
			cancel()
		}
		for _, event := range []any{nil, "text", []int{1}, map[string]any{"message": 1}, map[string]any{"sender": map[string]any{}, "message": map[string]any{"message_id": "om_1"}}} {
			for _, kind := range []string{"im.message.receive_v1", "card.action.trigger"} {
				require.Error(t, r.Event(kind, event).Wait(r.ctx), "%s %v", kind, event)
			}
		}
		require.Empty(t, r.backend.Accepted())
		require.Equal(t, "still here", r.said(r.Say(feishutest.Ana, "", "still here"), 1).Text)
	})
}

func TestMalformedFrames(t *testing.T) {
	t.Parallel()
	r := start(t, setup{})
	for i := range 1000 {
		r.Send([]byte{byte(i), byte(i >> 3), byte(i >> 5), 0xff, byte(i * 31)})
	}
	require.Equal(t, "still here", r.said(r.Say(feishutest.Ana, "", "still here"), 1).Text)
	require.Len(t, r.Made(feishutest.CallEndpoint), 1)
}

func FuzzParse(f *testing.F) {
	channel, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: "s"})
	require.NoError(f, err)
	f.Add([]byte(`{"schema":"2.0","header":{"event_type":"im.message.receive_v1"},"event":{"message":{"message_id":"om_1"}}}`))
	f.Add([]byte(`{"schema":"2.0","header":{"event_id":"e","event_type":"card.action.trigger"},"event":{"operator":{"open_id":"ou_1"},"action":{"value":{}}}}`))
	f.Add([]byte(`{"type":"url_verification","challenge":"c"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		_, _, _ = feishu.Parse(channel, payload)
		_, _ = feishu.DecodeFrame(payload)
		_, _ = feishu.Decrypted(payload, encryptKey)
		for _, kind := range []string{"text", "post", "interactive", "file"} {
			feishu.Content(kind, string(payload))
		}
	})
}

func TestContent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, content, want string
		files               int
	}{
		{"text", `{"text":" Grüße @_all \u0000"}`, "Grüße @all", 0},
		{"text", `not JSON`, "", 0},
		{
			"post", `{"title":"News","content":[[{"tag":"text","text":"see "},{"tag":"a","text":"this","href":"https://a.b"}],[{"tag":"img","image_key":"img_1"}],` +
				`[{"tag":"code_block","language":"GO","text":"x()\n"}],[{"tag":"emotion","emoji_type":"OK"},{"tag":"at","user_id":"@_user_1","user_name":"Ana"}]]}`,
			"**News**\nsee [this](https://a.b)\n\n```go\nx()\n```\n[OK]@_user_1", 1,
		},
		{"image", `{"image_key":"img_1"}`, "", 1},
		{"file", `{"file_key":"file_1","file_name":"a.pdf"}`, "", 1},
		{"audio", `{"file_key":"file_1","duration":2000}`, "", 1},
		{"media", `{"file_key":"file_1","image_key":"img_1","file_name":"a.mp4"}`, "", 1},
		{"sticker", `{"file_key":"file_1"}`, "[sticker]", 0},
		{"share_chat", `{"chat_id":"oc_1"}`, "[shared the group oc_1]", 0},
		{"share_user", `{"user_id":"ou_1"}`, "[shared the contact ou_1]", 0},
		{"location", `{"name":"Lisbon","longitude":"1","latitude":"2"}`, "[location: Lisbon]", 0},
		{"merge_forward", `{}`, "[merge forward]", 0},
		{"interactive", `{"title":"T","elements":[[{"tag":"text","text":"one"},{"tag":"button","text":"no"}]]}`, "T\none", 0},
		{"interactive", `{"user_dsl":"{\"body\":{\"elements\":[{\"tag\":\"markdown\",\"content\":\"two\"}]}}"}`, "two", 0},
	} {
		text, files := feishu.Content(tt.kind, tt.content)
		require.Equal(t, tt.want, text, tt.content)
		require.Equal(t, tt.files, files, tt.content)
	}
}

func TestManyMentions(t *testing.T) {
	t.Parallel()
	r := start(t, setup{})
	people := []string{feishutest.Bot}
	var mentions strings.Builder
	mentions.WriteString("@_user_1 ")
	for i := range 11 {
		id := fmt.Sprintf("ou_p%d", i)
		r.AddPerson(id, fmt.Sprintf("P%d", i))
		people = append(people, id)
		fmt.Fprintf(&mentions, "@_user_%d ", i+2)
	}
	got := r.said(r.Say(feishutest.Ana, feishutest.General, mentions.String(), feishutest.Mentioning(people...)), 1).Text
	require.Equal(t, "@P0 @P1 @P2 @P3 @P4 @P5 @P6 @P7 @P8 @P9 @P10", got)
}
