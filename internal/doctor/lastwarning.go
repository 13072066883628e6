package doctor

import (
	"bytes"
	"encoding/json"
	"log/slog"
)

// lastWarning is a writer for a logger. It must be read only after logging has ended.
type lastWarning struct{ bytes.Buffer }

func (l *lastWarning) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// text returns the last warning or error in parentheses, or "" if there was none.
func (l *lastWarning) text() string {
	lines := bytes.Split(bytes.TrimSpace(l.Bytes()), []byte("\n"))
	var record struct{ Msg, Err string }
	if json.Unmarshal(lines[len(lines)-1], &record) != nil {
		return ""
	}
	if record.Err != "" {
		record.Msg += ": " + record.Err
	}
	return " (" + record.Msg + ")"
}
