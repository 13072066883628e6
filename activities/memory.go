package activities

import (
	"time"

	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// ScopeFunc says whose memory a message belongs to.
type ScopeFunc func(channel, chat, sender string) memory.Scope

// scopeOf names the scope of a session's turns; nil for those that have no memory.
func (a *Agent) scopeOf(session protocol.SessionRef) func(store.Inbound) string {
	if session.Depth > 0 || a.Memory == nil {
		return nil
	}
	return func(first store.Inbound) string { return a.scope(first).String() }
}

func (a *Agent) scope(in store.Inbound) memory.Scope { return a.Scope(in.Channel, in.Chat, in.Sender) }

// remembered is what the system prompt has of the memory of a turn's sender.
func (a *Agent) remembered(begun store.Begun) (string, error) {
	if a.Memory == nil || len(begun.Inbound) == 0 {
		return "", nil
	}
	return a.Memory.Prompt(a.scope(begun.Inbound[0]), time.Now())
}
