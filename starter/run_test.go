package starter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// receiver is a channel that does as the function says.
type receiver func(ctx context.Context, b channels.Backend) error

func (r receiver) Run(ctx context.Context, b channels.Backend) error { return r(ctx, b) }

// run runs the starter until the test's bubble ends.
func (b *bundle) run(t *testing.T, receivers map[string]channels.Receiver) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx, receivers) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
}

func TestSweeper(t *testing.T) {
	t.Parallel()

	t.Run("signals what could not be signalled, in order", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.setRefuse(away)
			one := b.accept(t, inbound("1", "one")).Message
			two := b.accept(t, inbound("2", "two")).Message
			b.run(t, nil)
			time.Sleep(20 * time.Second)
			require.Empty(t, b.engine.signalled())
			b.engine.setRefuse(nil)
			time.Sleep(11 * time.Second)
			require.Equal(t, []string{one, two}, b.engine.signalled()[:2])
		})
	})

	t.Run("holds what comes after a message that cannot be signalled, and nothing else", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.setRefuse(away)
			one := b.accept(t, inbound("1", "one")).Message
			b.accept(t, inbound("2", "two"))
			elsewhere := inbound("3", "three")
			elsewhere.Chat = "c2"
			three := b.accept(t, elsewhere).Message
			b.engine.setRefuse(func(m protocol.MessageRef) error {
				if m.ID == one {
					return errAway
				}
				return nil
			})
			b.run(t, nil)
			time.Sleep(11 * time.Second)
			require.Contains(t, b.engine.signalled(), three)
			for _, id := range b.engine.signalled() {
				require.Equal(t, three, id)
			}
		})
	})

	t.Run("brings a message that could not be signalled before those that came later", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.setRefuse(away)
			one := b.accept(t, inbound("1", "one")).Message
			b.engine.setRefuse(nil)
			two := b.accept(t, inbound("2", "two")).Message
			require.Empty(t, b.engine.signalled(), "it would be answered first")
			b.run(t, nil)
			time.Sleep(11 * time.Second)
			require.Equal(t, []string{one, two}, b.engine.signalled()[:2])
			three := b.accept(t, inbound("3", "three")).Message
			require.Equal(t, three, b.engine.signalled()[len(b.engine.signalled())-1], "nothing is held any more")
		})
	})

	t.Run("holds nothing back for a message that was taken though its signal failed", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			b.engine.setRefuse(away)
			one := b.accept(t, inbound("1", "one")).Message
			b.begin(t, one, 1, one)
			b.answer(t, one, 1, "done")
			b.engine.setRefuse(nil)
			b.run(t, nil)
			time.Sleep(6 * time.Second)
			two := b.accept(t, inbound("2", "two")).Message
			require.Equal(t, []string{two}, b.engine.signalled())
		})
	})

	t.Run("asks ever less often for what waits, and not for what was taken", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := setup(t)
			waiting := b.accept(t, inbound("1", "one")).Message
			taken := b.accept(t, inbound("2", "two")).Message
			b.begin(t, taken, 1, taken)
			b.answer(t, taken, 1, "done")
			b.run(t, nil)
			time.Sleep(time.Hour)
			count := 0
			for _, id := range b.engine.signalled()[2:] {
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
		b.engine.setRefuse(away)
		one := b.accept(t, inbound("1", "one")).Message
		require.NoError(t, b.Recover(t.Context()), "a message that cannot be signalled is no reason not to start")
		b.engine.setRefuse(nil)
		require.NoError(t, b.Recover(t.Context()))
		require.Equal(t, []string{one}, b.engine.signalled())
	})
}

func TestRunKeepsTheOtherChannelsUp(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"when one fails":   func() error { return errors.New("connection lost") },
		"when one returns": func() error { return nil },
		"when one panics":  func() error { panic("nil pointer") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := setup(t)
				runs, stopped := 0, 0
				b.run(t, map[string]channels.Receiver{
					"bad": receiver(func(context.Context, channels.Backend) error {
						runs++
						return fail()
					}),
					"good": receiver(func(ctx context.Context, _ channels.Backend) error {
						<-ctx.Done()
						stopped++
						return nil
					}),
				})
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Zero(t, stopped)
				require.GreaterOrEqual(t, runs, 10, "it is run again")
				require.LessOrEqual(t, runs, 13, "and rests in between")
			})
		})
	}
}
