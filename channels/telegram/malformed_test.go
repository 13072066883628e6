package telegram_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
)

// sample is an update with everything that is read.
const sample = `{"update_id": 7, "message": {"message_id": 5, "message_thread_id": 42, "is_topic_message": true, "date": 1700000000, "edit_date": 1700000001,
	"from": {"id": 1001, "is_bot": false, "first_name": "Ana", "username": "ana"}, "chat": {"id": -1001, "type": "supergroup", "title": "Team"},
	"media_group_id": "9", "text": "hi @holdfast_bot and more", "entities": [{"type": "text_link", "offset": 0, "length": 2, "url": "https://a"}, {"type": "pre", "offset": 3, "length": 4, "language": "go"}],
	"caption": "c", "caption_entities": [{"type": "code", "offset": 0, "length": 1}], "quote": {"text": "q"},
	"reply_to_message": {"message_id": 3, "from": {"id": 1002, "first_name": "Ben"}, "chat": {"id": -1001, "type": "supergroup"}, "text": "said", "photo": [{"file_id": "a"}, {"file_id": "b", "file_size": 5}]},
	"external_reply": {"origin": {"sender_user_name": "x"}, "photo": []}, "forward_origin": {"sender_user": {"id": 5, "first_name": "F"}},
	"photo": [{"file_id": "p"}], "voice": {"file_id": "v"}, "audio": {"file_id": "a", "file_name": "../a.mp3"}, "document": {"file_id": "d", "mime_type": "text/csv"},
	"video": {"file_id": "w"}, "video_note": {"file_id": "n"}, "animation": {"file_id": "g"}, "sticker": {"emoji": "🦆", "set_name": "s"},
	"location": {"latitude": 1.5, "longitude": 2}, "venue": {"title": "t", "address": "a", "location": {}}, "contact": {"phone_number": "1", "first_name": "C"},
	"poll": {"question": "?", "options": [{"text": "a"}]}, "dice": {"emoji": "🎲", "value": 3}, "migrate_to_chat_id": -5, "is_automatic_forward": false},
	"callback_query": {"id": "c1", "from": {"id": 1001}, "data": "approve:abcdefgh:42", "message": {"message_id": 5, "chat": {"id": -1001}}}}`

// malformed returns a payload that Telegram does not send.
func malformed(random *rand.Rand) []byte {
	payload := []byte(sample)
	switch random.IntN(3) {
	case 0: // cut off
		return payload[:random.IntN(len(payload))]
	case 1: // some bytes are others
		for range 1 + random.IntN(5) {
			payload[random.IntN(len(payload))] = byte(random.IntN(256))
		}
		return payload
	}
	var tree map[string]any // some values are of another type
	_ = json.Unmarshal(payload, &tree)
	delete(tree, []string{"message", "callback_query"}[random.IntN(2)])
	confuse(random, tree)
	payload, _ = json.Marshal(tree)
	return payload
}

func confuse(random *rand.Rand, tree map[string]any) {
	for key, value := range tree {
		if nested, is := value.(map[string]any); is {
			confuse(random, nested)
		}
		if random.IntN(10) == 0 {
			tree[key] = []any{nil, -1, "x", []any{}, map[string]any{}, 1e300, true, "\x00"}[random.IntN(8)]
		}
	}
}

func TestMalformedPayloads(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{Mode: telegram.ModeWebhook})
	require.NoError(t, b.Await(b.ctx, func() bool { return b.channel.Addr() != nil && len(b.Calls("setWebhook")) > 0 }))
	secret := b.Calls("setWebhook")[0].Arguments["secret_token"]
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test's
	for i := range 1000 {
		payload := malformed(random)
		if i%10 == 0 {
			require.Equal(t, http.StatusUnauthorized, b.knock("", string(payload)))
		}
		require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, b.knock(secret, string(payload)))
	}
	b.confirmed(b.Say(telegramtest.Ana, telegramtest.Ana, "still here"))
}

func TestMalformedUpdatesDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	b := receive(t, telegram.Options{})
	var all []*telegramtest.Delivery
	for i := range 100 {
		all = append(all, b.Raw(map[string]any{"message": i}), b.Raw(map[string]any{"message": map[string]any{"text": 5}}), b.Raw(map[string]any{"unknown": "kind"}))
		all = append(all, b.Say(telegramtest.Ana, telegramtest.Ana, strconv.Itoa(i)))
	}
	b.confirmed(all...)
	require.Len(t, b.accepted(100), 100)
	odd := b.Raw(map[string]any{"message": map[string]any{
		"message_id": 4711, "date": "soon", "text": "a date of another kind", "chat": map[string]any{"id": telegramtest.Ana, "type": "private"}, "from": map[string]any{"id": telegramtest.Ana},
	}})
	b.confirmed(odd)
	require.Equal(t, "a date of another kind", b.accepted(101)[100].Text)
	nul := b.Say(telegramtest.Ana, telegramtest.Ana, "a\x00b\x1b[31m", telegramtest.WithDocument("../../etc/\x00passwd", "text/plain", []byte("x")))
	b.confirmed(nul)
	require.Equal(t, "ab[31m", b.accepted(102)[101].Text)
}

func FuzzUpdate(f *testing.F) {
	f.Add([]byte(sample))
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // a test's
	for range 20 {
		f.Add(malformed(random))
	}
	c, err := telegram.New(telegram.Options{Token: "1:a"})
	require.NoError(f, err)
	c.Become("holdfast_bot")
	f.Fuzz(func(t *testing.T, payload []byte) {
		d, err := c.Parse(payload)
		if err != nil {
			require.NotErrorIs(t, err, chat.ErrPanic)
			require.Nil(t, d)
		}
		if p, is := d.(*chat.Post); is {
			require.NotEmpty(t, p.Chat)
			require.NotEmpty(t, p.PlatformID)
			require.NotEmpty(t, p.Sender)
			require.NotContains(t, p.Text, "\x00")
		}
	})
}
