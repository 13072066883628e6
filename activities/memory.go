package activities

import (
	"context"
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

// rememberFull has the memory take in earlier turns once a session has a window
// full of them. That it fails is no reason to fail the turn: the schedule comes by.
func (a *Agent) rememberFull(ctx context.Context, begun store.Begun) {
	if begun.Turn.Scope == "" || len(begun.History)+1 < a.Window {
		return
	}
	if err := a.Remember(ctx, begun.Turn.Scope); err != nil {
		a.Logger.Warn("consolidation not started, the schedule will", "scope", begun.Turn.Scope, "err", err)
	}
}

// rememberAll has the memory take in what a fresh start leaves behind.
func (a *Agent) rememberAll(ctx context.Context, session string) {
	if a.Memory == nil {
		return
	}
	scopes, err := a.Store.SessionScopes(ctx, session)
	for _, scope := range scopes {
		if err == nil {
			err = a.Remember(ctx, scope)
		}
	}
	if err != nil {
		a.Logger.Warn("consolidation not started, the schedule will", "session", session, "err", err)
	}
}
