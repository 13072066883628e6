package command

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// TestClusterSlots fills the slots for tools and for model calls of two workers: commands,
// ends of turns and what has slots of its own are done as usual, and /stop ends the call of a
// turn on whichever worker it runs.
func TestClusterSlots(t *testing.T) {
	t.Parallel()
	const tools, models, extra = 2, 6, 3 // slots of both workers, and what waits for one
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		switch asked := r.LastUser(); {
		case strings.HasPrefix(asked, "hang"):
			return llmtest.Hang()
		case strings.HasPrefix(asked, "run") && len(resultsOfTurn(r)) == 0:
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"sleep 300","timeout":300}`})
		}
		return llmtest.Text("hello")
	})
	behind, err := url.Parse(model.URL)
	require.NoError(t, err)
	behind.Path = ""
	var open atomic.Int32 // model calls
	proxy := httputil.NewSingleHostReverseProxy(behind)
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Add(-1)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	c := startCluster(t, strings.Replace(model.URL, "http://"+behind.Host, front.URL, 1))
	for range 2 {
		c.add(t, "worker", fmt.Sprint("HOLDFAST_WORKER_MODEL_CALLS=", models/2), fmt.Sprint("HOLDFAST_WORKER_TOOL_CALLS=", tools/2))
	}
	starter := c.add(t, "starter")
	timed := func(session, text, want string) {
		t.Helper()
		started := time.Now()
		require.Contains(t, starter.await(t, starter.send(t, session, text)).Text, want)
		require.Less(t, time.Since(started), 2*time.Second, text)
	}

	for i := range tools + 1 {
		starter.send(t, fmt.Sprint("t", i), "run it")
	}
	require.NoError(t, model.Await(t.Context(), tools+1))
	timed("other", "hi", "hello")
	timed("t0", "/status", "Working")
	for i := range tools + 1 {
		timed(fmt.Sprint("t", i), "/stop", "Stopped.")
	}

	before := model.Count()
	waiting := map[string]bool{}
	for i := range models + extra {
		session := fmt.Sprint("h", i)
		starter.send(t, session, "hang "+session)
		waiting[session] = true
	}
	require.NoError(t, model.Await(t.Context(), before+models))
	var running []string
	for _, r := range model.Requests()[before:] {
		session := strings.Fields(r.LastUser())[1]
		running = append(running, session)
		delete(waiting, session)
	}
	require.Len(t, waiting, extra)
	timed("other", "/status", "Nothing is running.")
	timed(running[0], "/status", "Working")
	for session := range waiting {
		timed(session, "/stop", "Stopped.")
	}
	for i, session := range running {
		timed(session, "/stop", "Stopped.")
		require.Eventually(t, func() bool { return int(open.Load()) == models-i-1 }, time.Second, 5*time.Millisecond, "the call goes on")
	}
	timed("other", "hi", "hello")
}
