package discord_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
)

// events are what the gateway dispatches.
var events = []struct{ kind, data string }{
	{"MESSAGE_CREATE", `{"id":"1100000000000000001","channel_id":"400000000000000001","guild_id":"200000000000000000","type":19,"content":"<@100000000000000000> hi <#400000000000000002>","author":{"id":"300000000000000001","username":"ana","bot":false},"member":{"nick":"A"},"mentions":[{"id":"100000000000000000","username":"b"}],"mention_roles":["1"],"attachments":[{"id":"1","filename":"a","content_type":"text/plain","size":3,"url":"http://x"}],"referenced_message":{"id":"1","content":"x","author":{"id":"2","username":"z"}},"message_snapshots":[{"message":{"content":"f","attachments":[]}}],"sticker_items":[{"name":"s"}],"webhook_id":null,"nonce":5}`},
	{"MESSAGE_CREATE", `{"id":"1100000000000000002","channel_id":"500000000000000001","type":0,"content":"hello","author":{"id":"300000000000000001","username":"ana"},"mentions":[],"attachments":[]}`},
	{"INTERACTION_CREATE", `{"id":"1100000000000000003","application_id":"1","type":3,"token":"t","guild_id":"200000000000000000","channel_id":"400000000000000001","channel":{"id":"400000000000000001","type":0},"member":{"user":{"id":"300000000000000001","username":"ana"},"nick":null},"data":{"custom_id":"holdfast:approve:abcdefgh","component_type":2}}`},
	{"INTERACTION_CREATE", `{"id":"1100000000000000004","application_id":"1","type":2,"token":"t","channel_id":"500000000000000001","channel":{"id":"500000000000000001","type":1},"user":{"id":"300000000000000001","username":"ana"},"data":{"name":"stop","options":[{"name":"argument","type":3,"value":"x"}]}}`},
	{"GUILD_CREATE", `{"id":"200000000000000000","unavailable":false,"channels":[{"id":"400000000000000001","type":0,"name":"general","last_message_id":null}],"threads":[{"id":"7","type":11,"parent_id":"400000000000000001","owner_id":"1","thread_metadata":{"archive_timestamp":"2026-01-01T00:00:00+00:00"}}],"roles":[{"id":"1","tags":{"bot_id":"2"}}]}`},
	{"THREAD_CREATE", `{"id":"8","guild_id":"200000000000000000","type":11,"parent_id":"400000000000000001","owner_id":"1"}`},
	{"THREAD_LIST_SYNC", `{"guild_id":"200000000000000000","threads":[{"id":"9","type":11,"parent_id":"4"}]}`},
	{"GUILD_DELETE", `{"id":"200000000000000009","unavailable":true}`},
	{"READY", `{"v":10,"session_id":"s","resume_gateway_url":"","guilds":[{"id":"5","unavailable":true}],"application":{"id":"1"}}`},
}

// mutated returns a payload with something in it changed.
func mutated(random *rand.Rand, payload string) string {
	data := []byte(payload)
	switch random.IntN(4) {
	case 0: // cut
		return string(data[:random.IntN(len(data))])
	case 1: // bytes changed
		for range 1 + random.IntN(5) {
			data[random.IntN(len(data))] = byte(random.IntN(256))
		}
		return string(data)
	case 2: // another type of value
		values := []string{"null", "0", "-1", "[]", "{}", `""`, "true", `"\u0000"`, "1e400", `"` + strings.Repeat("9", 400) + `"`}
		parts := strings.SplitAfter(payload, ":")
		at := random.IntN(len(parts))
		return strings.Join(parts[:at], "") + values[random.IntN(len(values))] + strings.Join(parts[at:], "")
	default: // nested deeply
		return strings.Repeat(`{"d":`, random.IntN(2000)) + payload
	}
}

func TestThousandMutatedEvents(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	b := receive(t, settings{})
	for range 1_000 {
		e := events[random.IntN(len(events))]
		data := mutated(random, e.data)
		if json.Valid([]byte(data)) && e.kind != "READY" {
			b.Raw(e.kind, data)
		} else { // the gateway sends nothing else in an event: the frame is invalid
			b.RawFrame([]byte(fmt.Sprintf(`{"op":0,"t":%q,"s":1,"d":%s}`, e.kind, data)))
		}
	}
	b.Say(discordtest.Ana, b.Direct(discordtest.Ana), "still there")
	require.Eventually(t, func() bool { return strings.Contains(strings.Join(b.texts(), "\n"), "still there") }, deadline, tick)
	for _, msg := range b.backend.Accepted() {
		require.NotEmpty(t, msg.PlatformID)
		require.NotEmpty(t, msg.Sender)
	}
}

func TestAnIDFromTheFutureDoesNotMoveThePosition(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	b.Raw("MESSAGE_CREATE", strings.ReplaceAll(events[1].data, "1100000000000000002", "9100000000000000002"))
	b.accepted(1)
	want := b.numbered(discordtest.General, 1)
	b.eventually(discordtest.General, want)
	require.Eventually(t, func() bool { return b.cursor("position") != "" }, deadline, tick)
	require.Less(t, len(b.cursor("position")), 20)
	require.NoError(t, b.stop())
	require.Less(t, b.cursor("position"), "9")
}

func FuzzEvent(f *testing.F) {
	for _, e := range events {
		f.Add(e.kind, []byte(e.data))
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		channel, err := discord.New(discord.Options{Token: "x", APIURL: "http://127.0.0.1:1"})
		require.NoError(t, err)
		backend := channeltest.NewBackend(nil)
		panicked := channel.Take(t.Context(), backend, kind, data)
		require.False(t, panicked)
		for _, msg := range backend.Accepted() {
			require.NotEmpty(t, msg.PlatformID)
			require.NotEmpty(t, msg.Sender)
			require.True(t, strings.Contains(msg.Chat, "/"))
		}
	})
}

func TestEventsThatAreNotOurs(t *testing.T) {
	t.Parallel()
	b := receive(t, settings{})
	for _, frame := range []string{`{"op":11}`, `{"op":10,"d":{}}`, `{"op":0,"t":"SOMETHING_NEW","s":3,"d":[1]}`, `{"op":99,"d":"x"}`, `{"op":1,"d":null}`} {
		b.RawFrame([]byte(frame))
	}
	b.settled()
	time.Sleep(tick)
	_, resumed := b.Sessions()
	require.Zero(t, resumed)
}
