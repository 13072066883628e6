package dispatch

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/time/rate"
)

// newLogger returns the SDK's logger.
func newLogger(l *slog.Logger) log.Logger {
	return log.NewStructuredLogger(slog.New(sdkLog{l.With("component", "temporal").Handler(), &rarely{}}))
}

// logInterval is how often a failure is logged that repeats while a service is away.
const logInterval = 10 * time.Second

// rarely limits how often messages are logged.
type rarely struct{ messages sync.Map } // of *rate.Sometimes, by message

func (r *rarely) do(message string, f func()) {
	sometimes, _ := r.messages.LoadOrStore(message, &rate.Sometimes{Interval: logInterval})
	sometimes.(*rate.Sometimes).Do(f) //nolint:forcetypeassert // nothing else is stored
}

// sdkLog passes on what an operator should know: warnings and errors, since the SDK logs
// routine events as information, and of those not what is expected. That Temporal is away is
// logged rarely, not for each poll.
type sdkLog struct {
	slog.Handler

	rarely *rarely
}

// Enabled implements [slog.Handler].
func (l sdkLog) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && l.Handler.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (l sdkLog) Handle(ctx context.Context, r slog.Record) error {
	err := errorOf(r)
	if isExpected(err) {
		return nil
	}
	if r.Message == "Activity error." {
		r.Level, r.Message = slog.LevelWarn, "activity failed, it is retried"
	}
	if !l.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	if _, away := errors.AsType[*serviceerror.Unavailable](err); !away {
		return l.Handler.Handle(ctx, r)
	}
	l.rarely.do(r.Message, func() { _ = l.Handler.Handle(ctx, r) }) // the log itself failed
	return nil
}

// WithAttrs implements [slog.Handler].
func (l sdkLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return sdkLog{l.Handler.WithAttrs(attrs), l.rarely}
}

// WithGroup implements [slog.Handler].
func (l sdkLog) WithGroup(name string) slog.Handler {
	return sdkLog{l.Handler.WithGroup(name), l.rarely}
}

// errorOf returns the error that the SDK logs, or nil.
func errorOf(r slog.Record) (err error) {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "Error" {
			err, _ = a.Value.Any().(error)
		}
		return err == nil
	})
	return err
}

// isExpected reports whether an error is part of normal operation: somebody stopped the work,
// or its run has ended meanwhile. A failure that is not retried reaches the workflow, which
// tells the user.
func isExpected(err error) bool {
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone || temporal.IsCanceledError(err) || errors.Is(err, context.Canceled) {
		return true
	}
	failed, is := errors.AsType[*temporal.ApplicationError](err)
	return is && failed.NonRetryable()
}
