package command

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// floorQueue is the task queue of the bare workflow.
const floorQueue = "floor"

// floorWorkflow is the minimum of a durable reply: one activity that
// does nothing.
func floorWorkflow(ctx workflow.Context) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	return workflow.ExecuteActivity(ctx, "floor").Get(ctx, nil)
}

// BenchmarkMessage measures a message over HTTP, from request to reply, beside
// the same model call made directly and beside the engine's own floor: a bare
// workflow, until its activity has run (floor) and until it has closed (closed).
// The kinds alternate to run under equal conditions. It prints tables without
// assertions.
func BenchmarkMessage(b *testing.B) {
	stub := llmtest.NewStub(b, strings.Repeat("an answer\n", 60))
	n := startNode(b, stub)
	w := worker.New(n.client, floorQueue, worker.Options{
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
	})
	w.RegisterWorkflow(floorWorkflow)
	ran := &signals{}
	w.RegisterActivityWithOptions(func(ctx context.Context) error {
		ran.send(activity.GetInfo(ctx).WorkflowExecution.ID)
		return nil
	}, activity.RegisterOptions{Name: "floor"})
	require.NoError(b, w.Start())
	b.Cleanup(w.Stop)

	const rounds = 8
	kinds := []struct {
		name  string
		share int // of the total: one in so many
		do    func(session, i int) error
	}{
		{"direct", 4, n.benchDirect},
		{"floor", 1, func(int, int) error { return n.benchFloor(ran) }},
		{"closed", 4, func(int, int) error { return n.benchClosed() }},
		{"message", 1, n.benchMessage},
	}
	for _, kind := range kinds {
		measure(kind.do, 8, 64) // warm up
	}
	for _, load := range []struct{ sessions, total int }{{1, 1200}, {16, 2000}, {64, 2000}} {
		b.Run(fmt.Sprintf("sessions=%d", load.sessions), func(b *testing.B) {
			results := map[string]*sample{}
			for _, kind := range kinds {
				results[kind.name] = &sample{}
			}
			for b.Loop() {
				for range rounds {
					for _, kind := range kinds {
						results[kind.name].add(measure(kind.do, load.sessions, load.total/rounds/kind.share))
					}
				}
			}
			b.Logf("%9s %9s %9s %9s %9s %8s", "kind", "p50 ms", "p99 ms", "p99.9 ms", "max ms", "per s")
			for _, kind := range kinds {
				r := results[kind.name]
				require.NoError(b, r.err)
				b.Logf("%9s %9.1f %9.1f %9.1f %9.1f %8.0f", kind.name, r.at(0.5), r.at(0.99), r.at(0.999), r.at(1), r.rate())
			}
			message, direct, floor := results["message"], results["direct"], results["floor"]
			b.Logf("added p50 %.1f ms, p99 %.1f ms", message.at(0.5)-direct.at(0.5), message.at(0.99)-direct.at(0.99))
			b.ReportMetric(message.at(0.5)/floor.at(0.5), "p50/floor")
			b.ReportMetric(message.at(0.99)/floor.at(0.99), "p99/floor")
			b.ReportMetric(message.rate()/floor.rate(), "rate/floor")
		})
	}
}

// BenchmarkMessageStart measures the real program from start to ready, on a new
// home and on a used one, and its memory when idle.
func BenchmarkMessageStart(b *testing.B) {
	_, err := binary() // built before the measurement
	require.NoError(b, err)
	for b.Loop() {
		h := newHome(b, "http://127.0.0.1:1/v1")
		for _, name := range []string{"new home", "used home"} {
			started := time.Now()
			p := h.start(b)
			took := time.Since(started)
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.info.PID))
			require.NoError(b, err)
			_, after, _ := strings.Cut(string(status), "VmRSS:")
			resident, _, _ := strings.Cut(after, "\n")
			b.Logf("%s: ready after %v, resident %s", name, took.Round(time.Millisecond), strings.TrimSpace(resident))
			p.kill()
		}
	}
}

// sample has the measurements of one kind.
type sample struct {
	mu    sync.Mutex
	times []time.Duration
	wall  time.Duration
	err   error
}

func (s *sample) add(other *sample) {
	s.times = append(s.times, other.times...)
	s.wall += other.wall
	if s.err == nil {
		s.err = other.err
	}
	slices.Sort(s.times)
}

// at returns a quantile in milliseconds.
func (s *sample) at(q float64) float64 {
	i := min(int(q*float64(len(s.times))), len(s.times)-1)
	return float64(s.times[i].Microseconds()) / 1000
}

func (s *sample) rate() float64 { return float64(len(s.times)) / s.wall.Seconds() }

// measure calls do total times, concurrently for each session.
func measure(do func(session, i int) error, sessions, total int) *sample {
	s := &sample{}
	var next atomic.Int64
	var wg sync.WaitGroup
	started := time.Now()
	for session := range sessions {
		wg.Go(func() {
			for {
				i := int(next.Add(1))
				if i > total {
					return
				}
				begun := time.Now()
				err := do(session, i)
				took := time.Since(begun)
				s.mu.Lock()
				s.times = append(s.times, took)
				if err != nil {
					s.err = err
				}
				s.mu.Unlock()
			}
		})
	}
	wg.Wait()
	s.wall = time.Since(started)
	return s
}

var benchHTTP = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}

func (n *testNode) benchMessage(session, _ int) error { return benchAsk(n.APIURL(), session) }

// benchAsk sends a message and waits for the answer.
func benchAsk(api string, session int) error {
	body, err := json.Marshal(map[string]any{"session": fmt.Sprintf("bench-%d", session), "text": "hello", "wait": true})
	if err != nil {
		return err
	}
	response, err := benchHTTP.Post(api+"/v1/messages", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func (n *testNode) benchDirect(int, int) error {
	_, err := n.Model.Provider.Complete(context.Background(), llm.Request{
		Model: n.Model.Name, Messages: []domain.Message{{Role: domain.RoleUser, Content: "hello"}}, MaxTokens: 100,
	}, nil)
	return err
}

func (n *testNode) benchFloor(ran *signals) error {
	id := fmt.Sprintf("floor-%d", ran.next.Add(1))
	there := ran.expect(id)
	options := client.StartWorkflowOptions{ID: id, TaskQueue: floorQueue}
	if _, err := n.client.ExecuteWorkflow(context.Background(), options, floorWorkflow); err != nil {
		return err
	}
	<-there
	return nil
}

func (n *testNode) benchClosed() error {
	run, err := n.client.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{TaskQueue: floorQueue}, floorWorkflow)
	if err != nil {
		return err
	}
	return run.Get(context.Background(), nil)
}

// signals report that an activity has run.
type signals struct {
	next    atomic.Int64
	waiting sync.Map // channels, by workflow ID
}

func (s *signals) expect(id string) <-chan struct{} {
	there := make(chan struct{})
	s.waiting.Store(id, there)
	return there
}

func (s *signals) send(id string) {
	if there, ok := s.waiting.LoadAndDelete(id); ok {
		close(there.(chan struct{}))
	}
}
