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

// frameLimit is how large a message of a server may not become, in bytes. One that
// does ends the connection.
const frameLimit = 16 << 20

var errTooLarge = fmt.Errorf("it wrote a message larger than %d MB", frameLimit>>20)

// messageStart matches the beginning of a message, alone or as the first of several.
var messageStart = regexp.MustCompile(`^\s*(\[\s*)?\{\s*"(jsonrpc|id|method|params|result|error)"`)

// messages reads the messages among what a server writes to its standard output,
// one a line. The SDK would take anything else, which servers and the programs
// that start them print by mistake, for the end of the connection.
type messages struct {
	buffered *bufio.Reader
	log      *slog.Logger
	rest     []byte       // of messages that are not handed on yet
	count    atomic.Int64 // of the lines with messages so far
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

// fill reads a line, and leaves it out if it has no message.
func (m *messages) fill() error {
	line, err := m.line()
	if errors.Is(err, errTooLarge) {
		return err
	}
	if m.rest = only(line); len(m.rest) > 0 {
		m.count.Add(1)
		return nil // an error will come again
	}
	if len(bytes.TrimSpace(line)) > 0 {
		m.log.Debug("mcp server wrote a line that is no message")
	}
	return err
}

// line reads a line, of which it returns no more than the limit: one that goes on
// is no message, or an error.
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

// only returns the messages of a line, each on a line of its own: newer versions
// of the protocol have no batches, and the SDK fails at two notifications in one.
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

// isMessage reports whether the SDK takes data for a message. Its decoder does not
// look at what follows one.
func isMessage(data []byte) bool {
	if !bytes.HasPrefix(data, []byte("{")) || !json.Valid(data) {
		return false
	}
	_, err := jsonrpc.DecodeMessage(data)
	return err == nil
}
