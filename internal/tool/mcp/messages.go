package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"log/slog"
)

// messages reads the messages among what a server writes to its standard output:
// lines that begin with a brace. The SDK would take any other, which servers and
// the programs that start them print by mistake, for the end of the connection.
type messages struct {
	buffered *bufio.Reader
	log      *slog.Logger
	rest     []byte // read and not handed on yet; valid until the next read
	within   bool   // of a line that is a message
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

// fill reads on in a message, or leaves a line out.
func (m *messages) fill() error {
	if !m.within {
		first, err := m.buffered.Peek(1)
		if err != nil {
			return err
		}
		if first[0] != '{' {
			return m.leaveOut()
		}
		m.within = true
	}
	part, err := m.buffered.ReadSlice('\n')
	m.within = errors.Is(err, bufio.ErrBufferFull)
	m.rest = part
	if len(part) > 0 {
		return nil // an error will come again
	}
	return err
}

func (m *messages) leaveOut() error {
	blank := true
	for {
		part, err := m.buffered.ReadSlice('\n')
		blank = blank && len(bytes.TrimSpace(part)) == 0
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if !blank {
			m.log.Debug("mcp server wrote a line that is no message")
		}
		return err
	}
}
