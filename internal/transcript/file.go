// Package transcript reads and writes session files in the JSON Lines format of
// nanobot: one line of metadata, then one line for each message. Unknown fields are
// ignored.
package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// header is the line of metadata.
type header struct {
	Type         string         `json:"_type"`
	Key          string         `json:"key,omitempty"` // channel:chat, unescaped
	CreatedAt    looseTime      `json:"created_at"`
	UpdatedAt    looseTime      `json:"updated_at"`
	Metadata     map[string]any `json:"metadata"`
	Consolidated int            `json:"last_consolidated"` // leading messages that are no longer sent to the model
}

const (
	headerType = "metadata"
	// sessionKey is the metadata field of Holdfast's own session key.
	sessionKey = "holdfast_session"
)

// message is any other line.
type message struct {
	Role       string          `json:"role"`
	Content    *looseText      `json:"content"` // null for a completion with tool calls only
	ToolCalls  []toolCall      `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	Name       string          `json:"name,omitempty"`
	Reasoning  string          `json:"reasoning_content,omitempty"`
	Timestamp  looseTime       `json:"timestamp,omitzero"`
	Sender     string          `json:"sender,omitempty"`
	SenderName string          `json:"sender_name,omitempty"`
	Failed     bool            `json:"failed,omitempty"`
	Media      json.RawMessage `json:"media,omitempty"` // paths or URLs of attachments
	Turn       string          `json:"turn,omitempty"`  // ID of its turn, in files of [Write]

	line int
}

func (m message) text() string {
	if m.Content == nil {
		return ""
	}
	return string(*m.Content)
}

// toolCall is a tool call as in the chat completion API.
type toolCall struct {
	ID       string   `json:"id"`
	Type     string   `json:"type,omitempty"`
	Function function `json:"function,omitzero"`
}

type function struct {
	Name      string    `json:"name"`
	Arguments looseJSON `json:"arguments"`
}

// looseText is a string, or the text of a list of parts.
type looseText string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseText) UnmarshalJSON(data []byte) error {
	var text string
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	switch {
	case json.Unmarshal(data, &text) == nil:
		*t = looseText(text)
	case json.Unmarshal(data, &parts) == nil:
		var all []string
		for _, part := range parts {
			if part.Text == "" {
				part.Text = "[" + strings.TrimSuffix(part.Type, "_url") + "]"
			}
			all = append(all, part.Text)
		}
		*t = looseText(strings.Join(all, "\n"))
	default:
		*t = looseText(data)
	}
	return nil
}

// looseJSON is JSON, verbatim or in a string.
type looseJSON string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseJSON) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	*t = looseJSON(text)
	return nil
}

// looseTime is a time as Python writes it. Without a zone it is local; an invalid time
// is zero.
type looseTime struct {
	time.Time
	written string
}

// timeLayout is the layout for writing, in UTC.
const timeLayout = "2006-01-02T15:04:05.000000-07:00"

// MarshalJSON implements [json.Marshaler].
func (t looseTime) MarshalJSON() ([]byte, error) {
	return json.Marshal(t.UTC().Format(timeLayout))
}

// UnmarshalJSON implements [json.Unmarshaler].
func (t *looseTime) UnmarshalJSON(data []byte) error {
	t.written = string(data)
	var text string
	_ = json.Unmarshal(data, &text)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04"} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			t.Time = at
			return nil
		}
	}
	return nil
}

// File is the content of a session file.
type File struct {
	head     header
	messages []message
	Left     []string // a message for each skipped line
}

func (f *File) leave(line int, why string) {
	f.Left = append(f.Left, fmt.Sprintf("line %d skipped: %s", line, why))
}

// Read reads a session file. It skips lines that are not messages, since the last line
// may be incomplete. A file without any messages or metadata is an error.
func Read(r io.Reader) (File, error) {
	var f File
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return File{}, err
		}
		f.read(number, bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\uFEFF"))))
		if err != nil {
			break
		}
	}
	if f.head.Type == "" && len(f.messages) == 0 {
		return File{}, errors.New("not a session file: it has neither messages nor metadata")
	}
	f.date()
	return f, nil
}

func (f *File) read(number int, line []byte) {
	if len(line) == 0 {
		return
	}
	var head header
	_ = json.Unmarshal(line, &head) // best effort: only Type matters
	if head.Type == headerType {
		f.head = head
		return
	}
	m := message{line: number}
	err := json.Unmarshal(line, &m)
	switch {
	case err != nil:
		f.leave(number, "not a JSON message")
	case m.Role == "":
		f.leave(number, "no role")
	default:
		f.messages = append(f.messages, m)
	}
}

// date gives messages without a time the time of the previous message.
func (f *File) date() {
	last := f.head.CreatedAt.Time
	for _, m := range f.messages {
		if last.IsZero() {
			last = m.Timestamp.Time
		}
	}
	if last.IsZero() {
		last = time.Now()
	}
	for i := range f.messages {
		if f.messages[i].Timestamp.IsZero() {
			f.messages[i].Timestamp.Time = last
		}
		last = f.messages[i].Timestamp.Time
	}
}
