package command

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// threadsInChannel is how many of the threads of a load are in one channel: Slack
// limits what is posted to a channel.
const threadsInChannel = 10

// slackLoad is a load of threads, in each of which somebody asks, waits for the
// answer, and asks again. Slack asks us to wait now and then.
type slackLoad struct {
	*slackNode
	model   *llmtest.Server
	threads []loadThread
	each    int // messages in a thread

	arrived sync.Map // channels of what waits for its reply, by its text
	mu      sync.Mutex
	replies sample // from event to reply
}

type loadThread struct{ channel, ts string }

func startSlackLoad(t testing.TB, mode string, threads, each int) *slackLoad {
	t.Helper()
	server := slacktest.Start(t)
	for _, method := range []string{
		"chat.postMessage", "chat.update", "chat.startStream", "conversations.replies", "users.info", "assistant.threads.setStatus",
	} {
		server.RateLimitEvery(method, 20, time.Second)
	}
	l := &slackLoad{each: each, model: llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		asked := loadText.FindAllString(r.LastUser(), -1)
		return llmtest.Text("heard: " + asked[len(asked)-1])
	})}
	l.slackNode = startSlack(t, server, l.model.URL, mode)
	var channel string
	for i := range threads {
		if i%threadsInChannel == 0 {
			channel = server.AddChannel(slacktest.Conversation{
				Name: fmt.Sprintf("load-%d", i/threadsInChannel), Kind: slacktest.Public,
				Members: []string{slacktest.Ana, slacktest.Ben, slacktest.BotUser},
			})
		}
		l.threads = append(l.threads, loadThread{channel: channel, ts: server.Say(slacktest.Ben, channel, "something to talk about").TS})
	}
	for _, method := range []string{"chat.postMessage", "chat.update"} {
		server.After(method, l.wrote)
	}
	return l
}

// wrote notes what the bot has written, if it is no draft.
func (l *slackLoad) wrote(c slacktest.Call) {
	if strings.Contains(c.Args["metadata"], `"draft"`) || c.Args["ts"] != "" && l.slack.Message(c.Args["channel"], c.Args["ts"]).Streaming {
		return
	}
	if there, waited := l.arrived.LoadAndDelete(c.Args["text"]); waited {
		close(there.(chan struct{}))
	}
}

// run has all threads go on side by side until all is answered.
func (l *slackLoad) run(t testing.TB) {
	started := time.Now()
	var wg sync.WaitGroup
	for i, thread := range l.threads {
		wg.Go(func() {
			for j := range l.each {
				text, there := l.text(i, j), make(chan struct{})
				l.arrived.Store("heard: "+text, there)
				begun := time.Now()
				l.slack.Say(slacktest.Ana, thread.channel, slacktest.Mention+" "+text, slacktest.InThread(thread.ts))
				select {
				case <-there:
				case <-time.After(2 * patience):
					t.Errorf("no answer to %q", text)
					return
				}
				l.mu.Lock()
				l.replies.times = append(l.replies.times, time.Since(begun))
				l.mu.Unlock()
			}
		})
	}
	wg.Wait()
	l.replies.wall = time.Since(started)
	l.replies.add(&sample{}) // sorts
}

var loadText = regexp.MustCompile(`t\d{3} m\d{3}`)

func (*slackLoad) text(thread, message int) string {
	return fmt.Sprintf("t%03d m%03d", thread, message)
}

// check checks that each message was answered once, in order, and acknowledged in
// time, and reports the figures.
func (l *slackLoad) check(t testing.TB, mode string) {
	t.Helper()
	for i, thread := range l.threads {
		awaitRest(t, l.client, slackSession(thread.channel, thread.ts))
		var want []string
		for j := range l.each {
			want = append(want, "heard: "+l.text(i, j))
		}
		requireOnly(t, l.slack, thread.channel, thread.ts, want...)
	}
	require.Equal(t, len(l.threads)*l.each, l.model.Count())
	require.Empty(t, l.model.Invalid())
	acks := &sample{wall: l.replies.wall}
	retried, limited := 0, 0
	for _, event := range l.slack.Events("app_mention") {
		attempts := event.Attempts()
		acks.times = append(acks.times, attempts[0].After)
		retried += len(attempts) - 1
	}
	for _, call := range l.slack.Calls("") {
		if call.Status == 429 {
			limited++
		}
	}
	acks.add(&sample{})
	t.Logf("%s: %d messages in %d threads, %.0f a second; ack p50 %.0f ms, p99 %.0f ms, max %.0f ms; reply p50 %.0f ms, p99 %.0f ms; %d calls refused with 429, %d deliveries repeated",
		mode, len(l.replies.times), len(l.threads), l.replies.rate(), acks.at(0.5), acks.at(0.99), acks.at(1),
		l.replies.at(0.5), l.replies.at(0.99), limited, retried)
	require.Less(t, acks.at(0.99), 3000.0, "Slack delivers again after 3 seconds")
	require.Positive(t, limited)
}

// TestSlackLoad runs alone, before the tests that run in parallel, which would delay the
// acknowledgements.
func TestSlackLoad(t *testing.T) {
	l := startSlackLoad(t, slack.ModeSocket, 20, 10)
	l.run(t)
	l.check(t, slack.ModeSocket)
}

// BenchmarkMessageSlack is [TestSlackLoad] with 400 messages in 100 threads.
func BenchmarkMessageSlack(b *testing.B) {
	for b.Loop() {
		for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
			l := startSlackLoad(b, mode, 100, 4)
			l.run(b)
			l.check(b, mode)
		}
	}
}
