package domain

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// idLimit bounds, in bytes, each escaped part of a session key: Temporal rejects
// workflow IDs of more than 1,000 bytes.
const idLimit = 200

// SubagentChannel is the channel of subagents' sessions.
const SubagentChannel = "subagent"

// MessageID derives our ID of a message from the platform's, so that a redelivered
// message gets the same ID. A turn has the ID of the message that began it.
func MessageID(channel, scope, id string) string {
	return "m" + shortHash(channel, scope, id)
}

// SessionKey returns the key of a conversation: channel:chat, or channel:chat:thread.
// Parts are escaped, so a colon inside one cannot make two keys equal; long parts are
// shortened to a hash.
func SessionKey(channel, chat, thread string) string {
	key := escape(channel) + ":" + escape(chat)
	if thread != "" {
		key += ":" + escape(thread)
	}
	return key
}

// SubagentSession returns the session of the subagent that a call spawned.
func SubagentSession(callKey string) string { return SubagentChannel + ":" + callKey }

// SubagentOf returns the key of the call that spawned the subagent of a session.
func SubagentOf(session string) (callKey string, is bool) {
	return strings.CutPrefix(session, SubagentSession(""))
}

// TaskMessage returns the ID of the message that carries a subagent's task.
func TaskMessage(callKey string) string { return MessageID(SubagentChannel, "task", callKey) }

// ReportMessage returns the ID of the message that carries a subagent's report.
func ReportMessage(callKey string) string { return MessageID(SubagentChannel, "report", callKey) }

// JobMessage returns the ID of the message for one occurrence of a job.
func JobMessage(job, occurrence string) string { return MessageID(JobChannel, job, occurrence) }

// ConsolidationID returns the ID of a batch of turns that is consolidated into a memory.
func ConsolidationID(scope, first, last string) string { return "c" + shortHash(scope, first, last) }

// ShortID returns the displayed form of a subagent's call key.
func ShortID(callKey string) string { return shortHash(callKey)[:8] }

// OutboxID returns the ID of a turn's reply.
func OutboxID(turn string) string { return "o" + strings.TrimPrefix(turn, "m") }

// CallOutboxID returns the ID of what a tool call sends: its text or, from 1, a file.
func CallOutboxID(callKey string, file int) string {
	id := "o" + strings.TrimPrefix(callKey, "m")
	if file > 0 {
		id += fmt.Sprintf(".f%d", file)
	}
	return id
}

// ApprovalID returns the ID of the approval of a tool call. People type it.
func ApprovalID(callKey string) string { return shortHash("approval", callKey)[:8] }

// ApprovalOutboxID returns the ID of the message that asks for an approval.
func ApprovalOutboxID(callKey string) string { return CallOutboxID(callKey, 0) + ".ask" }

// PartID returns the ID of the nth part, from 1, of a reply that is sent as several
// messages.
func PartID(outbox string, n int) string { return fmt.Sprintf("%s.%d", outbox, n) }

// CallPosition returns the step and the index of a call, by its key.
func CallPosition(key string) (step, index int) {
	_, position, _ := strings.Cut(key, ".")
	_, _ = fmt.Sscanf(position, "%d.%d", &step, &index)
	return step, index
}

// CallKey identifies a tool call permanently: providers repeat or omit their own IDs.
func CallKey(turn string, step, index int) string {
	return fmt.Sprintf("%s.%d.%d", turn, step, index)
}

// escape keeps a part readable but escapes the separators.
func escape(part string) string {
	escaped := strings.ReplaceAll(url.QueryEscape(part), "%2F", "/")
	if len(escaped) <= idLimit {
		return escaped
	}
	return escaped[:idLimit/2] + "~" + shortHash(part)
}

// shortHash returns 20 characters, 100 bits, of a hash over parts.
func shortHash(parts ...string) string {
	var all strings.Builder
	for _, part := range parts {
		all.WriteString(strconv.Itoa(len(part)) + ":" + part)
	}
	sum := sha256.Sum256([]byte(all.String()))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:20]
}
