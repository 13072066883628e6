package command

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// TestDeploymentsInOneNamespace runs two deployments, each with a database of one Postgres, on
// one Temporal namespace. With a
// prefix of their own they do not touch each other, even in sessions of the same name.
// Without one, each leaves the work of the other alone and says what to set.
func TestDeploymentsInOneNamespace(t *testing.T) {
	t.Parallel()
	engine := newHome(t, "http://127.0.0.1:1/v1").run(t, "engine")
	deployment := func(name string, environ ...string) (*process, *bytes.Buffer) {
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if len(resultsOfTurn(r)) == 0 {
				return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: fmt.Sprintf(`{"command":"echo %s >> ran"}`, name)})
			}
			return llmtest.Text("from " + name)
		})
		h := newHome(t, model.URL)
		h.environ = append(h.environ, "HOLDFAST_HEARTBEAT_ENABLED=false", "HOLDFAST_TEMPORAL_ADDRESS="+engine.info.Temporal, "HOLDFAST_STORE_DSN="+storetest.Postgres(t))
		log := &bytes.Buffer{}
		h.log = log
		p := h.start(t, environ...)
		require.NotEmpty(t, p.info.API)
		return p, log
	}
	askBoth := func(n int, session func(i int, name string) string, a, b *process) {
		t.Helper()
		var asked sync.WaitGroup
		for i := range n {
			for name, p := range map[string]*process{"a": a, "b": b} {
				asked.Go(func() {
					m := member{process: p}
					if reply := m.await(t, m.send(t, session(i, name), "go")).Text; reply != "from "+name {
						t.Errorf("%s answered %q", name, reply)
					}
				})
			}
		}
		asked.Wait()
	}

	a, _ := deployment("a", "HOLDFAST_TEMPORAL_PREFIX=a")
	b, _ := deployment("b", "HOLDFAST_TEMPORAL_PREFIX=b")
	askBoth(5, func(i int, _ string) string { return fmt.Sprint("same", i) }, a, b)
	a.kill()
	b.kill()

	a, logOfA := deployment("a")
	b, logOfB := deployment("b")
	askBoth(2, func(i int, name string) string { return fmt.Sprint(name, i) }, a, b)
	a.kill()
	b.kill()
	require.Contains(t, logOfA.String()+logOfB.String(), "temporal.prefix")
}
