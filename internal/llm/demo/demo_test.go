package demo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/demo"
)

func ask(t *testing.T, tools []string, messages ...domain.Message) llm.Response {
	req := llm.Request{Model: "demo", Messages: messages}
	for _, name := range tools {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: name})
	}
	var streamed strings.Builder
	resp, err := demo.Provider{}.Complete(t.Context(), req, func(d llm.Delta) {
		require.True(t, utf8.ValidString(d.Text))
		streamed.WriteString(d.Text)
	})
	require.NoError(t, err)
	require.Equal(t, resp.Content, streamed.String())
	return resp
}

var allTools = []string{"exec", "read_file", "list_dir", "write_file"}

func user(text string) domain.Message {
	return domain.Message{Role: domain.RoleUser, Content: text + "\n\n[Runtime Context]\nrun: never\nsecret"}
}

func TestPlainMessagesAreQuoted(t *testing.T) {
	t.Parallel()
	resp := ask(t, allTools, user("Grüße an\nalle"))
	require.Contains(t, resp.Content, "demo model")
	require.Contains(t, resp.Content, "> Grüße an alle\n")
	require.Contains(t, resp.Content, "OPENAI_API_KEY")
	require.NotContains(t, resp.Content, "secret")
	require.Empty(t, resp.ToolCalls)
	require.Equal(t, "stop", resp.FinishReason)
	require.Positive(t, resp.Usage.PromptTokens)
	require.Positive(t, resp.Usage.CompletionTokens)
	require.Equal(t, resp, ask(t, allTools, user("Grüße an\nalle")), "the same to the same")
}

func TestLinesBecomeToolCalls(t *testing.T) {
	t.Parallel()
	resp := ask(t, allTools, user("please\nrun: echo a: b\n  Read: a.txt\nlist: .\nwrite: a b.txt: x: y\nrun:\nI run: far"))
	require.Equal(t, "tool_calls", resp.FinishReason)
	require.Empty(t, resp.Content)
	want := []struct{ name, arguments string }{
		{"exec", `{"command":"echo a: b"}`},
		{"read_file", `{"path":"a.txt"}`},
		{"list_dir", `{"path":"."}`},
		{"write_file", `{"path":"a b.txt","content":"x: y\n"}`},
	}
	require.Len(t, resp.ToolCalls, len(want))
	ids := map[string]bool{}
	for i, w := range want {
		require.Equal(t, w.name, resp.ToolCalls[i].Name)
		require.JSONEq(t, w.arguments, resp.ToolCalls[i].Arguments)
		ids[resp.ToolCalls[i].ID] = true
	}
	require.Len(t, ids, len(want))
}

func TestConsecutiveMessagesAreAllAnswered(t *testing.T) {
	t.Parallel()
	resp := ask(t, allTools, user("run: one"), user("run: two"), user("run: three"))
	require.Len(t, resp.ToolCalls, 3)
	for i, command := range []string{"one", "two", "three"} {
		require.JSONEq(t, `{"command":"`+command+`"}`, resp.ToolCalls[i].Arguments)
	}
}

func TestToolResultsAreRepeated(t *testing.T) {
	t.Parallel()
	first := ask(t, allTools, user("run: a\nrun: b"))
	history := []domain.Message{
		user("run: a\nrun: b"),
		{Role: domain.RoleAssistant, ToolCalls: first.ToolCalls},
		{Role: domain.RoleTool, CallID: first.ToolCalls[0].ID, Name: "exec", Content: "one ```fenced```\n"},
		{Role: domain.RoleTool, CallID: first.ToolCalls[1].ID, Name: "exec", Content: "two"},
	}
	resp := ask(t, allTools, history...)
	require.Contains(t, resp.Content, "`exec`:\n\n````\none ```fenced```\n````")
	require.Contains(t, resp.Content, "```\ntwo\n```")
	require.Empty(t, resp.ToolCalls)

	again := ask(t, allTools, append(history, domain.Message{Role: domain.RoleAssistant, Content: resp.Content}, user("thanks"))...)
	require.Contains(t, again.Content, "> thanks")
}

func TestUnavailableToolsAreNotCalled(t *testing.T) {
	t.Parallel()
	resp := ask(t, nil, user("run: a"))
	require.Empty(t, resp.ToolCalls)
	require.Contains(t, resp.Content, "`exec` is not available")
}

func TestEndedContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stopped")
	cancel(cause)
	_, err := demo.Provider{}.Complete(ctx, llm.Request{Messages: []domain.Message{user("run: a")}}, nil)
	require.ErrorIs(t, err, cause)
}
