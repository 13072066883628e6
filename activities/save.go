package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	// saveTime bounds how long a result is saved again while the store is away: what made it
	// was paid for, or cannot be repeated.
	saveTime = 5 * time.Minute
	// saveTry bounds one attempt.
	saveTry = 10 * time.Second
	// The pauses between attempts double.
	savePauseFirst, savePauseLast = 100 * time.Millisecond, 5 * time.Second
)

func (a *Agent) saveCompletion(ctx context.Context, c store.Completion) (stored domain.Message, outbox string, err error) {
	err = save(ctx, func(ctx context.Context) error {
		stored, outbox, err = a.Store.SaveCompletion(ctx, c)
		return err
	})
	return stored, outbox, err
}

func (a *Agent) saveResult(ctx context.Context, m domain.Message) (stored domain.Message, err error) {
	err = save(ctx, func(ctx context.Context) error {
		stored, err = a.Store.SaveResult(ctx, m)
		return err
	})
	return stored, err
}

// save calls f, which saves a result, until the store is back.
func save(ctx context.Context, f func(context.Context) error) error {
	deadline := time.Now().Add(saveTime)
	for pause := savePauseFirst; ; pause = min(2*pause, savePauseLast) {
		err := saveOnce(ctx, f)
		if err == nil || refusesResult(err) || ctx.Err() != nil || time.Now().After(deadline) {
			return err
		}
		activity.GetLogger(ctx).Warn("result not saved, trying again", "err", err)
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

func saveOnce(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, saveTry)
	defer cancel()
	return f(ctx)
}

// refusesResult reports whether the store answered, and no longer wants the result.
func refusesResult(err error) bool {
	return errors.Is(err, store.ErrTurnEnded) || errors.Is(err, domain.ErrNotFound) || errors.Is(err, domain.ErrConflict)
}
