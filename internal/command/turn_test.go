package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

func TestTurn(t *testing.T) {
	t.Parallel()

	t.Run("a message is answered", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t, llmtest.Text("hello"))
		n := startNode(t, model.URL)
		answer := n.ask(t, "main", "hi")
		require.Equal(t, domain.ReplyDone, answer.Status)
		require.Equal(t, "hello", answer.Text)
		require.Empty(t, model.Invalid())
	})

	t.Run("the model's tool calls are run and it is told the results", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewServer(t,
			llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo from the shell"}`}),
			llmtest.Text("done"))
		n := startNode(t, model.URL)
		answer := n.ask(t, "main", "run it")
		require.Equal(t, "done", answer.Text)
		require.Empty(t, model.Invalid())
		results := model.Requests()[1].Results()
		require.Len(t, results, 1)
		require.Contains(t, results[0], "from the shell")
	})
}
