package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// withChannels is a change to a node that has the channels besides HTTP.
func withChannels(push map[string]node.PushChannel) func(*config.Config, *node.Roles) {
	return func(_ *config.Config, r *node.Roles) { r.Push = push }
}

// TestCallsOfOneCompletion checks which calls run concurrently.
func TestCallsOfOneCompletion(t *testing.T) {
	t.Parallel()

	t.Run("calls that only read run side by side", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t,
			llmtest.Calls(
				llmtest.Call{ID: "a", Name: "mcp_web_meet", Arguments: `{"text":"first"}`},
				llmtest.Call{ID: "b", Name: "mcp_web_meet", Arguments: `{"text":"second"}`}),
			llmtest.Text("done"))
		n := startNode(t, model.URL, withMCP(map[string]config.MCPServer{"web": mcpOverHTTP(t, t.TempDir())}))
		require.Equal(t, "done", n.ask(t, "main", "go").Text)
		require.Equal(t, []string{"met first", "met second"}, model.Requests()[1].Results())
	})

	t.Run("others run sequentially", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t,
			llmtest.Calls(
				llmtest.Call{ID: "a", Name: "exec", Arguments: `{"command":"sleep 0.5; echo one >> order"}`},
				llmtest.Call{ID: "b", Name: "read_file", Arguments: `{"path":"order"}`},
				llmtest.Call{ID: "c", Name: "exec", Arguments: `{"command":"echo two >> order"}`}),
			llmtest.Text("done"))
		n := startNode(t, model.URL)
		require.Equal(t, "done", n.ask(t, "main", "go").Text)
		order, err := os.ReadFile(filepath.Join(n.cfg.Workspace, "order"))
		require.NoError(t, err)
		require.Equal(t, "one\ntwo\n", string(order))
		read := model.Requests()[1].Results()[1]
		require.Contains(t, read, "one")
		require.NotContains(t, read, "two")
	})
}

// TestRouting serves several channels with one node.
func TestRouting(t *testing.T) {
	t.Parallel()
	one, two := channeltest.NewMemory("one"), channeltest.NewMemory("two")
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		_, about, _ := strings.Cut(r.LastUser(), "[Runtime Context]\n")
		return llmtest.Text(about)
	})
	n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"one": one, "two": two}))
	deliver(t, one, "1", "t1", "hi")
	deliver(t, two, "1", "", "hi")
	require.Equal(t, "c t1", posted(t, one, 1)[0].Chat+" "+posted(t, one, 1)[0].Thread)
	require.Contains(t, posted(t, one, 1)[0].Text, "Channel: one\nChat: c\nSender: Ana")
	require.Equal(t, "c ", posted(t, two, 1)[0].Chat+" "+posted(t, two, 1)[0].Thread)
	require.Contains(t, posted(t, two, 1)[0].Text, "Channel: two\nChat: c\nSender: Ana")
	require.Contains(t, n.ask(t, "main", "hi").Text, "Channel: http\nChat: main")
	n.closedCost(t, "one:c:t1")
	n.closedCost(t, "two:c")
	require.Len(t, one.Posted(), 1)
	require.Len(t, two.Posted(), 1)
}

// TestAChannelThatIsAway checks that replies wait only for their own channel.
func TestAChannelThatIsAway(t *testing.T) {
	t.Parallel()
	away, well := channeltest.NewMemory("away"), channeltest.NewMemory("well")
	n := startNode(t, echo(t).URL, withChannels(map[string]node.PushChannel{"away": away, "well": well}))
	away.Fail(1 << 30)
	deliver(t, away, "1", "", "hi")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, away.AwaitCalls(ctx, 2), "it is tried again")
	deliver(t, well, "1", "", "hi")
	posted(t, well, 1)
	require.Equal(t, domain.ReplyDone, n.ask(t, "main", "hi").Status)
	deliver(t, away, "2", "t", "hi")
	require.Empty(t, away.Posted())
	away.Fail(0)
	posted(t, away, 2)
	n.closedCost(t, "away:c")
	n.closedCost(t, "away:c:t")
	require.Len(t, away.Posted(), 2)
	require.Len(t, well.Posted(), 1)
}

// TestMessageTool has the model write to the chat itself.
func TestMessageTool(t *testing.T) {
	t.Parallel()
	write := llmtest.Calls(llmtest.Call{ID: "m", Name: "message", Arguments: `{"content":"written by the tool"}`})

	t.Run("a message to this chat is the reply, and no second one follows", func(t *testing.T) {
		t.Parallel()
		memory := channeltest.NewMemory("memory")
		model := llmtest.NewServer(t, write, llmtest.Text("I have told you."), llmtest.Text("next"))
		n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": memory}))
		deliver(t, memory, "1", "t", "tell me")
		require.Equal(t, "c t written by the tool", sentTo(posted(t, memory, 1)[0]))
		n.closedCost(t, "memory:c:t")
		require.Len(t, memory.Posted(), 1)
		deliver(t, memory, "2", "t", "and now?")
		require.Equal(t, "c t next", sentTo(posted(t, memory, 2)[1]))
	})

	t.Run("a conversation on a pull channel gets only the reply", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if len(r.Results()) > 0 {
				return llmtest.Text(r.Results()[0])
			}
			return write
		})
		n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": channeltest.NewMemory("memory")}))
		require.Contains(t, n.ask(t, "main", "tell me").Text, "this conversation only receives your final reply")
	})

	t.Run("the model is told what it is for", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": channeltest.NewMemory("memory")}))
		n.ask(t, "main", "hi")
		for _, offered := range model.Requests()[0].Tools {
			if offered.Function.Name == "message" {
				require.Contains(t, offered.Function.Description, "to another chat")
				require.Contains(t, offered.Function.Description, "do not send it with this tool too")
				return
			}
		}
		require.Fail(t, "there is no message tool")
	})
}

func sentTo(m domain.Outbound) string { return m.Chat + " " + m.Thread + " " + m.Text }

// TestWhatAnAgentAndItsSubagentsHave compares their tools and their prompts.
func TestWhatAnAgentAndItsSubagentsHave(t *testing.T) {
	t.Parallel()
	memory := channeltest.NewMemory("memory")
	model := delegating(t, 1, 1, llmtest.Call{})
	n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": memory}))
	require.NoError(t, os.MkdirAll(filepath.Join(n.cfg.Workspace, "memory"), 0o755))
	for name, text := range map[string]string{"memory/MEMORY.md": "likes tea", "SOUL.md": "be kind"} {
		require.NoError(t, os.WriteFile(filepath.Join(n.cfg.Workspace, name), []byte(text), 0o600))
	}
	deliver(t, memory, "1", "", "hello")
	posted(t, memory, 1)
	deliver(t, memory, "2", "", "delegate")
	posted(t, memory, 3)

	asked := func(subagent bool) (last llmtest.Request) {
		for _, r := range model.Requests() {
			if isSubagent(r) == subagent {
				last = r
			}
		}
		return last
	}
	main, child := asked(false), asked(true)
	shared := []string{
		"read_file", "write_file", "edit_file", "list_dir", "find_files", "grep", "apply_patch", "exec", "web_search", "web_fetch",
	}
	require.Subset(t, toolNames(child), shared)
	require.Subset(t, toolNames(main), append(shared, "message", "spawn", "cron", "memory_search"))
	for _, name := range []string{"message", "spawn", "cron", "memory_search"} {
		require.NotContains(t, toolNames(child), name)
	}
	require.Contains(t, main.Messages[0].Content.Text, "likes tea")
	require.Contains(t, main.Messages[0].Content.Text, "be kind")
	require.Len(t, child.Messages, 2, "no history")
	require.NotContains(t, child.Messages[0].Content.Text, "likes tea", "no memory")
	require.NotContains(t, child.Messages[0].Content.Text, "be kind")
	require.True(t, strings.HasPrefix(child.LastUser(), "task 0"))

	var spawned string
	for _, r := range model.Requests() {
		if i := slices.IndexFunc(r.Results(), func(s string) bool { return strings.HasPrefix(s, "Started subagent") }); i >= 0 {
			spawned = r.Results()[i]
		}
	}
	require.Regexp(t, `^Started subagent "part 0" \([0-9a-z]{8}\)`, spawned)
}

// TestFallbacks has a busy model and a fallback.
func TestFallbacks(t *testing.T) {
	t.Parallel()
	busy := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Status(503, "") })
	spare := llmtest.NewServer(t, llmtest.Text("the spare one answers"))
	n := startNode(t, busy.URL, func(c *config.Config, _ *node.Roles) {
		c.Providers["spare"] = config.Provider{Kind: "custom", BaseURL: spare.URL, APIKey: "key", Timeout: time.Minute}
		c.Fallbacks = []string{"spare/model"}
	})
	require.Equal(t, "the spare one answers", n.ask(t, "main", "hi").Text)
	require.Equal(t, 1, busy.Count())
}

// TestIDsOfSessions checks the format of session keys, which users depend on.
func TestIDsOfSessions(t *testing.T) {
	t.Parallel()
	require.Equal(t, "slack:C1", domain.SessionKey("slack", "C1", ""))
	require.Equal(t, "slack:T1/C2:1712.34", domain.SessionKey("slack", "T1/C2", "1712.34"))
	require.NotEqual(t, domain.SessionKey("a", "b:c", ""), domain.SessionKey("a", "b", "c"))
}

// TestCronTool has the model add jobs of each kind, list and remove them.
func TestCronTool(t *testing.T) {
	t.Parallel()
	cfg, r, _ := jobHome(t, nil)
	n, _ := startOn(t, cfg, r)
	cron := func(arguments string) string {
		t.Helper()
		return n.ask(t, "main", "cron "+arguments).Text
	}
	at := time.Now().UTC().AddDate(0, 0, 2).Truncate(time.Second)
	var ids []string
	for _, tt := range []struct{ when, listed string }{
		{`"every_seconds":7200`, "every 2h; next "},
		{fmt.Sprintf(`"at":%q,"tz":"UTC"`, at.Format(time.RFC3339)), "once, " + at.Format("Mon 2006-01-02 15:04:05 UTC")},
		{`"cron_expr":"0 9 * * 1-5","tz":"Europe/Berlin"`, "cron 0 9 * * 1-5 (Europe/Berlin); next "},
	} {
		id := jobID(t, cron(`{"action":"add","message":"do it",`+tt.when+`}`))
		require.Contains(t, cron(`{"action":"list"}`), "- `"+id+"` **do it**: "+tt.listed)
		ids = append(ids, id)
	}
	for _, id := range ids {
		require.Contains(t, cron(`{"action":"list"}`), id)
		require.Equal(t, "Removed.", cron(fmt.Sprintf(`{"action":"remove","job_id":%q}`, id)))
	}
	require.Equal(t, "There are no jobs.", cron(`{"action":"list"}`))
}

// TestNewIsAnsweredAtOnce has a model that is slow to consolidate after /new.
func TestNewIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	release, longest := make(chan struct{}), 0
	remember := remembered(t, &longest)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if strings.HasPrefix(r.Messages[0].Content.Text, "You maintain an assistant's memory") {
			return remember(r).After(release)
		}
		return remember(r)
	})
	cfg, r, _ := jobHome(t, func(c *config.Config) {
		c.Providers["scripted"] = config.Provider{Kind: "custom", BaseURL: model.URL, APIKey: "key", Timeout: time.Minute}
	})
	n, stop := startOn(t, cfg, r)
	n.ask(t, "main", "fact 0")
	n.ask(t, "main", "fact 1")
	require.Equal(t, "New conversation.", n.ask(t, "main", "/new").Text)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, model.Await(ctx, 3), "the archiving has begun")
	require.Equal(t, "noted", n.ask(t, "main", "hello").Text)
	require.Len(t, model.Requests()[model.Count()-1].Messages, 2, "a fresh start")
	memory := filepath.Join(cfg.Workspace, "memory")
	require.NoFileExists(t, filepath.Join(memory, "HISTORY.md"))

	stop()
	close(release)
	startOn(t, cfg, r)
	require.Eventually(t, func() bool {
		facts, err := os.ReadFile(filepath.Join(memory, "MEMORY.md"))
		entries, none := os.ReadFile(filepath.Join(memory, "HISTORY.md"))
		return err == nil && none == nil && string(facts) == "fact 0\nfact 1\n" && strings.Contains(string(entries), "They spoke of fact 0 to fact 1.")
	}, patience, 20*time.Millisecond, "it goes on after a restart")
}

// TestPeopleDoNotShareConversations consolidates one person's messages and
// lets two people search for them.
func TestPeopleDoNotShareConversations(t *testing.T) {
	t.Parallel()
	longest, push := 0, channeltest.NewMemory("memory")
	model := remembering(t, &longest)
	n := startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": push}), func(c *config.Config, _ *node.Roles) { c.Memory.Scope = config.MemorySender })
	said := 0
	say := func(sender, text string) llmtest.Request {
		said++
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		require.NoError(t, push.Deliver(ctx, domain.Inbound{PlatformID: strconv.Itoa(said), Chat: sender, Sender: sender, Text: text}))
		posted(t, push, said)
		return model.Requests()[model.Count()-1]
	}
	say("ana", "fact 3")
	say("ana", "/new")
	taken := func() []string {
		files, err := filepath.Glob(filepath.Join(n.cfg.Workspace, "memory", "*", "HISTORY.md"))
		require.NoError(t, err)
		return files
	}
	require.Eventually(t, func() bool { return len(taken()) == 1 }, patience, 20*time.Millisecond)
	require.NoFileExists(t, filepath.Join(n.cfg.Workspace, "memory", "MEMORY.md"))

	for sender, hers := range map[string]bool{"ana": true, "ben": false} {
		asked := say(sender, "recall")
		require.Equal(t, hers, strings.Contains(asked.Messages[0].Content.Text, "fact 3"), sender)
		require.Equal(t, hers, strings.Contains(asked.Results()[0], "They spoke of fact 3"), sender)
		require.Equal(t, hers, strings.Contains(asked.Results()[0], "the user: fact 3"), sender)
		require.Equal(t, !hers, strings.Contains(asked.Results()[0], "Nothing found"), sender)
	}
}
