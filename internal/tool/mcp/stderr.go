package mcp

import (
	"bufio"
	"io"
	"log/slog"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/text"
)

const lineLimit = 500 // bytes of a line of standard error to keep

// lines is a server's standard error.
type lines struct {
	from io.Reader
	done chan struct{} // closed at the end
	last string        // the last non-empty line; valid after done
}

// read logs each line until the end.
func (l *lines) read(log *slog.Logger, redact func(string) string) {
	defer close(l.done)
	reader := bufio.NewReaderSize(l.from, 4*lineLimit)
	for {
		line, cut, err := reader.ReadLine()
		text := redact(strings.TrimSpace(string(text.WholeRunes(line[:min(len(line), lineLimit)]))))
		if text != "" {
			l.last = text
			log.Debug("mcp server wrote to standard error", "line", text)
		}
		for cut && err == nil {
			_, cut, err = reader.ReadLine()
		}
		if err != nil {
			return
		}
	}
}
