package whatsapp_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestMessagesArrive(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	d := n.SayAll(whatsapptest.Ana, "one", "two", "three")
	require.NoError(t, d.Wait(n.ctx))
	for i, msg := range n.accepted(3) {
		require.Equal(t, []string{"one", "two", "three"}[i], msg.Text, "in order")
		require.Equal(t, []string{whatsapptest.Ana, whatsapptest.Ana, d.IDs[i], "Someone"}, []string{msg.Chat, msg.Sender, msg.PlatformID, msg.SenderName})
	}
	for range 3 {
		require.NoError(t, n.Redeliver(d.IDs[2], d.IDs[0]).Wait(n.ctx))
	}
	require.Len(t, n.accepted(3), 3, "each once")

	require.NoError(t, n.Say(whatsapptest.Hidden, "no number").Wait(n.ctx))
	hidden := n.accepted(4)[3]
	require.Equal(t, whatsapptest.Hidden, hidden.Chat)
	n.deliver(domain.Outbound{ID: "o1", Chat: whatsapptest.Hidden, Text: "hi"})
	require.Equal(t, whatsapptest.Hidden, n.Sent()[0].To)
}

// A request is acknowledged only if all of its messages were accepted.
func TestNotAllWereAccepted(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.backend.FailAccept(2)
	require.NoError(t, n.SayAll(whatsapptest.Ana, "one", "two", "three").Wait(n.ctx))
	all := n.accepted(3)
	require.Len(t, all, 3)
	for i, msg := range all {
		require.Equal(t, []string{"one", "two", "three"}[i], msg.Text)
	}
	require.True(t, n.log.has("not acknowledged, will be delivered again"))
}

func TestWhoIsAnswered(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	require.NoError(t, n.Say(whatsapptest.Ben, "hi").Wait(n.ctx))
	require.NoError(t, n.Await(n.ctx, func() bool { return len(n.Sent()) == 1 }))
	require.Contains(t, n.Sent()[0].Text, "holdfast pairing approve PAIR-"+whatsapptest.Ben)
	require.Empty(t, n.backend.Accepted())
	n.backend.Approve(whatsapp.Name, whatsapptest.Ben)
	require.NoError(t, n.Say(whatsapptest.Ben, "hi again").Wait(n.ctx))
	require.Equal(t, "hi again", n.accepted(1)[0].Text)

	byID := start(t, setup{options: whatsapp.Options{Options: chat.Options{ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: []string{"US.1" + whatsapptest.Ana}}}}}})
	require.NoError(t, byID.Say(whatsapptest.Ana, "hi").Wait(byID.ctx))
	require.Equal(t, "US.1"+whatsapptest.Ana, byID.accepted(1)[0].Sender, "let in by Meta's ID")
	require.Equal(t, whatsapptest.Ana, byID.accepted(1)[0].Chat)
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	body := []byte(textMessage)
	for name, header := range map[string]http.Header{
		"none":            {},
		"another secret":  whatsapptest.Sign("another", body),
		"another body":    whatsapptest.Sign(whatsapptest.AppSecret, []byte("{}")),
		"not hexadecimal": {"X-Hub-Signature-256": {"sha256=zz"}},
		"too short":       {"X-Hub-Signature-256": {"sha256=00"}},
		"sha1":            {"X-Hub-Signature-256": {"sha1=" + strings.TrimPrefix(whatsapptest.Sign(whatsapptest.AppSecret, body).Get("X-Hub-Signature-256"), "sha256=")}},
	} {
		require.Equal(t, 401, n.post(body, header), name)
	}
	require.Empty(t, n.backend.Accepted())
	for range 3 {
		require.Equal(t, 200, n.post(body, whatsapptest.Sign(whatsapptest.AppSecret, body)))
	}
	require.Len(t, n.backend.Accepted(), 1, "a replay has no effect")
	require.False(t, n.log.has(whatsapptest.AppSecret))

	require.NoError(t, n.Subscribe(n.ctx, whatsapptest.VerifyToken))
	require.ErrorContains(t, n.Subscribe(n.ctx, "guessed"), "status 403")
	require.ErrorContains(t, n.Subscribe(n.ctx, ""), "status 403")
}

const textMessage = `{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",
"metadata":{"display_phone_number":"15550783881","phone_number_id":"` + whatsapptest.PhoneNumberID + `"},"contacts":[{"profile":{"name":"Ana"},"wa_id":"` + whatsapptest.Ana + `"}],
"messages":[{"from":"` + whatsapptest.Ana + `","id":"wamid.x","timestamp":"1749416383","type":"text","text":{"body":"hi"}}]}}]}]}`

func TestWhatIsIgnored(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	signed := func(body string) int {
		return n.post([]byte(body), whatsapptest.Sign(whatsapptest.AppSecret, []byte(body)))
	}
	for _, body := range []string{
		strings.ReplaceAll(textMessage, whatsapptest.PhoneNumberID, "999"),
		strings.ReplaceAll(textMessage, `"field":"messages"`, `"field":"account_update"`),
		strings.ReplaceAll(textMessage, `"type":"text","text":{"body":"hi"}`, `"type":"reaction","reaction":{"emoji":"x"}`),
		strings.ReplaceAll(textMessage, `"id":"wamid.x"`, `"id":""`),
		string(whatsapptest.Update(whatsapptest.PhoneNumberID, map[string]any{"statuses": []map[string]any{
			{"id": "wamid.1", "status": "failed", "biz_opaque_callback_data": "x", "errors": []map[string]any{{"code": 131047, "message": "Re-engagement message"}}},
			{"id": "wamid.2", "status": "sent", "biz_opaque_callback_data": "x"},
		}})),
		"{}",
	} {
		require.Equal(t, 200, signed(body), body)
	}
	require.Empty(t, n.backend.Accepted())
	require.True(t, n.log.has("message to another number ignored"))
	require.True(t, n.log.has("whatsapp did not deliver a message"))
	for _, body := range []string{"", "{", "[]", `{"entry":1}`} {
		require.Equal(t, 400, signed(body), body)
	}
	require.Equal(t, 413, signed(strings.Repeat(" ", 1<<20+1)))
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	d := n.Say(whatsapptest.Ana, "look",
		whatsapptest.Attachment{Name: "notes.txt", Type: "document", MIME: "text/plain", Content: []byte("remember")},
		whatsapptest.Attachment{Type: "image", MIME: "image/jpeg", Content: []byte("JPEG")},
		whatsapptest.Attachment{Name: "elsewhere", Type: "image", MIME: "image/jpeg", Content: []byte("x")},
	)
	require.NoError(t, d.Wait(n.ctx))
	all := n.accepted(3)
	require.Equal(t, "look", all[0].Text)
	saved := map[string]string{}
	enrich := func(msg domain.Inbound) channels.Enriched {
		got, err := n.channel.Enrich(n.ctx, channels.Enrichment{Message: msg, Save: func(name string, content io.Reader) (string, error) {
			read, err := io.ReadAll(content)
			saved[name] = string(read)
			return "media/" + name, err
		}})
		require.NoError(t, err)
		return got
	}
	enrich(all[0])
	enrich(all[1])
	require.Equal(t, []string{"image.jpg is not stored by WhatsApp"}, enrich(all[2]).Notes)
	require.Equal(t, map[string]string{"notes.txt": "remember", "image.jpg": "JPEG"}, saved)
	all[0].Files[0].ID = "media-unknown"
	require.Equal(t, []string{"notes.txt is no longer stored by WhatsApp"}, enrich(all[0]).Notes)
}

func TestOtherKindsOfMessages(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	for i, tt := range []struct{ content, want string }{
		{`"type":"location","location":{"latitude":52.5,"longitude":13.4,"name":"Office"}`, "Location: 52.5, 13.4 Office"},
		{`"type":"button","button":{"text":"Yes","payload":"x"}`, "Yes"},
		{`"type":"interactive","interactive":{"type":"list_reply","list_reply":{"id":"1","title":"Second"}}`, "Second"},
		{`"type":"audio","audio":{"id":"1","mime_type":"audio/ogg; codecs=opus","voice":true}`, ""},
	} {
		body := []byte(strings.ReplaceAll(strings.ReplaceAll(textMessage, `"type":"text","text":{"body":"hi"}`, tt.content), "wamid.x", fmt.Sprint("wamid.", i)))
		require.Equal(t, 200, n.post(body, whatsapptest.Sign(whatsapptest.AppSecret, body)))
		require.Equal(t, tt.want, n.accepted(i + 1)[i].Text)
	}
	require.Equal(t, "audio.ogg", n.accepted(4)[3].Files[0].Name)
}

func TestSetup(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	found := n.channel.CheckSetup(n.ctx)
	require.Equal(t, "connected as Acme +1 555-078-3881 ("+whatsapptest.PhoneNumberID+")", found[0].Text)
	require.Equal(t, "answers 2 people", found[1].Text)
	require.NotNil(t, n.channel.Webhook())
	_, err := whatsapp.New(whatsapp.Options{})
	require.ErrorContains(t, err, "is not set")
	chat, err := n.channel.Locate(n.ctx, "+1 650 555-1234", "")
	require.NoError(t, err)
	require.Equal(t, whatsapptest.Ana, chat)
	_, err = n.channel.Locate(n.ctx, "", "")
	require.ErrorAs(t, err, &channels.MalformedError{})
	_, err = n.channel.Locate(n.ctx, "1", "2")
	require.ErrorAs(t, err, &channels.MalformedError{})
	require.NoError(t, n.Await(n.ctx, func() bool { return len(n.Made("number")) == 2 }), "it identified, too")
	n.Fail("number", 1, whatsapptest.Fault{Status: 401, Code: 190})
	require.Contains(t, n.channel.CheckSetup(n.ctx)[0].Text, "the access token has expired or was revoked")
}

// updates are what WhatsApp delivers.
var updates = []string{
	textMessage,
	string(whatsapptest.Update(whatsapptest.PhoneNumberID, map[string]any{"statuses": []map[string]any{{"id": "wamid.1", "status": "sent", "biz_opaque_callback_data": strings.Repeat("a", 32)}}})),
	string(whatsapptest.Update(whatsapptest.PhoneNumberID, map[string]any{"messages": []map[string]any{
		{"id": "wamid.2", "from": whatsapptest.Ana, "timestamp": "1", "type": "image", "image": map[string]any{"id": "1", "mime_type": "image/jpeg", "caption": "c"}},
		{"id": "wamid.3", "from_user_id": whatsapptest.Hidden, "timestamp": "x", "type": "interactive", "interactive": map[string]any{"button_reply": map[string]any{"id": "approve:abcdefgh", "title": "Approve"}}},
	}})),
}

func FuzzRead(f *testing.F) {
	for _, u := range updates {
		f.Add([]byte(u))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for _, d := range whatsapp.Read(t, payload) {
			require.NotEmpty(t, d.PlatformID)
			require.NotEmpty(t, d.Sender)
			require.NotContains(t, d.Chat, "/")
		}
	})
}

func TestMutatedPayloads(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
	for range 1_000 {
		body := mutated(random, updates[random.IntN(len(updates))])
		require.Contains(t, []int{200, 400}, n.post(body, whatsapptest.Sign(whatsapptest.AppSecret, body)), "%s", body)
	}
	n.asked()
	require.False(t, n.log.has("panic"))
}

// mutated is a text with a few bytes and words of it changed.
func mutated(random *rand.Rand, text string) []byte {
	out := []byte(text)
	words := []string{"null", "{}", "[]", `""`, "-1", "1e999", `"\u0000"`, "\xff", `"`, "true", ","}
	for range 1 + random.IntN(4) {
		at := random.IntN(len(out) + 1)
		switch random.IntN(4) {
		case 0:
			out = out[:at]
		case 1:
			out = append(out[:at:at], append([]byte(words[random.IntN(len(words))]), out[at:]...)...)
		case 2:
			end := min(len(out), at+random.IntN(12))
			out = append(out[:at:at], out[end:]...)
		default:
			if at < len(out) {
				out[at] = byte(random.IntN(256))
			}
		}
	}
	return out
}
