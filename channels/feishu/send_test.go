package feishu_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
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
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestWhereAnswersGo(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	asked := r.Say(feishutest.Ana, feishutest.General, "hi").Message
	answer := outgoing("o1", feishutest.General, "**Done**")
	answer.ReplyTo = asked
	m := r.Message(r.send(answer))
	require.Equal(t, asked, m.Parent, "in a group, an answer quotes what it answers")
	require.Empty(t, m.Thread)
	require.Equal(t, "**Done**", m.Text())
	require.Equal(t, "interactive", m.Type)

	second := answer
	second.ID, second.Part = "o2", 2
	require.Empty(t, r.Message(r.send(second)).Parent, "only its first part does")

	begun := r.Say(feishutest.Ana, feishutest.Topics, "hi").Message
	inside := r.Say(feishutest.Ben, feishutest.Topics, "more", feishutest.InTopic(begun)).Message
	answer = outgoing("o3", feishutest.Topics, "yes")
	answer.Thread, answer.ReplyTo, answer.Part = begun, inside, 2
	m = r.Message(r.send(answer))
	require.Equal(t, inside, m.Parent)
	require.Equal(t, r.Message(begun).Thread, m.Thread)

	r.Recall(inside)
	answer.ID = "o4"
	require.Equal(t, begun, r.Message(r.send(answer)).Parent, "what it answers was recalled")
	r.Recall(begun)
	answer.ID = "o5"
	_, err := r.channel.Send(r.ctx, answer)
	require.ErrorIs(t, err, channels.ErrGone, "the topic is gone")

	r.Recall(asked)
	answer = outgoing("o6", feishutest.General, "still")
	answer.ReplyTo = asked
	require.Empty(t, r.Message(r.send(answer)).Parent)

	written := r.Say(feishutest.Ana, "", "hi")
	answer = outgoing("o7", feishutest.Ana, "hello")
	answer.ReplyTo = written.Message
	m = r.Message(r.send(answer))
	require.Empty(t, m.Parent, "a direct chat needs no quotes")
	require.Equal(t, r.Message(written.Message).Chat, m.Chat)
}

func TestOneReply(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	for i := range 100 {
		msg := outgoing(fmt.Sprint("o", i), feishutest.General, fmt.Sprint("answer ", i))
		r.LoseResponse(feishutest.CallCreate, 1)
		_, err := r.channel.Send(r.ctx, msg)
		require.NotNil(t, remote.As(err))
		require.False(t, remote.As(err).Permanent())
		r.send(msg)
		if i%2 == 0 {
			continue
		}
		r.Skip(2 * time.Hour) // the platform does not recognize it any more, so it is looked for
		r.ExpireTokens()
		found, err := r.channel.Find(r.ctx, msg)
		require.NoError(t, err)
		require.True(t, found.Posted)
	}
	require.Len(t, r.Posted(), 100, "100 lost answers of 100 posts, one message each")
	require.Equal(t, 55*time.Minute, r.channel.KeyLasts())
}

func TestOneReplyInDirectChatsAndTopics(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	asked := r.Say(feishutest.Ana, "", "hi").Message
	direct := outgoing("o1", feishutest.Ana, "hello")
	direct.ReplyTo = asked
	found, err := r.channel.Find(r.ctx, direct)
	require.NoError(t, err)
	require.Zero(t, found)
	r.LoseResponse(feishutest.CallCreate, 1)
	_, err = r.channel.Send(r.ctx, direct)
	require.Error(t, err)
	found, err = r.channel.Find(r.ctx, direct)
	require.NoError(t, err)
	require.True(t, found.Posted)

	another, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: feishutest.AppSecret, APIURL: r.URL()})
	require.NoError(t, err)
	another.UseStore(r.backend)
	unasked := outgoing("o2", feishutest.Ana, "a job's report")
	r.LoseResponse(feishutest.CallCreate, 1)
	_, err = another.Send(r.ctx, unasked)
	require.Error(t, err)
	found, err = another.Find(r.ctx, unasked)
	require.NoError(t, err)
	require.True(t, found.Posted, "the chat of a person is known to all processes once somebody was answered")
	found, err = another.Find(r.ctx, outgoing("o3", feishutest.Ben, "x"))
	require.NoError(t, err)
	require.Zero(t, found, "the chat of somebody who never wrote is not known")

	begun := r.Say(feishutest.Ana, feishutest.Topics, "hi").Message
	inside := outgoing("o4", feishutest.Topics, "yes")
	inside.Thread, inside.ReplyTo = begun, begun
	r.LoseResponse(feishutest.CallReply, 1)
	_, err = r.channel.Send(r.ctx, inside)
	require.Error(t, err)
	found, err = r.channel.Find(r.ctx, inside)
	require.NoError(t, err)
	require.True(t, found.Posted)
}

func TestFindAmongMany(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	first := r.send(outgoing("o0", feishutest.General, "first"))
	for i := range 120 {
		r.Say(feishutest.Ana, feishutest.General, strconv.Itoa(i))
	}
	found, err := r.channel.Find(r.ctx, outgoing("o0", feishutest.General, "first"))
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: first}, found)
	require.Len(t, r.Made(feishutest.CallList), 3)
}

func TestLongAnswer(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, "## Part %d\n\nSome *words* about it, <at id=all></at> and ![a plot](https://a.b/p.png).\n\n", i)
		fmt.Fprintf(&b, "| name | value |\n|---|---|\n| a | %d |\n\n```go\n// ![code](x) <at id=all>\n%s```\n\n", i, strings.Repeat("fmt.Println(\"líne\")\n", 100))
	}
	text := b.String()
	require.Greater(t, len([]rune(text)), 24_000)
	parts := r.channel.Split(text)
	for i, part := range parts {
		require.Empty(t, part.File)
		msg := outgoing(fmt.Sprint("o", i), feishutest.General, part.Text)
		msg.Part = i + 1
		r.send(msg) // the platform refuses a card with two tables, a foreign picture or 30 KB
	}
	require.Len(t, r.Posted(), len(parts))
	require.Len(t, parts, 12, "a table each")
	all := strings.Join(r.texts(), "\n")
	require.NotContains(t, all, "<at id=all>")
	require.Contains(t, all, "[a plot](https://a.b/p.png)")
	require.Contains(t, all, "![code](x)")
	require.Equal(t, 12, strings.Count(all, "| name | value |"), "tables are the platform's own")

	plain := strings.Repeat("Ein Satz mit Wörtern. ", 1400)
	require.LessOrEqual(t, len(r.channel.Split(plain)), 3, "30,000 characters are few cards")
	cjk := strings.Repeat("这是一个句子。", 4000)
	for i, part := range r.channel.Split(cjk) {
		r.send(outgoing(fmt.Sprint("c", i), feishutest.Ana, part.Text))
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	const table = "| a | b |\n|---|---|\n| 1 | 2 |"
	require.Equal(t, table, feishu.Rendered(table))
	both := feishu.Rendered("one\n\n" + table + "\n\ntwo\n\n" + table)
	require.Equal(t, 1, strings.Count(both, "```\n|"), "drawn where there may be no other")
	require.Contains(t, feishu.Rendered("- x\n\n  "+strings.ReplaceAll(table, "\n", "\n  ")), "```")
	require.Contains(t, feishu.Rendered(table+strings.Repeat("\n| 1 | 2 |", 60)), "```", "too many rows")
}

func TestCardThatIsRefused(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	r.Fail(feishutest.CallCreate, 1, feishutest.Fault{Code: 230099})
	id := r.send(outgoing("o1", feishutest.General, "**Done**"))
	require.Contains(t, r.Message(id).Content, `"plain_text"`)
	require.Equal(t, "**Done**", r.Message(id).Text())
	found, err := r.channel.Find(r.ctx, outgoing("o1", feishutest.General, ""))
	require.NoError(t, err)
	require.Equal(t, channels.Found{Posted: true, PlatformID: id}, found)
	r.Fail(feishutest.CallPatch, 1, feishutest.Fault{Code: 230099})
	again := outgoing("o1", feishutest.General, "**Again**")
	again.Draft = id
	r.send(again)
	require.Equal(t, "**Again**", r.Message(id).Text())
}

func TestMentions(t *testing.T) {
	t.Parallel()
	r := start(t, setup{})
	r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 ask @_user_2", feishutest.Mentioning(feishutest.Bot, feishutest.Ben)), 1)
	id := r.send(outgoing("o1", feishutest.General, "@Ben Okafor: done, `@Ben Okafor`. @Nobody"))
	require.Equal(t, "<at id="+feishutest.Ben+"></at>: done, `@Ben Okafor`. @Nobody", r.Message(id).Text())
}

func TestFiles(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	file := outgoing("o1", feishutest.General, "the log")
	file.File, file.Content = "a.log", []byte("all is well\n")
	for range 2 {
		r.LoseResponse(feishutest.CallCreate, 1)
		_, err := r.channel.Send(r.ctx, file)
		require.Error(t, err)
	}
	r.send(file)
	posted := r.Posted()
	require.Len(t, posted, 2, "the file and what is said of it, once each")
	var content struct {
		Key string `json:"file_key"`
	}
	require.NoError(t, json.Unmarshal([]byte(posted[0].Content), &content))
	require.Equal(t, "all is well\n", string(r.Uploaded(content.Key).Content))
	require.Equal(t, "a.log", r.Uploaded(content.Key).Name)
	require.Equal(t, "the log", posted[1].Text())

	picture := outgoing("o2", feishutest.Ana, "a plot")
	picture.File, picture.Content = "plot.png", []byte("\x89PNG\r\n\x1a\n")
	id := r.send(picture)
	require.Contains(t, r.Message(id).Content, `"img_key"`)
	require.Equal(t, "a plot", r.Message(id).Text())

	empty := outgoing("o3", feishutest.General, "")
	empty.File = "empty.txt"
	r.send(empty)
	large := outgoing("o4", feishutest.General, "")
	large.File, large.Content = "large.bin", make([]byte, 31<<20)
	_, err := r.channel.Send(r.ctx, large)
	require.ErrorContains(t, err, "larger than 30 MB")
	require.True(t, remote.As(err).Permanent())
}

func TestEnrich(t *testing.T) {
	t.Parallel()
	r := start(t, setup{})
	png := []byte("\x89PNG\r\n\x1a\n")
	image := r.AddFile(feishutest.File{Kind: "image", Type: "image/jpeg", Content: png})
	report := r.AddFile(feishutest.File{Kind: "file", Type: "application/json", Content: []byte(`{"code": 1}`)})
	begun := r.Say(feishutest.Ben, feishutest.Topics, "what is this?").Message
	post := fmt.Sprintf(`{"title":"","content":[[{"tag":"at","user_id":"@_user_1","user_name":"Holdfast"},{"tag":"text","text":" look"}],[{"tag":"img","image_key":%q}]]}`, image)
	asked := r.said(r.Say(feishutest.Ana, feishutest.Topics, "", feishutest.As("post", post), feishutest.Mentioning(feishutest.Bot), feishutest.InTopic(begun)), 1)
	require.Equal(t, "look", asked.Text)
	saved := map[string]string{}
	got, err := r.channel.Enrich(r.ctx, channels.Enrichment{Message: asked, Save: channeltest.SaveTo(saved)})
	require.NoError(t, err)
	require.Equal(t, "Ana Souza", got.SenderName)
	require.Len(t, got.Before, 1, "what was said in the topic before")
	require.Equal(t, "what is this?", got.Before[0].Text)
	require.Equal(t, "Ben Okafor", got.Before[0].Name)
	require.Len(t, got.Files, 1)
	require.Equal(t, "image/png", got.Files[0].MIME, "as its content says")
	require.Empty(t, got.Notes)

	file := fmt.Sprintf(`{"file_key":%q,"file_name":"report.txt"}`, report)
	sent := r.said(r.Say(feishutest.Ana, "", "", feishutest.As("file", file)), 2)
	got, err = r.channel.Enrich(r.ctx, channels.Enrichment{Message: sent, Save: channeltest.SaveTo(saved)})
	require.NoError(t, err)
	require.Equal(t, `{"code": 1}`, saved["report.txt"], "no refusal")
	require.Len(t, got.Files, 1)

	sent.Files[0].URL = "https://a.b/c"
	got, err = r.channel.Enrich(r.ctx, channels.Enrichment{Message: sent, Save: channeltest.SaveTo(saved)})
	require.NoError(t, err)
	require.Equal(t, []string{"report.txt is not stored by Feishu"}, got.Notes)
}

func TestEnrichWithoutPermissions(t *testing.T) {
	t.Parallel()
	r := start(t, setup{fake: []feishutest.Option{feishutest.Without(feishutest.ScopeContacts, feishutest.ScopeHistory)}})
	begun := r.Say(feishutest.Ben, feishutest.Topics, "what is this?").Message
	asked := r.said(r.Say(feishutest.Ana, feishutest.Topics, "@_user_1 well?", feishutest.Mentioning(feishutest.Bot), feishutest.InTopic(begun)), 1)
	got, err := r.channel.Enrich(r.ctx, channels.Enrichment{Message: asked})
	require.NoError(t, err)
	require.Len(t, got.Notes, 2)
	require.Contains(t, got.Notes[0]+got.Notes[1], "the app lacks a permission")
	_, err = r.channel.Find(r.ctx, outgoing("o1", feishutest.General, "x"))
	require.ErrorContains(t, err, "the app lacks a permission")
	require.False(t, remote.As(err).Permanent(), "a reply waits until the operator fixes it")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	msg := outgoing("o1", feishutest.General, "x")
	for _, tt := range []struct {
		fault     feishutest.Fault
		permanent bool
		gone      bool
		wait      time.Duration
	}{
		{fault: feishutest.Fault{Status: 500}},
		{fault: feishutest.Fault{Status: 502}},
		{fault: feishutest.Fault{Status: 404}, wait: 30 * time.Second}, // a proxy
		{fault: feishutest.Fault{Code: 230049}},
		{fault: feishutest.Fault{Code: 230027}, wait: 30 * time.Second},
		{fault: feishutest.Fault{Code: 99991672}, wait: 30 * time.Second},
		{fault: feishutest.Fault{Status: 200, Code: 230027}, wait: 30 * time.Second},
		{fault: feishutest.Fault{Code: 230002}, permanent: true, gone: true},
		{fault: feishutest.Fault{Code: 232009}, permanent: true, gone: true},
		{fault: feishutest.Fault{Code: 230022}, permanent: true},
		{fault: feishutest.Fault{Code: 99991663}}, // once more with another token: it succeeds
	} {
		r.Fail(feishutest.CallCreate, 1, tt.fault)
		_, err := r.channel.Send(r.ctx, msg)
		if tt.fault.Code == 99991663 {
			require.NoError(t, err)
			continue
		}
		failed := remote.As(err)
		require.NotNil(t, failed, "%+v", tt.fault)
		require.Equal(t, tt.permanent, failed.Permanent(), "%+v: %v", tt.fault, err)
		require.Equal(t, tt.gone, errors.Is(err, channels.ErrGone), "%v", err)
		require.Equal(t, tt.wait, failed.RetryAfter, "%v", err)
		require.NotContains(t, err.Error(), feishutest.AppSecret)
		require.NotContains(t, err.Error(), "t-0")
	}
	require.Len(t, r.Made(feishutest.CallToken), 2)
	r.Down()
	_, err := r.channel.Send(r.ctx, msg)
	require.NotNil(t, remote.As(err))
	require.NotContains(t, err.Error(), "http://")
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	for _, fault := range []feishutest.Fault{feishutest.RateLimited(7), {Status: 400, Code: 99991400, Reset: 7}} {
		r.Fail(feishutest.CallCreate, 1, fault)
		chat := feishutest.General
		if fault.Status == 400 {
			chat = feishutest.Topics
		}
		_, err := r.channel.Send(r.ctx, outgoing("o1", chat, "x"))
		require.Equal(t, 429, remote.As(err).Status)
		require.Equal(t, 7*time.Second, remote.As(err).RetryAfter)
		calls := len(r.Made(feishutest.CallCreate))
		_, err = r.channel.Send(r.ctx, outgoing("o1", chat, "x"))
		require.Equal(t, 429, remote.As(err).Status)
		require.Greater(t, remote.As(err).RetryAfter, 5*time.Second)
		require.Len(t, r.Made(feishutest.CallCreate), calls, "the platform is not asked before")
	}
	r.send(outgoing("o2", feishutest.Ana, "another chat is not held up"))
	r.Fail(feishutest.CallCreate, 1, feishutest.Fault{Code: 230020})
	_, err := r.channel.Send(r.ctx, outgoing("o3", feishutest.Ben, "x"))
	require.Equal(t, time.Second, remote.As(err).RetryAfter)
}

func TestToken(t *testing.T) {
	t.Parallel()
	r := start(t, setup{idle: true})
	r.send(outgoing("o1", feishutest.General, "x"))
	r.send(outgoing("o2", feishutest.General, "x"))
	require.Len(t, r.Made(feishutest.CallToken), 1)
	r.ExpireTokens()
	r.send(outgoing("o3", feishutest.General, "x"))
	require.Len(t, r.Made(feishutest.CallToken), 2)

	wrong, err := feishu.New(feishu.Options{AppID: feishutest.AppID, AppSecret: "guessed", APIURL: r.URL()})
	require.NoError(t, err)
	_, err = wrong.Send(r.ctx, outgoing("o4", feishutest.General, "x"))
	require.ErrorContains(t, err, "the app secret is not valid")
	require.False(t, remote.As(err).Permanent(), "a reply waits until the operator fixes it")
	require.NotContains(t, err.Error(), "guessed")
}

func TestRecipients(t *testing.T) {
	t.Parallel()
	r := start(t, setup{options: feishu.Options{AllowGroups: []string{feishutest.General}}})
	r.said(r.Say(feishutest.Ana, feishutest.General, "@_user_1 ask @_user_2", feishutest.Mentioning(feishutest.Bot, feishutest.Ben)), 1)
	for to, want := range map[string]string{
		"#general": feishutest.General, feishutest.General: feishutest.General, "@Ben Okafor": feishutest.Ben, feishutest.Ben: feishutest.Ben, feishutest.Ana: feishutest.Ana,
	} {
		got, err := r.channel.Resolve(r.ctx, feishutest.Ana, to)
		require.NoError(t, err, to)
		require.Equal(t, want, got)
	}
	for to, want := range map[string]string{
		"#topics": "allow_groups", "#closed": "not in", feishutest.Closed: "not in", "@Nobody": "no one called", feishutest.Cai: "allow_users", "": "neither",
	} {
		_, err := r.channel.Resolve(r.ctx, feishutest.Ana, to)
		require.ErrorContains(t, err, want, to)
	}
	_, err := r.channel.Resolve(r.ctx, feishutest.Cai, "#general")
	require.Error(t, err, "who is not in a group cannot have the bot write there")

	at, err := r.channel.Locate(r.ctx, feishutest.General, "om_1")
	require.NoError(t, err)
	require.Equal(t, feishutest.General, at)
	for chat, thread := range map[string]string{"": "", "general": "", feishutest.Ana: "1"} {
		_, err := r.channel.Locate(r.ctx, chat, thread)
		require.Error(t, err)
	}
}

func TestReactions(t *testing.T) {
	t.Parallel()
	for _, failed := range []bool{false, true} {
		r := start(t, setup{})
		asked := r.said(r.Say(feishutest.Ana, "", "hi"), 1)
		turn := channels.PresentedTurn{ID: "t1", Reply: "o1", Messages: []domain.Inbound{asked}, Drafts: channeltest.NewDrafts()}
		r.channel.Present(turn)
		require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Reactions(asked.PlatformID)) == 1 }))
		require.Equal(t, []string{"Typing"}, r.Reactions(asked.PlatformID))
		r.channel.Pause(r.ctx, "t1")
		r.channel.Conclude(turn, failed, !failed)
		r.channel.Wait(r.ctx)
		if failed {
			require.Equal(t, []string{"CrossMark"}, r.Reactions(asked.PlatformID))
		} else {
			require.Empty(t, r.Reactions(asked.PlatformID))
		}
	}
	r := start(t, setup{fake: []feishutest.Option{feishutest.Without(feishutest.ScopeReactions)}})
	asked := r.said(r.Say(feishutest.Ana, "", "hi"), 1)
	r.channel.Present(channels.PresentedTurn{ID: "t1", Reply: "o1", Messages: []domain.Inbound{asked}, Drafts: channeltest.NewDrafts()})
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Made(feishutest.CallReact)) == 1 }))
	r.channel.Pause(r.ctx, "t1")
	require.Eventually(t, func() bool {
		how, err := r.channel.Indicates(r.ctx, chat.Place{})
		return err == nil && !how.State
	}, deadline, time.Millisecond)
}
