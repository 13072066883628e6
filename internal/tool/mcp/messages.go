package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const frameLimit = 16 << 20 // bytes of a message; a larger one ends the connection

var errTooLarge = fmt.Errorf("the server wrote a message larger than %d MB", frameLimit>>20)

// messageStart matches the start of a message or a batch.
var messageStart = regexp.MustCompile(`^\s*(\[\s*)?\{\s*"(jsonrpc|id|method|params|result|error)"`)

// messages filters a server's standard output: it passes on lines with messages and
// drops others, which servers and their launchers print by mistake. The SDK would
// close the connection.
type messages struct {
	buffered *bufio.Reader
	log      *slog.Logger
	rest     []byte       // messages not yet passed on
	count    atomic.Int64 // lines with messages
}

func newMessages(from io.Reader, log *slog.Logger) *messages {
	return &messages{buffered: bufio.NewReaderSize(from, 64<<10), log: log}
}

// Read implements [io.Reader].
func (m *messages) Read(into []byte) (int, error) {
	for len(m.rest) == 0 {
		if err := m.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(into, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// fill reads a line and drops it if it has no message.
func (m *messages) fill() error {
	line, err := m.line()
	if errors.Is(err, errTooLarge) {
		return err
	}
	if m.rest = only(line); len(m.rest) > 0 {
		m.count.Add(1)
		return nil // the next read returns the error again
	}
	if len(bytes.TrimSpace(line)) > 0 {
		m.log.Debug("mcp server wrote a line that is not a message")
	}
	return err
}

// line reads a line and returns at most frameLimit bytes of it. A longer line is an
// error if it starts like a message.
func (m *messages) line() ([]byte, error) {
	part, err := m.buffered.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return part, err
	}
	line := bytes.Clone(part)
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = m.buffered.ReadSlice('\n')
		line = append(line, part[:min(len(part), frameLimit-len(line))]...)
		if len(line) == frameLimit && messageStart.Match(line) {
			return nil, errTooLarge
		}
	}
	return line, err
}

// only returns the messages of a line, one per line: newer protocol versions have no
// batches, and the SDK fails at two notifications in one.
func only(line []byte) []byte {
	line = bytes.TrimSpace(line)
	parts := []json.RawMessage{line}
	if bytes.HasPrefix(line, []byte("[")) && json.Unmarshal(line, &parts) != nil {
		return nil
	}
	var found []byte
	for _, part := range parts {
		if isMessage(part) {
			found = append(append(found, part...), '\n')
		}
	}
	return found
}

// isMessage reports whether the SDK accepts data as a message. Its decoder ignores
// trailing data.
func isMessage(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("{")) || !json.Valid(data) {
		return false
	}
	_, err := jsonrpc.DecodeMessage(data)
	return err == nil
}
