package dispatch_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const isRunning = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING

func TestReconcileTurns(t *testing.T) {
	t.Parallel()

	t.Run("finds the one orphan among many turns that run", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			var last domain.Inbound
			for i := range 1300 {
				last = b.put(t, fmt.Sprint("c", i), "hi")
				b.begin(t, last, "r1")
				b.engine.SetRun(protocol.Names{}.Session(last.Session), "r1", "r1", isRunning)
			}
			b.engine.SetRun(protocol.Names{}.Session(last.Session), "r1", "r1", enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED)
			b.reconcile(t)
			time.Sleep(2 * time.Minute)
			turn, err := b.store.Turn(t.Context(), last.ID)
			require.NoError(t, err)
			require.Equal(t, domain.TurnStopped, turn.Status)
			running, err := b.store.RunningSessions(t.Context())
			require.NoError(t, err)
			require.Len(t, running, 1299)
		})
	})

	t.Run("restarts all turns at the start if the engine lost them", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		var lost []string
		for i := range 250 {
			m := b.put(t, fmt.Sprint("c", i), "hi")
			b.begin(t, m, "r1")
			lost = append(lost, m.ID)
		}
		b.ReconcileAll(t.Context())
		require.ElementsMatch(t, lost, b.engine.Signalled())
	})

	for name, tt := range map[string]struct {
		run, first string
		state      enumspb.WorkflowExecutionStatus
		restarts   bool
	}{
		"leaves a turn whose run is open":                        {"r1", "r1", isRunning, false},
		"leaves a turn whose run was continued":                  {"r2", "r1", isRunning, false},
		"restarts a lost turn while a later message has a run":   {"r2", "r2", isRunning, true},
		"restarts a lost turn after a later message had its run": {"r2", "r2", enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED, true},
		"ends a turn whose run was terminated":                   {"r1", "r1", enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			m := b.put(t, "c1", "hi")
			b.begin(t, m, "r1")
			b.engine.SetRun(protocol.Names{}.Session(m.Session), tt.run, tt.first, tt.state)
			b.ReconcileAll(t.Context())
			require.Equal(t, tt.restarts, slices.Contains(b.engine.Signalled(), m.ID))
			turn, err := b.store.Turn(t.Context(), m.ID)
			require.NoError(t, err)
			require.Equal(t, tt.state == enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, turn.Status == domain.TurnStopped)
		})
	}

	t.Run("does not restart a turn that a new run continues", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		m := b.put(t, "c1", "hi")
		b.begin(t, m, "r1")
		b.begin(t, m, "r2")
		b.engine.SetRun(protocol.Names{}.Session(m.Session), "r2", "r2", isRunning)
		b.ReconcileAll(t.Context())
		require.Empty(t, b.engine.Signalled())
	})
}

// TestReconcileStrayRuns has runs of which the store, an older backup, knows nothing.
func TestReconcileStrayRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, reconcileStrayRuns)
}

func reconcileStrayRuns(t *testing.T) {
	names := protocol.Names{}
	b := setup(t)
	working, waiting := b.put(t, "working", "hi"), b.put(t, "waiting", "hi")
	b.begin(t, working, "r1")
	time.Sleep(time.Second)
	b.Dispatcher = b.another(t) // these are from before it started
	next := b.put(t, "stray", "hi")
	for _, session := range []string{working.Session, waiting.Session, next.Session, "test:unknown", "test:busy", domain.SubagentSession("m1.1.0")} {
		b.engine.SetRun(names.Session(session), "r1", "r1", isRunning)
	}
	b.engine.SetBusy(names.Session("test:busy"))
	b.engine.SetRun(names.Consolidation("workspace"), "r1", "r1", isRunning)
	b.ReconcileAll(t.Context())
	open, err := b.engine.ListWorkflow(t.Context(), nil)
	require.NoError(t, err)
	var left []string
	for _, run := range open.GetExecutions() {
		left = append(left, run.GetExecution().GetWorkflowId())
	}
	require.ElementsMatch(t, []string{names.Session(working.Session), names.Session(waiting.Session), names.Session("test:busy"), names.Consolidation("workspace")}, left)
	require.Contains(t, b.engine.Signalled(), next.ID)
}

// TestReconcileAfterOutage has more messages waiting than a claim takes. Each is signalled
// once, in the order of its session.
func TestReconcileAfterOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const messages, sessions = 420, 60
	b.engine.Refuse(away)
	for i := range messages {
		b.accept(t, fmt.Sprint("c", i%sessions), fmt.Sprint("message ", i))
	}
	b.engine.Refuse(nil)
	b.ReconcileAll(t.Context())
	last := map[string]int64{}
	signals := b.engine.Signals()
	require.Len(t, signals, messages)
	for _, m := range signals {
		in, err := b.store.Inbound(t.Context(), m.ID)
		require.NoError(t, err)
		require.Greater(t, in.Seq, last[in.Session])
		last[in.Session] = in.Seq
	}
}
