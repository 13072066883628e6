package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// times is how often a test does what must never go wrong: usual, or as the
// environment says.
func times(t testing.TB, usual int) int {
	t.Helper()
	given := os.Getenv("HOLDFAST_TEST_TIMES")
	if given == "" {
		return usual
	}
	n, err := strconv.Atoi(given)
	require.NoError(t, err)
	return n
}

// longAnswer is sent in several messages, one of them a file.
var longAnswer = strings.Repeat("A sentence that is repeated often enough. ", 200) + "\n\n" +
	"```go\n" + strings.Repeat("fmt.Println(1)\n", 80) + "```\n\nThat is all."

// TestSlackLostAnswers has Slack do what it is asked and lose the answer: whatever
// is posted is there once.
func TestSlackLostAnswers(t *testing.T) {
	t.Parallel()
	quick := func(name string) llmtest.Step { return llmtest.Text("heard " + name) }
	slow := func(name string) llmtest.Step {
		return llmtest.SlowDrip("heard "+name+" and this is what takes its time to be said, until at last it is said.", slowPause)
	}
	long := func(string) llmtest.Step { return llmtest.Text(longAnswer) }
	tests := []struct {
		name   string
		mode   string
		count  int
		answer func(name string) llmtest.Step
		change func(*config.Slack, *slacktest.Server)
		lose   []string // methods
		parts  int
	}{
		{"of posts", slack.ModeSocket, 100, quick, func(c *config.Slack, _ *slacktest.Server) {
			c.Stream = false
		}, []string{"chat.postMessage"}, 1},
		{"of a streamed draft and what follows", slack.ModeHTTP, 20, slow, func(*config.Slack, *slacktest.Server) {
		}, []string{"chat.startStream", "chat.stopStream", "chat.update"}, 1},
		{"of an edited draft and what follows", slack.ModeSocket, 20, slow, func(_ *config.Slack, s *slacktest.Server) {
			s.Fail("chat.startStream", slacktest.Always, slacktest.Fault{Error: "unknown_method"})
		}, []string{"chat.postMessage", "chat.update"}, 1},
		{"of parts and a file", slack.ModeSocket, 5, long, func(*config.Slack, *slacktest.Server) {
		}, []string{"chat.postMessage", "files.getUploadURLExternal", "files.completeUploadExternal"}, len(slackParts(t, longAnswer))},
	}
	cases := map[string]func(*testing.T){}
	for _, tt := range tests {
		cases[tt.name] = func(t *testing.T) {
			server := slacktest.Start(t)
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step { return tt.answer(topic(r)) })
			n := startSlack(t, server, model.URL, tt.mode, func(c *config.Config, _ *node.Roles) { tt.change(&c.Channels.Slack, server) })
			count := times(t, tt.count)
			for _, method := range tt.lose {
				server.LoseResponse(method, count)
			}
			var asked []string
			for i := range count {
				asked = append(asked, server.Say(slacktest.Ana, slacktest.General, fmt.Sprintf("%s m%03d", slacktest.Mention, i)).TS)
			}
			for i, ts := range asked {
				said := n.replies(t, slacktest.General, ts, tt.parts)
				awaitRest(t, n.client, slackSession(slacktest.General, ts))
				requireOnly(t, server, slacktest.General, ts, said...)
				if tt.parts == 1 {
					require.Contains(t, said[0], fmt.Sprintf("heard m%03d", i))
				} else {
					requireWhole(t, server, ts)
				}
			}
			for _, method := range tt.lose {
				require.Positive(t, lost(server, method), method)
			}
			require.Empty(t, model.Invalid())
		}
	}
	sideBySide(t, cases)
}

// slackParts are the messages that an answer is sent as.
func slackParts(t *testing.T, answer string) []domain.Part {
	t.Helper()
	channel, err := slack.New(slack.Options{BotToken: slacktest.BotToken})
	require.NoError(t, err)
	return channel.Split(answer)
}

// lost counts the calls of a method that got no answer.
func lost(server *slacktest.Server, method string) int {
	count := 0
	for _, call := range server.Calls(method) {
		if call.Took > 0 && call.Status == 0 {
			count++
		}
	}
	return count
}

// writtenIn returns what the blocks of a message say: the text of a long one is cut.
func writtenIn(t *testing.T, m slacktest.Message) string {
	t.Helper()
	if m.Blocks == nil {
		return m.Text
	}
	var blocks []struct{ Text string }
	require.NoError(t, json.Unmarshal(m.Blocks, &blocks))
	require.Len(t, blocks, 1)
	return blocks[0].Text
}

// requireWhole checks that the parts of the long answer are in a thread, in order.
func requireWhole(t *testing.T, server *slacktest.Server, thread string) {
	t.Helper()
	var text strings.Builder
	files := 0
	for _, m := range server.Thread(slacktest.General, thread)[1:] {
		text.WriteString(writtenIn(t, m) + " ")
		for _, f := range m.Files {
			files++
			require.Equal(t, strings.Repeat("fmt.Println(1)\n", 80), string(f.Content))
		}
	}
	require.Equal(t, 1, files)
	require.Equal(t, strings.Fields(strings.Repeat("A sentence that is repeated often enough. ", 200)+"That is all."), strings.Fields(text.String()))
}

// TestSlackLostAnswersWithCrash has Slack do what it is asked, or not, and the
// program killed before it knows which.
func TestSlackLostAnswersWithCrash(t *testing.T) {
	t.Parallel()
	type hook func(s *slacktest.Server, method string, f func(slacktest.Call))
	before, after := (*slacktest.Server).Before, (*slacktest.Server).After
	cases := map[string]func(*testing.T){}
	for name, at := range map[string]struct {
		hook   hook
		method string
		answer string
		pause  time.Duration
	}{
		"before a post":         {before, "chat.postMessage", "all done", 0},
		"after a post":          {after, "chat.postMessage", "all done", 0},
		"after the file":        {after, "files.completeUploadExternal", longAnswer, 0},
		"after a draft's reply": {after, "chat.update", slowAnswer, slowPause},
	} {
		cases[name] = func(t *testing.T) {
			server := slacktest.Start(t, retries)
			model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step {
				if at.pause > 0 {
					return llmtest.SlowDrip(at.answer, at.pause)
				}
				return llmtest.Text(at.answer)
			})
			h := newSlackHome(t, model.URL, server, slack.ModeSocket)
			p := h.start(t)
			parts := len(slackParts(t, at.answer))
			for range times(t, 3) {
				h.connected(t)
				kill := h.killOnce()
				at.hook(server, at.method, func(slacktest.Call) { kill() })
				asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" do it")
				p.awaitExit(t)
				p = h.start(t)
				said := replies(t, server, slacktest.General, asked.TS, parts)
				awaitRest(t, p.temporal(t), slackSession(slacktest.General, asked.TS))
				requireOnly(t, server, slacktest.General, asked.TS, said...)
			}
			require.Empty(t, model.Invalid())
		}
	}
	sideBySide(t, cases)
}
