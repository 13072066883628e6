package command

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// TestPostgres has the halves in two nodes on one engine and one Postgres, which
// also carries events from the worker to the starter.
func TestPostgres(t *testing.T) {
	t.Parallel()
	dsn := config.Secret(storetest.Postgres(t))
	model := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo from the worker"}`}),
		llmtest.Text("done"))
	starter := startNode(t, model.URL, func(c *config.Config, r *node.Roles) {
		c.Store.DSN = dsn
		r.Worker = false
	})
	id := starter.send(t, "main", "", "run it")
	startNode(t, model.URL, func(c *config.Config, r *node.Roles) {
		c.Store.DSN = dsn
		c.Temporal.Address = starter.Engine.Address()
		r.Engine, r.Starter = false, false
	})
	require.Equal(t, "done", starter.await(t, id).Text)
	require.Contains(t, model.Requests()[1].Results()[0], "from the worker")
	require.Empty(t, model.Invalid())
}
