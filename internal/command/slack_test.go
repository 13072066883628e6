package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// slackNode is a node on a Slack workspace of tests.
type slackNode struct {
	*testNode
	slack  *slacktest.Server
	events string // the URL that Slack posts to; empty over Socket Mode
}

// slackConfig are the settings for a Slack of tests.
func slackConfig(server *slacktest.Server, mode string) config.Slack {
	c := config.Default("").Channels.Slack
	c.Enabled, c.Mode, c.APIURL = true, mode, server.APIURL()
	c.BotToken, c.AppToken, c.SigningSecret = slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret
	c.Listen = "127.0.0.1:0"
	c.AllowUsers, c.AllowChannels = []string{"*"}, []string{"*"}
	return c
}

// startSlack starts a node whose model is at url and that is connected to server.
func startSlack(t testing.TB, server *slacktest.Server, url, mode string, change ...func(*config.Config, *node.Roles)) *slackNode {
	t.Helper()
	var channel *slack.Channel
	settings := func(c *config.Config, _ *node.Roles) { c.Channels.Slack = slackConfig(server, mode) }
	connect := func(c *config.Config, r *node.Roles) {
		var err error
		channel, err = slack.New(node.SlackOptions(c.Channels.Slack, testLog(t)))
		require.NoError(t, err)
		r.Push = map[string]node.PushChannel{slack.Name: channel}
	}
	n := startNode(t, url, slices.Concat([]func(*config.Config, *node.Roles){settings}, change, []func(*config.Config, *node.Roles){connect})...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if mode == slack.ModeSocket {
		require.NoError(t, server.AwaitConnections(ctx, 1))
		return &slackNode{testNode: n, slack: server}
	}
	require.Eventually(t, func() bool { return channel.Addr() != nil }, patience, time.Millisecond)
	events := "http://" + channel.Addr().String() + "/slack"
	server.ServeEvents(events)
	require.Eventually(t, func() bool { return server.Challenge(ctx) == nil }, patience, 10*time.Millisecond)
	return &slackNode{testNode: n, slack: server, events: events}
}

// replies waits until the bot has said n finished things in a thread, and returns them.
func (n *slackNode) replies(t testing.TB, channel, thread string, count int) []string {
	t.Helper()
	return replies(t, n.slack, channel, thread, count)
}

func replies(t testing.TB, server *slacktest.Server, channel, thread string, count int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var said []string
	err := server.Await(ctx, func() bool {
		said = finished(server, channel, thread)
		return len(said) >= count
	})
	require.NoError(t, err, "said so far: %q", said)
	require.Len(t, said, count, "%q", said)
	return said
}

// finished returns the bot's messages in a thread, or outside threads, except drafts.
func finished(server *slacktest.Server, channel, thread string) []string {
	messages := server.Channel(channel)
	if thread != "" {
		messages = server.Thread(channel, thread)
	}
	var said []string
	for _, m := range messages {
		if m.BotID == slacktest.Bot && (thread != "" || m.ThreadTS == "") && !isDraft(m) {
			said = append(said, m.Text)
		}
	}
	return said
}

func isDraft(m slacktest.Message) bool {
	return m.Streaming || m.Metadata != nil && strings.Contains(string(m.Metadata.EventPayload), `"draft"`) || m.Streamed && m.Metadata == nil
}

func TestSlack(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			t.Run("a mention becomes a thread, with a tool and one message", func(t *testing.T) {
				t.Parallel()
				server := slacktest.Start(t)
				drafted := make(chan struct{})
				model := llmtest.NewServer(t,
					llmtest.Calls(llmtest.Call{ID: "1", Name: "exec", Arguments: `{"command":"echo from the shell"}`}),
					llmtest.SlowDrip("The **answer** is here, and it is a long one that comes in pieces.", 100*time.Millisecond).After(drafted),
				)
				server.After("chat.startStream", func(slacktest.Call) { close(drafted) })
				n := startSlack(t, server, model.URL, mode)
				asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" what is it?")
				require.NoError(t, asked.Wait(t.Context()))
				said := n.replies(t, slacktest.General, asked.TS, 1)
				require.Contains(t, said[0], "*answer* is here")
				n.closedCost(t, "slack:"+slacktest.Team+"/"+slacktest.General+":"+asked.TS)
				thread := server.Thread(slacktest.General, asked.TS)
				require.Len(t, thread, 2, "one question, one answer")
				require.True(t, thread[1].Streamed, "it was shown while it was written")
				require.NotEmpty(t, server.Calls("chat.appendStream"))
				last := model.Requests()[1]
				require.Contains(t, last.Results()[0], "from the shell")
				require.Contains(t, last.LastUser(), "what is it?")
				require.NotContains(t, last.LastUser(), slacktest.BotUser)
				require.Contains(t, last.LastUser(), "Sender: ana")
				require.Contains(t, last.LastUser(), "CET")
			})

			t.Run("a direct message, a thread without mentions, two people", func(t *testing.T) {
				t.Parallel()
				server := slacktest.Start(t)
				model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
					text, _, _ := strings.Cut(r.LastUser(), "\n")
					return llmtest.Text("heard: " + text)
				})
				n := startSlack(t, server, model.URL, mode)
				direct := server.Say(slacktest.Ana, slacktest.DM, "in private")
				require.NoError(t, direct.Wait(t.Context()))
				require.Equal(t, []string{"heard: in private"}, n.replies(t, slacktest.DM, "", 1))

				first := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" one")
				require.NoError(t, first.Wait(t.Context()))
				n.replies(t, slacktest.General, first.TS, 1)
				for i, who := range []string{slacktest.Ben, slacktest.Ana} {
					said := server.Say(who, slacktest.General, fmt.Sprintf("follow %d", i), slacktest.InThread(first.TS))
					require.NoError(t, said.Wait(t.Context()))
					n.replies(t, slacktest.General, first.TS, i+2)
				}
				require.Equal(t, []string{"heard: one", "heard: follow 0", "heard: follow 1"}, finished(server, slacktest.General, first.TS))
				unrelated := server.Say(slacktest.Ben, slacktest.General, "not for the bot")
				require.NoError(t, unrelated.Wait(t.Context()))
				requests := model.Requests()
				require.Len(t, requests, 4)
				last := requests[3]
				require.Contains(t, last.LastUser(), "Sender: ana")
				require.Contains(t, last.Messages[3].Content.Text, "[Sender: Ben Okafor]")
			})
		})
	}
}
