package llmtest_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest/wire"
)

func TestValidate(t *testing.T) {
	t.Parallel()
	const (
		user   = `{"role":"user","content":"x"}`
		answer = `{"role":"assistant","content":"x"}`
		call1  = `{"id":"1","type":"function","function":{"name":"a","arguments":"{}"}}`
		call2  = `{"id":"2","type":"function","function":{"name":"b","arguments":"{}"}}`
		both   = `{"role":"assistant","content":null,"tool_calls":[` + call1 + `,` + call2 + `]}`
		one    = `{"role":"assistant","content":null,"tool_calls":[` + call1 + `]}`
		res1   = `{"role":"tool","tool_call_id":"1","name":"a","content":"x"}`
		res2   = `{"role":"tool","tool_call_id":"2","content":"x"}`
	)
	tests := []struct{ name, messages, want string }{
		{"a question", user, ""},
		{"several of the user", `{"role":"system","content":"x"},` + user + `,` + user, ""},
		{"text in parts", `{"role":"user","content":[{"type":"text","text":"x"}]}`, ""},
		{"two results", user + `,` + both + `,` + res1 + `,` + res2, ""},
		{"a question after results", user + `,` + one + `,` + res1 + `,` + user, ""},
		{"nothing", ``, "last message"},
		{"an answer at the end", user + `,` + answer, "last message"},
		{"two answers", user + `,` + answer + `,` + answer + `,` + user, "two answers"},
		{"a late system message", user + `,{"role":"system","content":"x"}`, "after a message"},
		{"an unknown role", `{"role":"bot","content":"x"}`, "unknown role"},
		{"no content key", `{"role":"assistant","tool_calls":[` + call1 + `]},` + res1, "no content key"},
		{"content null without calls", user + `,{"role":"assistant","content":null},` + user, "empty content"},
		{"white space", `{"role":"user","content":" \n"}`, "empty content"},
		{"an empty result", user + `,` + one + `,{"role":"tool","tool_call_id":"1","content":""}`, "empty content"},
		{"no result at the end", user + `,` + one, "call 1 has no result"},
		{"a result too few", user + `,` + both + `,` + res1 + `,` + user, "call 2 has no result"},
		{"a question before the result", user + `,` + one + `,` + user + `,` + res1, "call 1 has no result"},
		{"a result too many", user + `,` + one + `,` + res1 + `,` + res1, "of no call"},
		{"an orphan", user + `,` + res1, "of no call"},
		{"results out of order", user + `,` + both + `,` + res2 + `,` + res1, "where that of call 1"},
		{"another tool's name", user + `,` + one + `,{"role":"tool","tool_call_id":"1","name":"b","content":"x"}`, "names the tool"},
		{"an ID twice", user + `,{"role":"assistant","content":null,"tool_calls":[` + call1 + `,` + call1 + `]},` + res1 + `,` + res1, "twice"},
		{"no ID", user + `,{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"a","arguments":"{}"}}]}`, "without an ID"},
		{"no type", user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"a","arguments":"{}"}}]}`, "type"},
		{"an image", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,b25l"}}]}`, ""},
		{"an image of a model", user + `,{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,b25l"}}]}`, "only a user's"},
		{"an image that is none", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:text/plain;base64,b25l"}}]}`, "no image"},
		{"a bad name", user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"a b","arguments":"{}"}}]}`, "bad name"},
		{"arguments that are no object", user + `,{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"a","arguments":"null"}}]}`, "no JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check(t, `{"model":"m","messages":[`+tt.messages+`]}`, tt.want)
		})
	}
	t.Run("tools", func(t *testing.T) {
		t.Parallel()
		const good = `{"type":"function","function":{"name":"a","parameters":{"type":"object"}}}`
		for tools, want := range map[string]string{
			good:              "",
			good + `,` + good: "twice",
			`{"type":"function","function":{"name":"a"}}`:                                  "no schema",
			`{"type":"function","function":{"name":"a.b","parameters":{"type":"object"}}}`: "bad name",
			`{"type":"x","function":{"name":"a","parameters":{"type":"object"}}}`:          "type",
		} {
			check(t, `{"model":"m","tools":[`+tools+`],"messages":[`+user+`]}`, want)
		}
		check(t, `{"messages":[`+user+`]}`, "no model")
	})
}

func check(t *testing.T, body, want string) {
	var req wire.Request
	require.NoError(t, json.Unmarshal([]byte(body), &req))
	err := llmtest.Validate(req)
	if want == "" {
		require.NoError(t, err)
	} else {
		require.ErrorContains(t, err, want)
	}
}
