package starter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
)

// receiver is a channel that does as the function says.
type receiver func(ctx context.Context, b channels.Backend) error

func (r receiver) Run(ctx context.Context, b channels.Backend) error { return r(ctx, b) }

// run runs the starter until the test's bubble ends.
func (b *bundle) run(t *testing.T, receivers map[string]channels.Receiver) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.Run(ctx, receivers)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
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
