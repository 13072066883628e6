package activities

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// scopeOf returns what names the memory scope of a session's turns; nil without
// memory.
func (a *Agent) scopeOf(session domain.SessionRef) func(domain.Inbound) string {
	if session.Depth > 0 || a.Memory.Files == nil {
		return nil
	}
	return func(first domain.Inbound) string { return a.scope(first).String() }
}

func (a *Agent) scope(in domain.Inbound) memory.Scope {
	return a.Memory.Scope(in.Channel, in.Chat, in.Sender)
}

// memoryPrompt returns the memory section of the system prompt for a turn's sender.
func (a *Agent) memoryPrompt(begun domain.Step) (string, error) {
	if a.Memory.Files == nil || len(begun.Inbound) == 0 {
		return "", nil
	}
	return a.Memory.Files.Prompt(a.scope(begun.Inbound[0]), time.Now())
}

// consolidateFullWindow starts a consolidation once a session's unconsolidated turns
// fill the window. A failure is only logged: the schedule will start it.
func (a *Agent) consolidateFullWindow(ctx context.Context, begun domain.Step) {
	scope := begun.Turn.Scope
	// The history leaves out the rest of a turn that the window cuts off.
	if scope == "" || len(begun.History) < a.Model.Window/2 || a.cooldowns.active(scope) {
		return
	}
	due, err := a.Store.Due(ctx, scope, begun.Turn.Session, a.Model.Window)
	if due {
		err = a.Memory.Consolidate(ctx, scope)
	}
	if err != nil {
		a.Logger.Warn("consolidation not started, the schedule will", "scope", scope, "err", err)
	}
}

// consolidateSession starts the consolidation of a session's memory scopes, after
// /new.
func (a *Agent) consolidateSession(ctx context.Context, session string) {
	if a.Memory.Files == nil {
		return
	}
	scopes, err := a.Store.SessionScopes(ctx, session)
	for _, scope := range scopes {
		if err == nil {
			err = a.Memory.Consolidate(ctx, scope)
		}
	}
	if err != nil {
		a.Logger.Warn("consolidation not started, the schedule will", "session", session, "err", err)
	}
}

const (
	// modelCooldown is the pause after a model failed to consolidate a scope. Each
	// attempt costs money, and the next one would probably fail as well.
	modelCooldown = 6 * time.Hour
	// fileCooldown is the pause after finding a file that a person has to fix.
	// Checking again is free, so the next scheduled run does.
	fileCooldown = 10 * time.Minute
)

// cooldownAfter returns how long to pause a scope after a consolidation failed with
// err; 0 if another attempt may succeed.
func cooldownAfter(err error) time.Duration {
	refused := remote.As(err)
	switch {
	case errors.Is(err, memory.ErrUnusable):
		return fileCooldown
	case errors.Is(err, errAnswer), errors.Is(err, llm.ErrTooLong), refused != nil && refused.Permanent():
		return modelCooldown
	}
	return 0
}

// cooldowns are the memory scopes that this process does not consolidate for now.
// The zero value is ready to use.
type cooldowns struct {
	until sync.Map // scope to time.Time
}

func (c *cooldowns) start(scope string, pause time.Duration) {
	c.until.Store(scope, time.Now().Add(pause))
}

func (c *cooldowns) active(scope string) bool {
	until, found := c.until.Load(scope)
	return found && time.Now().Before(until.(time.Time))
}
