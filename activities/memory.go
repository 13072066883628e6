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

// scopeOf names the scope of a session's turns; nil for those that have no memory.
func (a *Agent) scopeOf(session domain.SessionRef) func(domain.Inbound) string {
	if session.Depth > 0 || a.Memory.Files == nil {
		return nil
	}
	return func(first domain.Inbound) string { return a.scope(first).String() }
}

func (a *Agent) scope(in domain.Inbound) memory.Scope {
	return a.Memory.Scope(in.Channel, in.Chat, in.Sender)
}

// remembered is what the system prompt has of the memory of a turn's sender.
func (a *Agent) remembered(begun domain.Step) (string, error) {
	if a.Memory.Files == nil || len(begun.Inbound) == 0 {
		return "", nil
	}
	return a.Memory.Files.Prompt(a.scope(begun.Inbound[0]), time.Now())
}

// rememberFull has the memory take in earlier turns once a session has a window
// full of them. That it fails is no reason to fail the turn: the schedule comes by.
func (a *Agent) rememberFull(ctx context.Context, begun domain.Step) {
	scope := begun.Turn.Scope
	if scope == "" || len(begun.History)+1 < a.Model.Window || a.rests.on(scope) {
		return
	}
	if err := a.Memory.Consolidate(ctx, scope); err != nil {
		a.Logger.Warn("consolidation not started, the schedule will", "scope", scope, "err", err)
	}
}

// rememberAll has the memory take in what a fresh start leaves behind.
func (a *Agent) rememberAll(ctx context.Context, session string) {
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
	// restTime is how long a memory is left alone after a model that was asked to
	// consolidate it was of no use: each question costs, and it would most likely be
	// of no use again.
	restTime = 6 * time.Hour
	// fileRestTime is that for a file which a person has to put right. To look
	// whether they did costs nothing: the next round of the schedule does.
	fileRestTime = 10 * time.Minute
)

// restAfter is how long a memory is left alone after its consolidation ended with
// err; 0 if another attempt may succeed.
func restAfter(err error) time.Duration {
	refused := remote.As(err)
	switch {
	case errors.Is(err, memory.ErrUnusable):
		return fileRestTime
	case errors.Is(err, errAnswer), errors.Is(err, llm.ErrTooLong), refused != nil && refused.Permanent():
		return restTime
	}
	return 0
}

// rests are the memory scopes that are left alone, as far as this process knows.
type rests struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (r *rests) begin(scope string, rest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[string]time.Time{}
	}
	r.until[scope] = time.Now().Add(rest)
}

func (r *rests) on(scope string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Now().Before(r.until[scope])
}
