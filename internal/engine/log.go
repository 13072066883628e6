package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/log/tag"
)

// serverLog logs the server's warnings and errors, except while it starts and stops and
// of work that was cancelled, and keeps its fatal errors from ending the process.
type serverLog struct {
	logger *slog.Logger
	tags   []tag.Tag // of all entries
	quiet  *atomic.Bool
	fatal  func(error)
}

var (
	_ log.Logger      = serverLog{}
	_ log.WithLogger  = serverLog{}
	_ log.SLogWrapper = serverLog{}
)

// Debug implements [log.Logger] and discards the message.
func (l serverLog) Debug(string, ...tag.Tag) {}

// Info implements [log.Logger] and discards the message.
func (l serverLog) Info(string, ...tag.Tag) {}

// Warn implements [log.Logger].
func (l serverLog) Warn(msg string, tags ...tag.Tag) { l.write(slog.LevelWarn, msg, tags) }

// Error implements [log.Logger].
func (l serverLog) Error(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// DPanic implements [log.Logger]: it panics in development builds only.
func (l serverLog) DPanic(msg string, tags ...tag.Tag) { l.write(slog.LevelError, msg, tags) }

// Panic implements [log.Logger].
func (l serverLog) Panic(msg string, tags ...tag.Tag) { panic(describe(msg, tags)) }

// Fatal implements [log.Logger]. The server expects the process to end here; instead we
// report the failure and block. Ending the goroutine would panic inside a
// sync.OnceValue, which the server uses to bind its port.
func (l serverLog) Fatal(msg string, tags ...tag.Tag) {
	l.fatal(describe(msg, tags))
	select {}
}

// With implements [log.WithLogger]. The server makes many loggers that it never writes to,
// so the tags stay as they are until then.
func (l serverLog) With(tags ...tag.Tag) log.Logger {
	l.tags = append(slices.Clip(l.tags), tags...)
	return l
}

// SLog implements [log.SLogWrapper]. The server's own workers log to it.
func (l serverLog) SLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (l serverLog) write(level slog.Level, msg string, tags []tag.Tag) {
	if l.quiet.Load() || isCancelled(tags) {
		level = slog.LevelDebug
	}
	l.logger.Log(context.Background(), level, msg, attributes(append(slices.Clip(l.tags), tags...))...) //nolint:sloglint // the message is the server's
}

// isCancelled reports whether an entry is about work whose context was cancelled, which the
// server repeats if it is still wanted.
func isCancelled(tags []tag.Tag) bool {
	return slices.ContainsFunc(tags, func(t tag.Tag) bool { return t.Key() == "error" && t.Value() == context.Canceled.Error() })
}

func attributes(tags []tag.Tag) []any {
	attrs := make([]any, 0, len(tags))
	for _, t := range tags {
		attrs = append(attrs, slog.Any(t.Key(), t.Value()))
	}
	return attrs
}

// describe turns a log entry into an error that wraps the entry's error.
func describe(msg string, tags []tag.Tag) error {
	var cause error
	for _, t := range tags {
		// Value returns only the error's text.
		if zap, ok := t.(tag.ZapTag); ok {
			if err, ok := zap.Field().Interface.(error); ok {
				cause = err
			}
		}
	}
	if cause == nil {
		return errors.New(msg)
	}
	return fmt.Errorf("%s: %w", msg, cause)
}
