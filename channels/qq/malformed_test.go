package qq_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
)

// events are what QQ delivers.
var events = []string{
	directMessage,
	`{"op":0,"id":"e2","t":"GROUP_AT_MESSAGE_CREATE","d":{"id":"ROBOT1.0_y","author":{"member_openid":"` + qqtest.Ana + `","bot":false},"group_openid":"` + qqtest.Ops + `","content":" look","timestamp":"2026-11-22T10:00:00+08:00","attachments":[{"content_type":"file","filename":"a.txt","size":3,"url":"https://multimedia.nt.qq.com.cn/a"},{"content_type":"voice","url":"//a.qq.com/b","voice_wav_url":"a.qq.com/c","asr_refer_text":"so"}]}}`,
	`{"op":0,"t":"GROUP_ADD_ROBOT","d":{"group_openid":"x"}}`,
	`{"op":13,"d":{"plain_token":"a","event_ts":"1"}}`,
	`{"op":11}`,
}

func FuzzReadEvent(f *testing.F) {
	for _, e := range events {
		f.Add([]byte(e))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		for range 2 {
			post, err := qq.ReadEvent(payload)
			if err != nil || post == nil {
				return
			}
			require.NotEmpty(t, post.PlatformID)
			require.NotEmpty(t, post.Sender)
			require.Regexp(t, `^(user|group)/[^/]+$`, post.Chat)
			require.Equal(t, post.Chat, post.Scope)
		}
	})
}

func TestMutatedPayloads(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		b := start(t, mode, setup{})
		random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's
		for range 1_000 {
			body := mutated(random, events[random.IntN(len(events))])
			if mode == qq.ModeSocket {
				require.NoError(t, b.AwaitConnections(b.ctx, 1)) // some frames end the session
				b.SendFrame(string(body))
				continue
			}
			status, _ := b.post(body, qqtest.Sign(qqtest.Secret, time.Now(), body))
			require.Contains(t, []int{200, 400}, status, "%s", body)
		}
		require.Eventually(t, func() bool {
			b.Say(qqtest.OpsChat, qqtest.Ana, "still there?")
			all := b.backend.Accepted()
			return len(all) > 0 && all[len(all)-1].Text == "still there?"
		}, deadline, 50*time.Millisecond)
		require.Zero(t, b.log.count("panic"))
	})
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
