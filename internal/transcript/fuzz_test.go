package transcript

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// FuzzRead checks that whatever is imported is what providers take: each call has a result,
// and IDs that fit.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"_type":"metadata","created_at":"2026-02-01T10:00:00","last_consolidated":1,"metadata":{}}
{"role":"user","content":"hi","timestamp":"2026-02-01T10:00:01.5"}
{"role":"assistant","content":null,"tool_calls":[{"id":"a|b","type":"function","function":{"name":"read file","arguments":"{\"path\":1}"}},{"id":"","function":{"name":"x","arguments":{}}}]}
{"role":"tool","tool_call_id":"a|b","name":"read file","content":[{"type":"image_url"},{"type":"text","text":"done"}]}
{"role":"assistant","content":"one"}
{"role":"assistant","content":"two"}
{"role":"user","content":"more","media":["a.png"]`))
	f.Add([]byte("\xef\xbb\xbf{\"role\":\"tool\",\"content\":7}\n{\"role\":\"assistant\",\"tool_calls\":[{}]}\n{}\n[]\n{\"role\":\"user\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		in, err := file.Import("http:main", "x.jsonl", func(domain.Route) string { return "" })
		require.NoError(t, err)
		ids := map[string]bool{}
		for _, turn := range in.Turns {
			require.NotEmpty(t, turn.ID)
			require.False(t, ids[turn.ID], "two turns with one ID")
			ids[turn.ID] = true
			checkCalls(t, turn.Messages)
		}
	})
}

// checkCalls checks that each call of a turn has one result, and nothing else has.
func checkCalls(t *testing.T, messages []domain.Message) {
	t.Helper()
	type position struct{ step, index int }
	results := map[position]domain.Message{}
	calls := 0
	for _, m := range messages {
		if m.Role == domain.RoleTool {
			require.NotContains(t, results, position{m.Step, m.Index})
			results[position{m.Step, m.Index}] = m
		}
	}
	for _, m := range messages {
		for i, call := range m.ToolCalls {
			calls++
			require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, call.ID)
			require.Equal(t, call.ID, results[position{m.Step, i}].CallID)
		}
	}
	require.Len(t, results, calls)
}
