package demo_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/demo"
	"github.com/holdfast-ai/holdfast/internal/llm/openai"
)

func setup(t *testing.T, noStream bool) func(messages ...llm.Message) llm.Response {
	url, stop, err := demo.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(stop)
	client, err := openai.New(openai.Options{Service: "demo", BaseURL: url, NoStream: noStream})
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return func(messages ...llm.Message) llm.Response {
		req := llm.Request{Model: demo.Model, Messages: messages}
		for _, name := range []string{"exec", "read_file", "list_dir", "write_file"} {
			req.Tools = append(req.Tools, llm.ToolSpec{Name: name})
		}
		resp, err := client.Complete(t.Context(), req, nil)
		require.NoError(t, err)
		return resp
	}
}

func user(text string) llm.Message {
	return llm.Message{Role: domain.RoleUser, Content: text + "\n\n[Runtime Context]\nrun: never\nsecret"}
}

func TestPlainMessagesAreQuoted(t *testing.T) {
	t.Parallel()
	for _, noStream := range []bool{false, true} {
		ask := setup(t, noStream)
		resp := ask(user("Grüße an\nalle"))
		require.Contains(t, resp.Content, "demo model")
		require.Contains(t, resp.Content, "> Grüße an alle\n")
		require.Contains(t, resp.Content, "OPENAI_API_KEY")
		require.NotContains(t, resp.Content, "secret")
		require.Empty(t, resp.ToolCalls)
		require.Equal(t, "stop", resp.FinishReason)
		require.Positive(t, resp.Usage.PromptTokens)
		require.Positive(t, resp.Usage.CompletionTokens)
		require.Equal(t, resp, ask(user("Grüße an\nalle")), "the same to the same")
	}
}

func TestLinesBecomeToolCalls(t *testing.T) {
	t.Parallel()
	ask := setup(t, false)
	resp := ask(user("please\nrun: echo a: b\n  Read: a.txt\nlist: .\nwrite: a b.txt: x: y\nrun:\nI run: far"))
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
	ask := setup(t, false)
	resp := ask(user("run: one"), user("run: two"), user("run: three"))
	require.Len(t, resp.ToolCalls, 3)
	for i, command := range []string{"one", "two", "three"} {
		require.JSONEq(t, `{"command":"`+command+`"}`, resp.ToolCalls[i].Arguments)
	}
}

func TestToolResultsAreRepeated(t *testing.T) {
	t.Parallel()
	ask := setup(t, false)
	first := ask(user("run: a\nrun: b"))
	history := []llm.Message{
		user("run: a\nrun: b"),
		{Role: domain.RoleAssistant, ToolCalls: first.ToolCalls},
		{Role: domain.RoleTool, ToolCallID: first.ToolCalls[0].ID, Name: "exec", Content: "one ```fenced```\n"},
		{Role: domain.RoleTool, ToolCallID: first.ToolCalls[1].ID, Name: "exec", Content: "two"},
	}
	resp := ask(history...)
	require.Contains(t, resp.Content, "`exec`:\n\n````\none ```fenced```\n````")
	require.Contains(t, resp.Content, "```\ntwo\n```")
	require.Empty(t, resp.ToolCalls)

	again := ask(append(history, llm.Message{Role: domain.RoleAssistant, Content: resp.Content}, user("thanks"))...)
	require.Contains(t, again.Content, "> thanks")
}

func TestUnavailableToolsAreNotCalled(t *testing.T) {
	t.Parallel()
	url, stop, err := demo.Start(t.Context())
	require.NoError(t, err)
	defer stop()
	client, err := openai.New(openai.Options{BaseURL: url})
	require.NoError(t, err)
	resp, err := client.Complete(t.Context(), llm.Request{Model: demo.Model, Messages: []llm.Message{user("run: a")}}, nil)
	require.NoError(t, err)
	require.Empty(t, resp.ToolCalls)
	require.Contains(t, resp.Content, "`exec` is not available")
}

func TestModelsAndEnd(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	url, stop, err := demo.Start(ctx)
	require.NoError(t, err)
	get := func() (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/models", nil)
		require.NoError(t, err)
		return http.DefaultClient.Do(req)
	}
	resp, err := get()
	require.NoError(t, err)
	defer resp.Body.Close()
	var models struct {
		Data []struct{ ID string }
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&models))
	require.Equal(t, demo.Model, models.Data[0].ID)
	cancel()
	stop()
	stop()
	_, err = get()
	require.Error(t, err)
}
