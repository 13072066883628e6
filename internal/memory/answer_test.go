package memory_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func encode(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

func TestParseAnswer(t *testing.T) {
	t.Parallel()
	good := map[string]any{"history_entry": "E.", "memory_update": "# M\n- a {b}"}
	plain := encode(t, good)
	tests := []struct{ name, answer, update string }{
		{"arguments", plain, "# M\n- a {b}"},
		{"with more in them", `{"x": 1, "history_entry": "E.", "memory_update": "M", "y": null}`, "M"},
		{"within a call", encode(t, map[string]any{"name": "save_memory", "arguments": good}), "# M\n- a {b}"},
		{"in a list", "[" + plain + "]", "# M\n- a {b}"},
		{"in a fence", "```json\n" + plain + "\n```", "# M\n- a {b}"},
		{"in a text with a fence", "Here {it} is:\n\n```\n" + plain + "\n```\nDone {really}.", "# M\n- a {b}"},
		{"in a text", "I call save_memory(" + plain + ").", "# M\n- a {b}"},
		{"twice in a text: the last counts", `First {"history_entry": "D", "memory_update": "N"}, better ` + plain, "# M\n- a {b}"},
		{"after half of one", `Like {"history_entry": "…"}: ` + plain + ` or {"memory_update": 1}`, "# M\n- a {b}"},
		{"with blanks", `{"history_entry": " E.\n", "memory_update": " \n "}`, ""},
		{"with broken characters", "{\"history_entry\": \"E.\", \"memory_update\": \"M\\u0000\xff\"}", "M\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entry, update, err := memory.ParseAnswer(tt.answer)
			require.NoError(t, err)
			require.Equal(t, "E.", entry)
			require.Equal(t, tt.update, update)
		})
	}
}

func TestParseAnswerErrors(t *testing.T) {
	t.Parallel()
	const none = "no JSON object with history_entry and memory_update"
	tests := []struct{ name, answer, want string }{
		{"nothing", "", none},
		{"an update that is no string", `{"history_entry": "E.", "memory_update": ["- a"]}`, none},
		{"a missing comma", `{"history_entry": "E." "memory_update": "M"}`, none},
		{"a text", "I have saved it.", none},
		{"a text that only names them", "history_entry and memory_update are done", none},
		{"other arguments", `{"entry": "E", "update": "M"}`, none},
		{"a number", "7", none},
		{"null", "null", none},
		{"braces", strings.Repeat("{", 10_000), none},
		{"much that is nested", strings.Repeat(`{"a":`, 10_000), none},
		{"no entry", `{"memory_update": "M"}`, "history_entry is missing"},
		{"no update, in a text", `Saved: {"history_entry": "E"}.`, "memory_update is missing"},
		{"no update", `{"history_entry": "E"}`, "memory_update is missing"},
		{"an empty entry", `{"history_entry": " ", "memory_update": "M"}`, "history_entry is empty"},
		{"cut off in the update", `{"history_entry": "E", "memory_update": "- a\n- b`, none},
		{"cut off after a brace in it", `{"history_entry": "E", "memory_update": "- {a} and {b}`, none},
		{"cut off after quotes in it", `{"history_entry": "E", "memory_update": "{\"a\": \"b\"}`, none},
		{"cut off in the update, in a fence", "```json\n{\"history_entry\": \"E\", \"memory_update\": \"- a\n- b\n```", none},
		{"cut off before the update", `{"history_entry": "E", "memory_up`, none},
		{"too long", strings.Repeat(" ", 2<<20), "larger than 1 MB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			entry, update, err := memory.ParseAnswer(tt.answer)
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, entry+update)
		})
	}
}

// A truncated answer must never be taken for a complete one.
func TestParseAnswerRejectsPartialAnswers(t *testing.T) {
	t.Parallel()
	const update = "# M\n- \"q\" {\"a\": [\"b\"]}\n- it's 'x'}\n\\"
	for name, answer := range map[string]string{
		"JSON":             encode(t, map[string]string{"history_entry": "E.", "memory_update": update}),
		"in a fence":       "```json\n" + encode(t, map[string]string{"history_entry": "E.", "memory_update": update}) + "\n```",
		"the update first": `{"memory_update": ` + encode(t, update) + `, "history_entry": "E."}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for end := range len(answer) + 1 {
				_, got, err := memory.ParseAnswer(answer[:end])
				if err == nil {
					require.Equal(t, update, got, answer[:end])
				}
				if end == len(answer) {
					require.NoError(t, err)
				}
			}
		})
	}
}

func FuzzParseAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"history_entry": "E", "memory_update": "M"}`, "```json\n{'history_entry': 'E', 'memory_update': [1, {}]}```",
		`"{\"history_entry\": \"E\", \"memory_update\": \"M\"}"`, `[{"a": "{\"memory_update\":1}"}]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		entry, update, err := memory.ParseAnswer(answer)
		if err != nil {
			require.Empty(t, entry+update)
			return
		}
		require.NotEmpty(t, entry)
		require.True(t, utf8.ValidString(entry) && utf8.ValidString(update))
		require.NotContains(t, entry+update, "\x00")
	})
}
