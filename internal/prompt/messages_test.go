package prompt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/prompt"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const context1 = "\n\n[Runtime Context]\nCurrent time: 2026-03-04 12:00 (Wednesday) UTC +00:00"

func user(turn string, step int, text string) domain.Message {
	return domain.Message{Turn: turn, Step: step, Role: domain.RoleUser, Content: text, CreatedAt: noon}
}

func assistant(turn string, step int, text string, calls ...string) domain.Message {
	m := domain.Message{Turn: turn, Step: step, Role: domain.RoleAssistant, Content: text}
	for _, id := range calls {
		m.ToolCalls = append(m.ToolCalls, domain.ToolCall{ID: id, Name: "exec", Arguments: `{"command":"ls"}`})
	}
	return m
}

func result(turn string, step, index int, text string) domain.Message {
	return domain.Message{Turn: turn, Step: step, Index: index, Role: domain.RoleTool, Name: "exec", Content: text}
}

// brief writes messages in a form that fits a table.
func brief(messages []domain.Message) []string {
	var lines []string
	for _, m := range messages {
		parts := []string{string(m.Role) + ": " + m.Content}
		for _, call := range m.ToolCalls {
			parts = append(parts, "+"+call.ID)
		}
		if m.CallID != "" {
			parts = append(parts, "="+m.CallID)
		}
		lines = append(lines, strings.Join(parts, " "))
	}
	return lines
}

func TestMessagesOfATranscript(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 501)
	tests := []struct {
		name   string
		rows   []domain.Message
		window int
		want   []string
	}{
		{"a first message", []domain.Message{user("b", 1, "hi")}, 10, []string{"user: hi" + context1}},
		{
			"results come in the order of the calls, whatever order they were stored in",
			[]domain.Message{user("b", 1, "hi"), assistant("b", 1, "", "x", "y"), result("b", 1, 1, "two"), user("b", 2, "more"), result("b", 1, 0, "one")},
			10,
			[]string{"user: hi" + context1, "assistant:  +x +y", "tool: one =x", "tool: two =y", "user: more" + context1},
		},
		{
			"a call without a result gets one, and a second result is dropped",
			[]domain.Message{user("b", 1, "hi"), assistant("b", 1, "", "x", "y"), result("b", 1, 1, "two"), result("b", 1, 1, "again")},
			10,
			[]string{"user: hi" + context1, "assistant:  +x +y", "tool: No result: the call did not finish. =x", "tool: two =y"},
		},
		{
			"earlier turns have no context and short results, this one has both whole",
			[]domain.Message{
				user("a", 1, "first"), assistant("a", 1, "let me see", "x"), result("a", 1, 0, long), assistant("a", 2, "done"),
				user("b", 1, "hi"), assistant("b", 1, "", "z"), result("b", 1, 0, long),
			},
			10,
			[]string{
				"user: first", "assistant: let me see +x",
				"tool: " + long[:1000] + "\n… (cut: the first 500 of 501 characters) =x", "assistant: done",
				"user: hi" + context1, "assistant:  +z", "tool: " + long + " =z",
			},
		},
		{
			"the window is cut to start at a user message, without orphans",
			[]domain.Message{
				user("a", 1, "first"), assistant("a", 1, "", "x"), result("a", 1, 0, "one"), assistant("a", 2, "done"),
				user("a2", 1, "second"), assistant("a2", 1, "yes"), user("b", 1, "hi"),
			},
			5,
			[]string{"user: second", "assistant: yes", "user: hi" + context1},
		},
		{
			"a window of nothing leaves this turn whole",
			[]domain.Message{user("a", 1, "first"), assistant("a", 1, "yes"), user("b", 1, "hi"), assistant("b", 1, "", "x"), result("b", 1, 0, "one")},
			0,
			[]string{"user: hi" + context1, "assistant:  +x", "tool: one =x"},
		},
		{
			"IDs that repeat or are missing are made unique",
			[]domain.Message{
				user("a", 1, "first"), assistant("a", 1, "", "x", "x"), result("a", 1, 0, "one"), result("a", 1, 1, "two"),
				user("b", 1, "hi"), assistant("b", 1, "", "x", ""), result("b", 1, 0, "three"), result("b", 1, 1, "four"),
			},
			10,
			[]string{
				"user: first", "assistant:  +x +x_2", "tool: one =x", "tool: two =x_2",
				"user: hi" + context1, "assistant:  +x_3 +call_1_1", "tool: three =x_3", "tool: four =call_1_1",
			},
		},
		{
			"nothing is empty",
			[]domain.Message{
				user("a", 1, " "), assistant("a", 1, ""), user("b", 1, "hi"),
				assistant("b", 1, "", "x"), result("b", 1, 0, "\n"),
			},
			10,
			[]string{"user: (no text)", "assistant: (no text)", "user: hi" + context1, "assistant:  +x", "tool: (no output) =x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			messages := prompt.Messages(prompt.Conversation{System: "you are", Step: domain.Step{History: tt.rows}, Turn: "b", Window: tt.window, Now: noon})
			require.Equal(t, append([]string{"system: you are"}, tt.want...), brief(messages))
		})
	}
}

func TestMessagesKeepReasoningAndCalls(t *testing.T) {
	t.Parallel()
	said := assistant("b", 1, "hm", "x")
	said.Reasoning = "thinking"
	messages := prompt.Messages(prompt.Conversation{
		Step: domain.Step{History: []domain.Message{user("b", 1, "hi"), said, result("b", 1, 0, "one")}}, Turn: "b", Now: noon,
	})
	require.Equal(t, domain.Message{Role: domain.RoleAssistant, Content: "hm", Reasoning: "thinking", ToolCalls: said.ToolCalls}, messages[1])
	require.Equal(t, domain.Message{Role: domain.RoleTool, Content: "one", CallID: "x", Name: "exec"}, messages[2])
}

func TestMessagesIncludeTheInboundContext(t *testing.T) {
	t.Parallel()
	row := user("b", 1, "hi")
	row.Source, row.Sender = "m1", "U1"
	inbound := domain.Inbound{ID: "m1", Channel: "slack", Chat: "C2", SenderName: "Ana"}
	text := func(begun domain.Step, now time.Time) string {
		return prompt.Messages(prompt.Conversation{Step: begun, Turn: "b", Now: now})[0].Content
	}
	begun := domain.Step{History: []domain.Message{row}, Inbound: []domain.Inbound{inbound}}

	require.Equal(t, "hi"+context1+"\nChannel: slack\nChat: C2\nSender: Ana", text(begun, noon))
	require.Equal(t, text(begun, noon), text(begun, noon.Add(30*time.Minute)), "the same in later steps, to be cached")
	require.Contains(t, text(begun, noon.Add(50*time.Hour)), "2026-03-06 14:00", "but not after days of waiting")
	require.Contains(t, text(begun, noon.In(time.FixedZone("X", -3600))), "11:00 (Wednesday)", "in the zone of now")
	require.Contains(t, text(domain.Step{History: []domain.Message{row}}, noon), "Sender: U1")
}

func TestMissingReturnsCallsWithoutResult(t *testing.T) {
	t.Parallel()
	rows := []domain.Message{
		user("a", 1, "first"), assistant("a", 1, "", "old"),
		user("b", 1, "hi"), assistant("b", 1, "", "x", "y"), result("b", 1, 1, "two"), assistant("b", 2, "", "z"),
	}
	require.Equal(t, []domain.Message{
		{Turn: "b", Step: 1, Index: 0, Role: domain.RoleTool, CallID: "x", Name: "exec"},
		{Turn: "b", Step: 2, Index: 0, Role: domain.RoleTool, CallID: "z", Name: "exec"},
	}, prompt.Missing(rows, "b"))
	require.Empty(t, prompt.Missing(rows[:2], "b"))
}

func FuzzMessagesAreValidForProviders(f *testing.F) {
	f.Add([]byte{0, 5, 1, 2, 3, 4}, 3)
	f.Add([]byte("any order of rows, from any turn"), 100)
	f.Add([]byte{255, 128, 64, 32, 16, 8, 4, 2, 1, 0, 254, 253, 9, 77}, -1)
	f.Fuzz(func(t *testing.T, data []byte, window int) {
		var rows []domain.Message
		for i, b := range data {
			turn, step := string("ab"[b&1]), int(b>>5)
			switch b >> 1 & 3 {
			case 0:
				rows = append(rows, user(turn, step, strings.Repeat("u", i%2)))
			case 1:
				rows = append(rows, assistant(turn, step, strings.Repeat("a", i%2), []string{"x", "x", ""}[:b>>3&3]...))
			default:
				rows = append(rows, result(turn, step, int(b>>3&3), strings.Repeat("r", i*40)))
			}
		}
		messages := prompt.Messages(prompt.Conversation{Step: domain.Step{History: rows}, Turn: "b", Window: window, Now: noon})
		requireStrict(t, messages)
		if len(rows) > 0 && rows[0].Turn == "b" && rows[0].Role == domain.RoleUser {
			require.NotEmpty(t, messages)
		}
	})
}

// requireStrict checks what the strictest providers demand.
func requireStrict(t *testing.T, messages []domain.Message) {
	t.Helper()
	if len(messages) > 0 {
		require.Equal(t, domain.RoleUser, messages[0].Role)
	}
	seen := map[string]bool{}
	var open []string
	for _, m := range messages {
		if m.Role == domain.RoleTool {
			require.NotEmpty(t, open, "an orphan result")
			require.Equal(t, open[0], m.CallID)
			open = open[1:]
		} else {
			require.Empty(t, open, "a call without a result")
		}
		for _, call := range m.ToolCalls {
			require.NotEmpty(t, call.ID)
			require.False(t, seen[call.ID], "an ID twice")
			seen[call.ID] = true
			open = append(open, call.ID)
		}
		if len(m.ToolCalls) == 0 {
			require.NotEmpty(t, strings.TrimSpace(m.Content))
		}
	}
	require.Empty(t, open, "a call without a result")
}
