package protocol

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// idLimit bounds, in bytes, each escaped part of a session key. Temporal refuses
// workflow IDs of more than 1,000 bytes.
const idLimit = 200

// MessageID derives our ID of a message from the channel's: the same message
// always gets the same ID, also when it is delivered again. A turn has the ID of
// the message that began it.
func MessageID(channel, scope, id string) string {
	return "m" + shortHash(channel, scope, id)
}

// SessionKey is the key of a conversation: channel:chat, or channel:chat:thread.
// Parts are escaped so that a colon in one cannot make two keys equal, and long
// ones are shortened to a hash.
func SessionKey(channel, chat, thread string) string {
	key := escape(channel) + ":" + escape(chat)
	if thread != "" {
		key += ":" + escape(thread)
	}
	return key
}

// WorkflowID is the ID of a session's workflow. One open run at most has it.
func WorkflowID(session string) string {
	if id, is := SubagentOf(session); is {
		return SubagentChannel + "/" + id
	}
	return "session/" + session
}

// SubagentSession is the session of the subagent that a call spawned.
func SubagentSession(callKey string) string { return SubagentChannel + ":" + callKey }

// SubagentOf is the key of the call that spawned the subagent whose session it is.
func SubagentOf(session string) (callKey string, is bool) {
	return strings.CutPrefix(session, SubagentSession(""))
}

// TaskMessage is the ID of the message with a subagent's task.
func TaskMessage(callKey string) string { return MessageID(SubagentChannel, "task", callKey) }

// ReportMessage is the ID of the message with a subagent's report.
func ReportMessage(callKey string) string { return MessageID(SubagentChannel, "report", callKey) }

// ConsolidationID names a batch of turns that is taken into a memory.
func ConsolidationID(scope, first, last string) string { return "c" + shortHash(scope, first, last) }

// ConsolidationWorkflowID is the ID of the workflow that consolidates a memory
// scope; without one, of the one that looks for those that need it.
func ConsolidationWorkflowID(scope string) string {
	if scope == "" {
		return "consolidation"
	}
	return "consolidation/" + scope
}

// ShortID is what people are shown of the key of the call that spawned a subagent.
func ShortID(callKey string) string { return shortHash(callKey)[:8] }

// OutboxID is the ID of a turn's reply.
func OutboxID(turn string) string { return "o" + strings.TrimPrefix(turn, "m") }

// CallOutboxID is the ID of what a tool call sends: its text or, from 1, a file.
func CallOutboxID(callKey string, file int) string {
	id := "o" + strings.TrimPrefix(callKey, "m")
	if file > 0 {
		id += fmt.Sprintf(".f%d", file)
	}
	return id
}

// ApprovalID is what people name the question by whether a call may be run.
func ApprovalID(callKey string) string { return shortHash("approval", callKey)[:8] }

// ApprovalOutboxID is the ID of the message that asks it.
func ApprovalOutboxID(callKey string) string { return CallOutboxID(callKey, 0) + ".ask" }

// PartID is the ID of the nth message, from 1, that the one with this outbox ID is
// sent as if it is too long for one: the store makes such rows, and a channel that
// writes a part anew names it the same.
func PartID(outbox string, n int) string { return fmt.Sprintf("%s.%d", outbox, n) }

// CallKey names a tool call for ever: providers repeat or omit their own IDs.
func CallKey(turn string, step, index int) string {
	return fmt.Sprintf("%s.%d.%d", turn, step, index)
}

// escape keeps what people can read, but for the characters that separate.
func escape(part string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(part), "%2F", "/")
	if len(escaped) <= idLimit {
		return escaped
	}
	return escaped[:idLimit/2] + "~" + shortHash(part)
}

// shortHash is 20 characters, 100 bits, of a hash over parts.
func shortHash(parts ...string) string {
	var all strings.Builder
	for _, part := range parts {
		all.WriteString(strconv.Itoa(len(part)) + ":" + part)
	}
	sum := sha256.Sum256([]byte(all.String()))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:20]
}
