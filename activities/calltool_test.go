package activities_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestCallToolRunsACallOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "count", `{"n":1}`))
	var ran []tool.Call
	b.add(t, "count", tool.Repeatable, func(_ context.Context, call tool.Call) (tool.Result, error) {
		call.Progress("half way")
		ran = append(ran, call)
		return tool.Result{Text: "counted"}, nil
	})
	b.asked(t)
	events, cancel := b.bus.Subscribe("m1")
	defer cancel()
	for range 2 {
		result, err := b.callTool(t, 1, 0)
		require.NoError(t, err)
		require.Equal(t, protocol.CallToolResult{Preview: "counted"}, result)
	}
	require.Len(t, ran, 1, "the second attempt adopts the stored result")
	require.Equal(t, domain.CallKey("m1", 1, 0), ran[0].Key)
	require.Equal(t, session.Key, ran[0].Session)
	require.JSONEq(t, `{"n":1}`, string(ran[0].Arguments))
	require.Equal(t, event.Event{Kind: event.ToolStart, Tool: "count", Text: `{"n":1}`, Step: 1, ID: domain.ApprovalID("m1.1.0")}, <-events)
	require.Equal(t, event.Event{Kind: event.ToolProgress, Tool: "count", Text: "half way", Step: 1}, <-events)
	require.Equal(t, event.Event{Kind: event.ToolDone, Tool: "count", Text: "counted", Step: 1}, <-events)
}

func TestCallToolTellsTheModel(t *testing.T) {
	t.Parallel()
	type arguments struct {
		Path string `json:"path"`
	}
	strict := tool.New("strict", "Wants a path.", tool.Repeatable, func(context.Context, tool.Call, arguments) (tool.Result, error) {
		return tool.Result{Text: "ok"}, nil
	})
	require.NoError(t, strict.Err())
	run := func(run func(context.Context, tool.Call) (tool.Result, error)) tool.Tool {
		return tool.Tool{Spec: llm.ToolSpec{Name: "strict"}, Timeout: 10 * time.Millisecond, Run: run}
	}
	tests := []struct {
		name      string
		call      llmtest.Call
		tool      tool.Tool
		contained string
	}{
		{"of a tool that is not there, with those that are", llmtest.Call{Name: "other", Arguments: `{}`}, strict, "strict"},
		{"of arguments that are missing", llmtest.Call{Name: "strict", Arguments: `{}`}, strict, "path"},
		{"of arguments that are no object", llmtest.Call{Name: "strict", Arguments: `[1]`}, strict, "invalid arguments"},
		{"of an error", llmtest.Call{Name: "strict"}, run(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, errors.New("no such file")
		}), "no such file"},
		{"of a result that failed", llmtest.Call{Name: "strict"}, run(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "exit status 1", Failed: true}, nil
		}), "exit status 1"},
		{"of a timeout", llmtest.Call{Name: "strict"}, run(func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, context.Cause(ctx)
		}), "deadline exceeded"},
		{"of a service that refuses", llmtest.Call{Name: "strict"}, run(func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{}, &remote.Error{Service: "search", Status: 403, Err: errors.New("no credit")}
		}), "no credit"},
		{"of a panic", llmtest.Call{Name: "strict"}, run(func(context.Context, tool.Call) (tool.Result, error) {
			panic("nil map")
		}), "nil map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, llmtest.Calls(tt.call), llmtest.Text("I see"))
			require.NoError(t, b.tools.Register(tt.tool))
			b.asked(t)
			result, err := b.callTool(t, 1, 0)
			require.NoError(t, err)
			require.True(t, result.Failed)
			_, err = b.complete(t, "m1", 2)
			require.NoError(t, err)
			require.Contains(t, b.model.Requests()[1].Results()[0], tt.contained)
			require.Empty(t, b.model.Invalid())
		})
	}
}

func TestCallToolRetries(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		err   error
		delay time.Duration
	}{
		{"where the tool says so", errors.Join(tool.ErrRetry, errors.New("disk full")), 0},
		{"where a service is away", &remote.Error{Service: "search", Err: errors.New("no route")}, 0},
		{"when a service asked to come later", &remote.Error{Service: "search", Status: 429, RetryAfter: 3 * time.Second, Err: errors.New("slow down")}, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, calls(1, "flaky", `{}`))
			fail := tt.err
			b.add(t, "flaky", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
				err := fail
				fail = nil
				return tool.Result{Text: "ok"}, err
			})
			b.asked(t)
			_, err := b.callTool(t, 1, 0)
			require.False(t, failed(t, err).NonRetryable())
			require.Equal(t, tt.delay, failed(t, err).NextRetryDelay())
			result, err := b.callTool(t, 1, 0)
			require.NoError(t, err)
			require.Equal(t, "ok", result.Preview)
		})
	}
}

func TestCallToolAfterAnAttemptThatWasLost(t *testing.T) {
	t.Parallel()
	interrupted := errors.Join(tool.ErrRetry, errors.New("worker lost"))

	t.Run("a once tool is not run again", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "pay", `{}`))
		ran := 0
		b.add(t, "pay", tool.Once, func(context.Context, tool.Call) (tool.Result, error) {
			ran++
			return tool.Result{}, interrupted
		})
		b.asked(t)
		_, err := b.callTool(t, 1, 0)
		require.Error(t, err)
		result, err := b.callTool(t, 1, 0)
		require.NoError(t, err)
		require.True(t, result.Failed)
		require.Contains(t, result.Preview, "outcome unknown")
		require.Equal(t, 1, ran)
	})

	t.Run("a once tool that has a place", func(t *testing.T) {
		t.Parallel()
		for underway, told := range map[bool]string{true: "paid", false: "outcome unknown"} {
			b := setup(t, calls(1, "pay", `{}`))
			ran, there := 0, ""
			pay := tool.Tool{
				Spec: llm.ToolSpec{Name: "pay", Parameters: json.RawMessage(`{"type":"object"}`)}, Kind: tool.Once,
				Place: func(context.Context, tool.Call) (bool, error) {
					if there != "" {
						return false, &tool.ElsewhereError{Place: there, Otherwise: errors.New("silent")}
					}
					return underway && ran > 0, nil
				},
				Run: func(context.Context, tool.Call) (tool.Result, error) {
					if ran++; ran == 1 {
						return tool.Result{}, interrupted
					}
					return tool.Result{Text: "paid"}, nil
				},
			}
			require.NoError(t, b.tools.Register(pay))
			b.asked(t)
			for _, there = range []string{"there", ""} { // sent there first, and then to where it belongs
				result, err := b.callTool(t, 1, 0)
				require.Equal(t, there, result.Place)
				require.Equal(t, there == "", err != nil)
			}
			result, err := b.callTool(t, 1, 0)
			require.NoError(t, err)
			require.Contains(t, result.Preview, told)
		}
	})

	t.Run("a keyed tool finds what it intended", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "write", `{}`))
		effects := 0
		b.add(t, "write", tool.Keyed, func(ctx context.Context, call tool.Call) (tool.Result, error) {
			stored, fresh, err := call.Journal.Intend(ctx, "file", []byte("after"))
			if err != nil || !fresh {
				return tool.Result{Text: "found " + string(stored)}, err
			}
			effects++
			return tool.Result{}, interrupted
		})
		b.asked(t)
		_, err := b.callTool(t, 1, 0)
		require.Error(t, err)
		result, err := b.callTool(t, 1, 0)
		require.NoError(t, err)
		require.Equal(t, "found after", result.Preview)
		require.Equal(t, 1, effects)
	})

	t.Run("a call of an ended turn is not retried", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "write", `{}`))
		b.add(t, "write", tool.Keyed, func(ctx context.Context, call tool.Call) (tool.Result, error) {
			_, _, err := call.Journal.Intend(ctx, "file", nil)
			return tool.Result{}, errors.Join(tool.ErrRetry, err)
		})
		b.asked(t)
		_, err := b.store.EndTurn(t.Context(), store.End{
			Session: session.Key, Channel: session.Channel, Turn: "m1", Status: domain.TurnStopped, Reply: "Stopped.", Fill: "stopped",
		})
		require.NoError(t, err)
		result, err := b.callTool(t, 1, 0)
		require.NoError(t, err)
		require.Equal(t, "stopped", result.Preview, "it was filled in")
		_, err = b.callTool(t, 7, 0)
		require.Equal(t, protocol.ErrorInvalid, failed(t, err).Type())
		_, err = b.callTool(t, 1, 7)
		require.Equal(t, protocol.ErrorInvalid, failed(t, err).Type())
	})
}

func TestCallToolOutput(t *testing.T) {
	t.Parallel()
	// output runs a call whose tool says text, and returns what the model is told.
	output := func(t *testing.T, prepare func(*bundle), text string) (*bundle, string) {
		t.Helper()
		b := setup(t, calls(1, "say", `{}`), llmtest.Text("I see"))
		b.add(t, "say", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: text}, nil })
		prepare(b)
		b.asked(t)
		result, err := b.callTool(t, 1, 0)
		require.NoError(t, err)
		require.False(t, result.Failed)
		requireFits(t, result)
		_, err = b.complete(t, "m1", 2)
		require.NoError(t, err)
		require.Empty(t, b.model.Invalid())
		return b, b.model.Requests()[1].Results()[0]
	}
	nothing := func(*bundle) {}
	file := filepath.Join("results", domain.CallKey("m1", 1, 0)+".txt")

	t.Run("of 5 MB is cut for the model and kept in a file", func(t *testing.T) {
		t.Parallel()
		text := "start" + strings.Repeat("ü", 5<<19) + "end"
		b, told := output(t, nothing, text)
		require.Less(t, len(told), 17_000)
		require.Greater(t, len(told), 16_000)
		require.True(t, strings.HasPrefix(told, "start"))
		require.True(t, strings.HasSuffix(told, "end"))
		require.Contains(t, told, file)
		kept, err := os.ReadFile(filepath.Join(b.workspace, file))
		require.NoError(t, err)
		require.Equal(t, text, string(kept))
		full := b.fullResult(t, "m1")
		require.Len(t, full, len(text))
	})

	t.Run("of 16,000 bytes is told as it is", func(t *testing.T) {
		t.Parallel()
		text := strings.Repeat("x", 16_000)
		_, told := output(t, nothing, text)
		require.Equal(t, text, told)
	})

	t.Run("of more than 10 MB is kept up to that in the store, and whole in the file", func(t *testing.T) {
		t.Parallel()
		text := strings.Repeat("x", 11<<20)
		b, _ := output(t, nothing, text)
		kept, err := os.ReadFile(filepath.Join(b.workspace, file))
		require.NoError(t, err)
		require.Len(t, kept, len(text))
		full := b.fullResult(t, "m1")
		require.LessOrEqual(t, len(full), 10<<20)
		require.Greater(t, len(full), 10<<20-10)
	})

	t.Run("that cannot be saved to a file is still reported", func(t *testing.T) {
		t.Parallel()
		_, told := output(t, func(b *bundle) {
			require.NoError(t, os.WriteFile(filepath.Join(b.workspace, "results"), nil, 0o600))
		}, strings.Repeat("x", 20_000))
		require.Contains(t, told, "could not be saved")
		require.Contains(t, told, strings.Repeat("x", 1000))
	})

	t.Run("that is binary is converted to text", func(t *testing.T) {
		t.Parallel()
		_, told := output(t, nothing, "a\xff\xfeb\x00c\x1b[31m")
		require.Equal(t, "a\uFFFDb\uFFFDc\x1b[31m", told)
	})

	t.Run("that JSON escapes fits a payload", func(t *testing.T) {
		t.Parallel()
		output(t, nothing, strings.Repeat("\x01<>&\u2028", 5_000))
	})

	t.Run("of an idle session says so", func(t *testing.T) {
		t.Parallel()
		_, told := output(t, nothing, "")
		require.Equal(t, "(no output)", told)
	})
}

func TestCallToolResultsNeverLeaveTheWorkspace(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	b := setup(t, calls(1, "say", `{}`))
	require.NoError(t, os.Symlink(outside, filepath.Join(b.workspace, "results")))
	b.add(t, "say", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("x", 20_000)}, nil
	})
	b.asked(t)
	_, err := b.callTool(t, 1, 0)
	require.NoError(t, err)
	left, err := os.ReadDir(outside)
	require.NoError(t, err)
	require.Empty(t, left)
}

// fullResult returns the whole output of the first call of a turn.
func (b *bundle) fullResult(t *testing.T, turn string) []byte {
	t.Helper()
	all, err := b.store.ExportMessages(t.Context(), turn)
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(m domain.Message) bool { return m.Role == domain.RoleTool })
	require.GreaterOrEqual(t, i, 0)
	return all[i].Full
}
