package dispatch_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

var errAway = errors.New("the engine is away")

func away(protocol.MessageRef) error { return errAway }

func TestReconcileMessages(t *testing.T) {
	t.Parallel()

	t.Run("signals what could not be signalled, in order", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.Refuse(away)
			one := b.accept(t, "c1", "one")
			two := b.accept(t, "c1", "two")
			b.reconcile(t)
			time.Sleep(20 * time.Second)
			require.Empty(t, b.engine.Signalled())
			b.engine.Refuse(nil)
			time.Sleep(11 * time.Second)
			require.Equal(t, []string{one, two}, b.engine.Signalled()[:2])
		})
	})

	t.Run("blocks only messages after one that cannot be signalled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.Refuse(away)
			one := b.accept(t, "c1", "one")
			b.accept(t, "c1", "two")
			three := b.accept(t, "c2", "three")
			b.engine.Refuse(func(m protocol.MessageRef) error {
				if m.ID == one {
					return errAway
				}
				return nil
			})
			b.reconcile(t)
			time.Sleep(11 * time.Second)
			require.Contains(t, b.engine.Signalled(), three)
			for _, id := range b.engine.Signalled() {
				require.Equal(t, three, id)
			}
		})
	})

	t.Run("signals a message that could not be signalled before later ones", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.Refuse(away)
			one := b.accept(t, "c1", "one")
			b.engine.Refuse(nil)
			two := b.accept(t, "c1", "two")
			require.Equal(t, []string{one, two}, b.engine.Signalled(), "it would be answered first")
			b.reconcile(t)
			time.Sleep(11 * time.Second)
			require.Equal(t, []string{one, two}, b.engine.Signalled()[:2])
			three := b.accept(t, "c1", "three")
			require.Equal(t, three, b.engine.Signalled()[len(b.engine.Signalled())-1], "nothing is held any more")
		})
	})

	t.Run("does not block on a consumed message whose signal failed", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.Refuse(away)
			one := b.accept(t, "c1", "one")
			b.answer(t, one)
			b.engine.Refuse(nil)
			b.reconcile(t)
			time.Sleep(6 * time.Second)
			two := b.accept(t, "c1", "two")
			require.Equal(t, []string{two}, b.engine.Signalled())
		})
	})

	t.Run("backs off for waiting messages and forgets consumed ones", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			waiting := b.accept(t, "c1", "one")
			taken := b.accept(t, "c1", "two")
			b.answer(t, taken)
			b.reconcile(t)
			time.Sleep(time.Hour)
			count := 0
			for _, id := range b.engine.Signalled()[2:] {
				require.Equal(t, waiting, id)
				count++
			}
			require.GreaterOrEqual(t, count, 3)
			require.LessOrEqual(t, count, 8)
		})
	})

	t.Run("is not needed at the start", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.engine.Refuse(away)
		one := b.accept(t, "c1", "one")
		b.ReconcileAll(t.Context())
		b.engine.Refuse(nil)
		b.ReconcileAll(t.Context())
		require.Equal(t, []string{one}, b.engine.Signalled())
	})
}
