package mcp

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// lineLimit bounds what is kept of a line that a server writes to its standard
// error, in bytes.
const lineLimit = 500

// lines is a server's standard error.
type lines struct {
	file *os.File
	done chan struct{} // closed when all is read
	last string        // the last line that is not empty; read it after done
}

// read logs what is written, until the end.
func (l *lines) read(log *slog.Logger, redact func(string) string) {
	defer close(l.done)
	defer l.file.Close()
	reader := bufio.NewReaderSize(l.file, 4*lineLimit)
	for {
		line, cut, err := reader.ReadLine()
		text := redact(strings.TrimSpace(string(tool.WholeRunes(line[:min(len(line), lineLimit)]))))
		if text != "" {
			l.last = text
			log.Debug("mcp server wrote to its standard error", "line", text)
		}
		for cut && err == nil {
			_, cut, err = reader.ReadLine()
		}
		if err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrDeadlineExceeded) {
				log.Debug("mcp server's standard error not read", "err", err)
			}
			return
		}
	}
}
