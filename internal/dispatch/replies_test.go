package dispatch_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// undelivered has a message answered whose reply is to be delivered.
func (b *bundle) undelivered(t *testing.T, message domain.Inbound) string {
	t.Helper()
	message.ID, message.Session, message.Channel, message.Chat, message.Push = "m1", "test:c1", "test", "c1", true
	_, _, err := b.store.Accept(t.Context(), message)
	require.NoError(t, err)
	if message.Command == domain.CommandNone {
		b.answer(t, message.ID)
		return message.ID
	}
	_, _, err = b.store.Answer(t.Context(), store.AnswerInput{Session: message.Session, Channel: message.Channel, Message: message.ID, Reply: "Stopped."})
	require.NoError(t, err)
	return message.ID
}

func TestReconcileReplies(t *testing.T) {
	t.Parallel()
	workflow := protocol.Names{}.Session("test:c1")

	for name, state := range map[string]enumspb.WorkflowExecutionStatus{
		"lost": 0, "terminated": enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED, "completed": enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED,
	} {
		t.Run("delivers a reply whose workflow is "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				if state != 0 {
					b.engine.SetState(workflow, state)
				}
				id := b.undelivered(t, domain.Inbound{Text: "one"})
				b.reconcile(t)
				time.Sleep(29 * time.Second)
				require.Empty(t, b.engine.Signalled())
				time.Sleep(10 * time.Second)
				require.Equal(t, []string{id}, b.engine.Signalled())
			})
		})
	}

	for _, state := range []enumspb.WorkflowExecutionStatus{
		enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, enumspb.WORKFLOW_EXECUTION_STATUS_CANCELED,
	} {
		t.Run("leaves a reply whose workflow is "+state.String(), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.engine.SetState(workflow, state)
			b.undelivered(t, domain.Inbound{Text: "one"})
			b.ReconcileAll(t.Context())
			require.Empty(t, b.engine.Signalled())
		})
	}

	t.Run("delivers at the start without carrying out a command again", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		id := b.undelivered(t, domain.Inbound{Command: domain.CommandStop})
		b.ReconcileAll(t.Context())
		signals := b.engine.Signals()
		require.Len(t, signals, 1)
		require.Equal(t, id, signals[0].ID)
		require.Empty(t, signals[0].Command)
		require.False(t, signals[0].Join)
	})

	t.Run("delivers ever less often", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.undelivered(t, domain.Inbound{Text: "one"})
			b.reconcile(t)
			time.Sleep(time.Hour)
			require.GreaterOrEqual(t, len(b.engine.Signalled()), 4)
			require.LessOrEqual(t, len(b.engine.Signalled()), 8)
		})
	})

	t.Run("gives up after a day", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.undelivered(t, domain.Inbound{Text: "one"})
			time.Sleep(24 * time.Hour)
			b.ReconcileAll(t.Context())
			require.Empty(t, b.engine.Signalled())
		})
	})
}
