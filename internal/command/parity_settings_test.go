package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	cfg := config.Default(t.TempDir())
	require.Equal(t, "40 15 100 4096 0.7", fmt.Sprint(
		cfg.Agent.MaxIterations, cfg.Agent.SubagentMaxIterations, cfg.Agent.MemoryWindow, cfg.Agent.MaxTokens, cfg.Agent.Temperature))
	require.Equal(t, 1, cfg.Agent.SubagentDepth)
	require.True(t, cfg.Tools.RestrictToWorkspace)
	require.True(t, cfg.Heartbeat.Enabled)
	require.Equal(t, 30*time.Minute, cfg.Heartbeat.Every)
}

// TestLimitOfModelCalls has a model that never finishes. It makes two tool calls at
// a time: the limit counts model calls.
func TestLimitOfModelCalls(t *testing.T) {
	t.Parallel()
	look := llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`}
	busy := llmtest.Calls(look, look)
	fewer := func(c *config.Config, _ *node.Roles) { c.Agent.MaxIterations, c.Agent.SubagentMaxIterations = 3, 2 }
	usual := func(*config.Config, *node.Roles) {}

	for _, tt := range []struct {
		name   string
		limit  int
		change func(*config.Config, *node.Roles)
	}{
		{"a turn ends after 40, and says so", 40, usual},
		{"or after as many as is configured", 3, fewer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return busy })
			n := startNode(t, model.URL, tt.change)
			answer := n.ask(t, "main", "go")
			require.Equal(t, domain.ReplyFailed, answer.Status)
			require.Contains(t, answer.Text, fmt.Sprintf("the limit of %d model calls for one request without completing it", tt.limit))
			require.Equal(t, tt.limit, model.Count())
			require.Empty(t, model.Invalid())
		})
	}

	for _, tt := range []struct {
		name   string
		limit  int
		change func(*config.Config, *node.Roles)
	}{
		{"a subagent after 15, and its parent is told", 15, usual},
		{"a subagent after as many as is configured", 2, fewer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			memory := channeltest.NewMemory("memory")
			worked := 0
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
				switch {
				case isSubagent(r):
					worked++
					return busy
				case strings.HasPrefix(r.LastUser(), "[Report"):
					return llmtest.Text(r.LastUser())
				case len(r.Results()) > 0:
					return llmtest.Text("handed over")
				default:
					return llmtest.Calls(llmtest.Call{ID: "s", Name: "spawn", Arguments: `{"task":"work"}`})
				}
			})
			startNode(t, model.URL, tt.change, withChannels(map[string]node.PushChannel{"memory": memory}))
			deliver(t, memory, "1", "", "go")
			report := posted(t, memory, 2)[1].Text
			require.Contains(t, report, "which failed")
			require.Contains(t, report, fmt.Sprintf("the limit of %d model calls", tt.limit))
			require.Contains(t, report, "[Tell the user in one or two sentences the outcome, in plain words. Do not mention subagents or IDs.]")
			require.Equal(t, tt.limit, worked)
		})
	}
}

func isSubagent(r llmtest.Request) bool {
	return strings.HasPrefix(r.Messages[0].Content.Text, "# Subagent")
}

// TestWhatAModelIsAskedWith checks the settings of each model call.
func TestWhatAModelIsAskedWith(t *testing.T) {
	t.Parallel()
	usual, other := echo(t), echo(t)
	startNode(t, usual.URL).ask(t, "main", "hi")
	startNode(t, other.URL, func(c *config.Config, _ *node.Roles) { c.Agent.MaxTokens, c.Agent.Temperature = 123, 0.2 }).ask(t, "main", "hi")
	asked := usual.Requests()[0]
	require.Equal(t, 4096, asked.MaxTokens)
	require.InDelta(t, 0.7, *asked.Temperature, 1e-6)
	asked = other.Requests()[0]
	require.Equal(t, 123, asked.MaxTokens)
	require.InDelta(t, 0.2, *asked.Temperature, 1e-6)
}

// TestDepthOfSubagents has subagents delegate their task if they can.
func TestDepthOfSubagents(t *testing.T) {
	t.Parallel()
	memory := channeltest.NewMemory("memory")
	handOver := func(task string) llmtest.Step {
		return llmtest.Calls(llmtest.Call{ID: "s", Name: "spawn", Arguments: fmt.Sprintf(`{"task":%q}`, task)})
	}
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		mayHandOver := slices.Contains(toolNames(r), "spawn")
		_, report, reported := strings.Cut(r.LastUser(), "Result:\n")
		report, _, _ = strings.Cut(report, "\n")
		switch {
		case reported && isSubagent(r):
			return llmtest.Text("outer: " + report)
		case reported:
			return llmtest.Text("told: " + report)
		case len(r.Results()) > 0:
			return llmtest.Text("handed over")
		case isSubagent(r) && mayHandOver:
			return handOver("inner")
		case isSubagent(r):
			return llmtest.Text("inner")
		default:
			return handOver("outer")
		}
	})
	startNode(t, model.URL, withChannels(map[string]node.PushChannel{"memory": memory}), func(c *config.Config, _ *node.Roles) { c.Agent.SubagentDepth = 2 })
	deliver(t, memory, "1", "", "go")
	require.Equal(t, "told: outer: inner", posted(t, memory, 2)[1].Text)
	require.Empty(t, model.Invalid())
}

func toolNames(r llmtest.Request) (names []string) {
	for _, offered := range r.Tools {
		names = append(names, offered.Function.Name)
	}
	return names
}

// TestRestriction has the model access files outside the workspace.
func TestRestriction(t *testing.T) {
	t.Parallel()
	for _, restricted := range []bool{true, false} {
		t.Run(strconv.FormatBool(restricted), func(t *testing.T) {
			t.Parallel()
			secret := filepath.Join(t.TempDir(), "secret.txt")
			require.NoError(t, os.WriteFile(secret, []byte("marzipan"), 0o600))
			read, err := json.Marshal(map[string]string{"path": secret})
			require.NoError(t, err)
			in, err := json.Marshal(map[string]string{"command": "cat secret.txt", "working_dir": filepath.Dir(secret)})
			require.NoError(t, err)
			model := llmtest.NewServer(t,
				llmtest.Calls(
					llmtest.Call{ID: "r", Name: "read_file", Arguments: string(read)},
					llmtest.Call{ID: "e", Name: "exec", Arguments: string(in)}),
				llmtest.Text("done"))
			n := startNode(t, model.URL, func(c *config.Config, _ *node.Roles) {
				if !restricted { // the default
					c.Tools.RestrictToWorkspace = false
				}
			})
			require.Equal(t, "done", n.ask(t, "main", "go").Text)
			for _, result := range model.Requests()[1].Results() {
				require.Equal(t, restricted, strings.Contains(result, "outside the workspace"), result)
				require.Equal(t, !restricted, strings.Contains(result, "marzipan"), result)
			}
		})
	}
}

// TestKeysOfProviders has each provider's key in its own variable and nothing else.
func TestKeysOfProviders(t *testing.T) {
	t.Parallel()
	for _, row := range llm.Registry() {
		cfg, err := config.Load(strings.NewReader(""), config.Options{
			Home: t.TempDir(), Environ: []string{row.KeyEnv + "=secret"}, Providers: llm.KeyVariables(),
		})
		require.NoError(t, err)
		require.Equal(t, "secret", cfg.Providers[row.Name].APIKey.Reveal(), row.KeyEnv)
	}
}

// TestOpenAIClient uses the agent with an OpenAI client.
func TestOpenAIClient(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if len(r.Results()) == 0 {
			return llmtest.Calls(llmtest.Call{ID: "x", Name: "exec", Arguments: `{"command":"echo from the shell"}`})
		}
		return llmtest.Text(fmt.Sprintf("<think>hm</think>%d messages", len(r.Messages)))
	})
	n := startNode(t, model.URL)
	settings := openai.DefaultConfig("")
	settings.BaseURL = n.APIURL() + "/v1"
	client := openai.NewClientWithConfig(settings)
	request := openai.ChatCompletionRequest{
		Model: "scripted/model", User: "ana", Messages: []openai.ChatCompletionMessage{{Role: openai.ChatMessageRoleUser, Content: "hi"}},
	}
	whole, err := client.CreateChatCompletion(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, "4 messages", whole.Choices[0].Message.Content)
	require.Equal(t, openai.FinishReasonStop, whole.Choices[0].FinishReason)

	request.Messages = append(request.Messages, whole.Choices[0].Message, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: "again"})
	stream, err := client.CreateChatCompletionStream(t.Context(), request)
	require.NoError(t, err)
	defer stream.Close()
	var said strings.Builder
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, choice := range chunk.Choices {
			said.WriteString(choice.Delta.Content)
		}
	}
	require.Equal(t, "8 messages", said.String(), "in the same conversation")
	list, err := client.ListModels(t.Context())
	require.NoError(t, err)
	require.Len(t, list.Models, 1)
	require.Equal(t, "holdfast", list.Models[0].ID, "who answers is the agent, whatever the client asks for")
}
