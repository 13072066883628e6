package command

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// scripts is a model that follows, for each message, the script whose name is
// the message's first line.
type scripts struct {
	*llmtest.Server
}

func newScripts(t *testing.T, steps map[string][]llmtest.Step) scripts {
	return scripts{llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		name := topic(r)
		if len(steps[name]) == 0 {
			return llmtest.Refuse(400, "script_over", "the script has no more steps: "+name)
		}
		step := steps[name][0]
		steps[name] = steps[name][1:]
		return step
	})}
}

func topic(r llmtest.Request) string {
	name, _, _ := strings.Cut(r.LastUser(), "\n")
	return name
}

// requests returns the requests about a message.
func (s scripts) requests(name string) []llmtest.Request {
	return slices.DeleteFunc(s.Requests(), func(r llmtest.Request) bool { return topic(r) != name })
}

func TestFaultsOfTheModel(t *testing.T) {
	t.Parallel()
	call := func(name, arguments string) llmtest.Step {
		return llmtest.Calls(llmtest.Call{Name: name, Arguments: arguments})
	}
	tests := []struct {
		name   string
		script []llmtest.Step
		status domain.ReplyStatus
		reply  string // contained
		told   string // contained in the last tool results
	}{
		{"429 with Retry-After", []llmtest.Step{llmtest.Status(429, "0.2"), llmtest.Text("fine")}, domain.ReplyDone, "fine", ""},
		{"500", []llmtest.Step{llmtest.Status(500, "0.1"), llmtest.Text("fine")}, domain.ReplyDone, "fine", ""},
		{"503 for ever", slices.Repeat([]llmtest.Step{llmtest.Status(503, "0.05")}, 8), domain.ReplyFailed, "after 8 attempts", ""},
		{"a stream that is cut", []llmtest.Step{llmtest.CutStream("half of an answer", 2), llmtest.Text("fine")}, domain.ReplyDone, "fine", ""},
		{"a stream that is cut in a tool call", []llmtest.Step{cutCall(), llmtest.Text("fine")}, domain.ReplyDone, "fine", ""},
		{"an empty completion", []llmtest.Step{llmtest.Empty(), llmtest.Text("fine")}, domain.ReplyDone, "fine", ""},
		{"arguments that can be repaired", []llmtest.Step{llmtest.BadJSON("x", "read_file"), llmtest.Text("fine")}, domain.ReplyDone, "fine", "a.txt"},
		{"arguments that are no JSON", []llmtest.Step{call("read_file", "the readme, please"), llmtest.Text("fine")}, domain.ReplyDone, "fine", "invalid arguments"},
		{"an unknown tool", []llmtest.Step{call("sing", `{}`), llmtest.Text("fine")}, domain.ReplyDone, "fine", "list_dir"},
		{"a tool name that is none", []llmtest.Step{call("<sing> a song", `{}`), llmtest.Text("fine")}, domain.ReplyDone, "fine", "list_dir"},
		{"a context that is too long", []llmtest.Step{llmtest.TooLong()}, domain.ReplyFailed, "/new", ""},
		{"401", []llmtest.Step{llmtest.Refuse(401, "invalid_api_key", "bad key")}, domain.ReplyFailed, "providers.scripted.api_key", ""},
		{"a wrong model", []llmtest.Step{llmtest.Refuse(404, "model_not_found", "no such model")}, domain.ReplyFailed, "no such model", ""},
		{"a completion that is cut in a call", []llmtest.Step{call("write_file", `{"path":"x","content":"half`).Finish("length"), llmtest.Text("fine")}, domain.ReplyDone, "fine", "Not run"},
		{"binary output", []llmtest.Step{call("exec", `{"command":"printf 'a\\377\\000\\200z'"}`), llmtest.Text("fine")}, domain.ReplyDone, "fine", "a\uFFFD"},
		{"an image of 10 MB from a command", []llmtest.Step{call("exec", `{"command":"head -c 9900000 /dev/urandom"}`), llmtest.Text("fine")}, domain.ReplyDone, "fine", "bytes left out"},
		{"an image of 10 MB in a file", []llmtest.Step{call("read_file", `{"path":"image.png"}`), llmtest.Text("fine")}, domain.ReplyDone, "fine", "image.png"},
		{"40 calls with HTML", []llmtest.Step{manyWrites(40), llmtest.Text("fine")}, domain.ReplyDone, "fine", ""},
	}
	byName := map[string][]llmtest.Step{}
	for _, tt := range tests {
		byName[tt.name] = append(slices.Clone(tt.script), llmtest.Text("the next answer"))
	}
	model := newScripts(t, byName)
	n := startNode(t, model.URL)
	image := append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 10<<20)...)
	require.NoError(t, os.WriteFile(filepath.Join(n.cfg.Workspace, "image.png"), image, 0o600))

	t.Run("each", func(t *testing.T) {
		for i, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				session := fmt.Sprintf("s%d", i)
				answer := n.ask(t, session, tt.name)
				require.Equal(t, tt.status, answer.Status, answer.Text)
				require.Contains(t, answer.Text, tt.reply)
				if tt.status == domain.ReplyDone {
					require.Equal(t, tt.reply, answer.Text, "nothing of a cut answer is in it")
				} else {
					require.NotContains(t, answer.Text, "\n", "a sentence")
				}
				requests := model.requests(tt.name)
				require.Len(t, requests, len(tt.script))
				if tt.told != "" {
					require.Contains(t, strings.Join(requests[len(requests)-1].Results(), "\n"), tt.told)
				}
				require.Less(t, n.closedCost(t, "http:"+session).payload, protocol.PayloadLimit)

				next := n.ask(t, session, tt.name)
				require.Equal(t, "the next answer", next.Text)
				require.Equal(t, 1, strings.Count(transcriptOf(t, n, session), "the next answer"))
			})
		}
	})
	require.Empty(t, model.Invalid())
}

// cutCall stops in the middle of a tool call.
func cutCall() llmtest.Step {
	return llmtest.Raw("text/event-stream", `data: {"choices":[{"delta":{"content":"I will write","tool_calls":[{"index":0,"id":"x","function":{"name":"write_file","arguments":"{\"path\":\"x\","}}]}}]}`+"\n\n")
}

// manyWrites writes n small pages.
func manyWrites(n int) llmtest.Step {
	var calls []llmtest.Call
	for i := range n {
		calls = append(calls, llmtest.Call{Name: "write_file", Arguments: fmt.Sprintf(
			`{"path":"page%d.html","content":"<html><body class=\"&amp;\">%s</body></html>"}`, i, strings.Repeat("<br>", 50))})
	}
	return llmtest.Calls(calls...)
}

func transcriptOf(t *testing.T, n *testNode, session string) string {
	t.Helper()
	messages, err := n.api.Transcript(t.Context(), "http:"+session)
	require.NoError(t, err)
	var all strings.Builder
	for _, m := range messages {
		all.WriteString(m.Content + "\n")
	}
	return all.String()
}

func TestOddMessages(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		return llmtest.Text(fmt.Sprintf("%d bytes", len(r.LastUser())))
	})
	n := startNode(t, model.URL)
	for name, text := range map[string]string{
		"1 MB":                   strings.Repeat("long ", 1<<20/5),
		"much that JSON escapes": strings.Repeat("<\"\x01\\\u2028", 10_000),
		"an emoji a line":        strings.Repeat("🙂\n", 500),
	} {
		t.Run(name, func(t *testing.T) {
			session := strings.ReplaceAll(name, " ", "-")
			answer := n.ask(t, session, text)
			require.Equal(t, domain.ReplyDone, answer.Status, answer.Text)
			require.Less(t, n.closedCost(t, "http:"+session).payload, protocol.PayloadLimit)
		})
	}
	t.Run("more than 1 MB is refused", func(t *testing.T) {
		_, err := n.api.Send(t.Context(), "main", "", strings.Repeat("long ", 1<<20))
		require.ErrorContains(t, err, "413")
	})
	t.Run("NUL is refused", func(t *testing.T) {
		_, err := n.api.Send(t.Context(), "main", "", "a\x00b")
		require.ErrorContains(t, err, "NUL")
	})
	require.Empty(t, model.Invalid())
}

func TestEventsOfATurn(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	model := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}).After(hold),
		llmtest.CutStream("half of an answer", 2),
		llmtest.Text("the whole answer"))
	n := startNode(t, model.URL)
	n.send(t, "main", "m1", "go")

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events := make(chan event.Event, 1000)
	ended := make(chan domain.Reply, 1)
	go func() {
		message, err := n.api.Follow(ctx, "m1", func(e event.Event) { events <- e })
		if err != nil {
			t.Error(err)
		}
		ended <- message
	}()
	require.NoError(t, model.Await(ctx, 1))
	require.Eventually(t, func() bool {
		n.Events.Publish(ctx, domain.MessageID(http.Name, "", "m1"), event.Event{Kind: event.ToolProgress, Text: "are you there"})
		return len(events) > 0
	}, patience, 10*time.Millisecond)
	close(hold)
	require.Equal(t, "the whole answer", (<-ended).Text)
	close(events)

	var kinds []string
	shown := ""
	for e := range events {
		switch e.Kind {
		case event.ToolProgress:
			continue
		case event.Reset:
			shown = ""
		case event.Text:
			shown += e.Text
		default:
		}
		kind := fmt.Sprintf("%s %d", e.Kind, e.Step)
		if len(kinds) == 0 || kinds[len(kinds)-1] != kind {
			kinds = append(kinds, kind)
		}
	}
	want := []string{"tool_start 1", "tool_done 1", "reset 2", "text 2", "retry 2", "reset 2", "text 2"}
	require.Equal(t, want, kinds[max(0, len(kinds)-len(want)):])
	require.Equal(t, "the whole answer", shown, "what was shown of the cut answer is taken back")
}

func TestTheStoreIsAwayForAMoment(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	model := newScripts(t, map[string][]llmtest.Step{
		"go": {
			llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo ran >> effects.txt"}`}).After(release),
			llmtest.Text("done"),
		},
		"accepted as soon as it can be stored": {llmtest.Text("other")},
	})
	n := startNode(t, model.URL)
	n.send(t, "main", "m1", "go")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, model.Await(ctx, 1))

	db, err := sql.Open("sqlite", n.cfg.StoreDSN()+"?_txlock=immediate")
	require.NoError(t, err)
	defer db.Close()
	held, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	close(release) // the completion cannot be stored
	over := make(chan error, 1)
	time.AfterFunc(3*time.Second, func() { over <- held.Rollback() })
	second := n.send(t, "other", "m2", "accepted as soon as it can be stored")
	select {
	case err := <-over:
		require.NoError(t, err)
	default:
		require.Fail(t, "a message was acknowledged that could not be stored")
	}
	require.Equal(t, "done", n.await(t, "m1").Text)
	require.Equal(t, "other", n.await(t, second).Text)
	effects, err := os.ReadFile(filepath.Join(n.cfg.Workspace, "effects.txt"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(effects))
}
