package doctor

import (
	"context"
	"log/slog"
	"sync"
)

// lastMessage is a log handler that remembers the last warning or error.
type lastMessage struct {
	mu   sync.Mutex
	last string
}

// Enabled implements [slog.Handler].
func (l *lastMessage) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle implements [slog.Handler].
func (l *lastMessage) Handle(_ context.Context, record slog.Record) error {
	said := record.Message
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			said += ": " + a.Value.String()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = said
	return nil
}

// WithAttrs implements [slog.Handler].
func (l *lastMessage) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l *lastMessage) WithGroup(string) slog.Handler { return l }

// text is what was said, in brackets; empty if nothing was.
func (l *lastMessage) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return ""
	}
	return " (" + l.last + ")"
}
