package tool_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestTitle(t *testing.T) {
	t.Parallel()
	type arguments struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	write := tool.New("write", "", tool.Keyed, func(context.Context, tool.Call, arguments) (tool.Result, error) {
		return tool.Result{}, nil
	})
	require.NoError(t, write.Err())
	tests := []struct{ name, arguments, title string }{
		{"the main argument", `{"content":"long","path":"a.txt"}`, "a.txt"},
		{"no main argument", `{"content":"long"}`, `{"content":"long"}`},
		{"an empty one", `{"path":""}`, `{"path":""}`},
		{"one of another type", `{"path":1}`, `{"path":1}`},
		{"no JSON", `{`, `{`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.title, write.Title([]byte(tt.arguments)))
		})
	}
}
