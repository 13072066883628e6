package engine_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/engine"
)

// BenchmarkFloor measures the lower bound for a message: a workflow with one empty
// activity, from the start call to the activity's end (latency) and the workflow's end
// (throughput).
func BenchmarkFloor(b *testing.B) {
	for _, durability := range []string{"full", "normal"} {
		for _, sessions := range []int{1, 16, 64} {
			b.Run(fmt.Sprintf("%s/sessions=%d", durability, sessions), func(b *testing.B) {
				benchmarkFloor(b, durability, sessions)
			})
		}
	}
}

func benchmarkFloor(b *testing.B, durability string, sessions int) {
	e, err := engine.Start(b.Context(), engine.Options{DataDir: benchDir(b), UIPort: -1, Durability: durability})
	require.NoError(b, err)
	b.Cleanup(e.Stop)
	c := dial(b, e)
	var answered sync.Map
	w := worker.New(c, "floor", worker.Options{
		WorkflowTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior: worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
	})
	var closed atomic.Int64
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, id string) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		err := workflow.ExecuteActivity(ctx, "Answer", id).Get(ctx, nil)
		if !workflow.IsReplaying(ctx) {
			closed.Add(1)
		}
		return err
	}, workflow.RegisterOptions{Name: "Floor"})
	w.RegisterActivityWithOptions(func(_ context.Context, id string) error {
		if ch, ok := answered.LoadAndDelete(id); ok {
			close(ch.(chan struct{}))
		}
		return nil
	}, activityName("Answer"))
	require.NoError(b, w.Start())
	b.Cleanup(w.Stop)

	var n atomic.Int64
	message := func() time.Duration {
		id := fmt.Sprintf("floor/%d", n.Add(1))
		done := make(chan struct{})
		answered.Store(id, done)
		began := time.Now()
		_, err := c.ExecuteWorkflow(b.Context(), client.StartWorkflowOptions{
			ID: id, TaskQueue: "floor", WorkflowTaskTimeout: 5 * time.Second,
		}, "Floor", id)
		if err != nil {
			b.Error(err)
			return 0
		}
		<-done
		return time.Since(began)
	}
	for range 20 {
		message()
	}
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	b.ResetTimer()
	began, cpu := time.Now(), cpuTime(b)
	left := atomic.Int64{}
	left.Store(int64(b.N))
	for range sessions {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				d := message()
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	total := time.Since(began)
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(0, "ns/op")
	ms := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(ms(0.5), "p50-ms")
	b.ReportMetric(ms(0.99), "p99-ms")
	b.ReportMetric(float64(b.N)/total.Seconds(), "messages/s")
	b.ReportMetric(float64((cpuTime(b)-cpu).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// benchDir uses $BENCH_DIR if set, because the temporary directory may be in memory,
// where a sync costs nothing.
func benchDir(b *testing.B) string {
	dir := os.Getenv("BENCH_DIR")
	if dir == "" {
		return b.TempDir()
	}
	dir, err := os.MkdirTemp(dir, "engine") //nolint:usetesting // TempDir takes no directory
	require.NoError(b, err)
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// cpuTime is the CPU time of this process, which is more reliable than the clock on a
// busy machine.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
