package doctor

import (
	"context"
	"log/slog"
	"sync"
)

// lastMessage is a log handler that keeps the last warning or error.
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
	message := record.Message
	record.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" {
			message += ": " + a.Value.String()
		}
		return true
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = message
	return nil
}

// WithAttrs implements [slog.Handler].
func (l *lastMessage) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l *lastMessage) WithGroup(string) slog.Handler { return l }

// text returns the message in parentheses, or "" if there was none.
func (l *lastMessage) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last == "" {
		return ""
	}
	return " (" + l.last + ")"
}
