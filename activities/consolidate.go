package activities

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	batchLimit = 200 // messages of one consolidation
	// consolidationTries bounds the requests for a valid answer, and how often a memory is
	// read again because it changed in the meantime.
	consolidationTries = 3
	// consolidationTokens limits the answer, which contains the whole memory.
	consolidationTokens = 16_384
	badAnswerLimit      = 4 << 10 // bytes of an invalid answer that the next request quotes
)

// errAnswer reports that all answers of the model were invalid.
var errAnswer = errors.New("the model gave no valid answer")

// Consolidate merges one batch of a scope's earlier turns into its memory. Without a scope
// it starts the consolidation of each scope that is due.
func (a *Agent) Consolidate(ctx context.Context, in protocol.ConsolidateInput) (result protocol.ConsolidateResult, err error) {
	defer recoverPanic(ctx, &err)
	live, done := startHeartbeat(ctx)
	defer done()
	if in.Scope == "" {
		err = a.consolidateDue(live)
	} else {
		result.More, err = a.consolidate(live, in.Scope)
	}
	a.cooldowns.start(in.Scope, cooldownAfter(err))
	if errors.Is(err, errAnswer) || errors.Is(err, memory.ErrUnusable) {
		return result, nonRetryable(protocol.ErrorInvalid, err.Error())
	}
	return result, failure(ctx, live, err)
}

func (a *Agent) consolidateDue(ctx context.Context) error {
	scopes, err := a.Store.DueScopes(ctx, a.Model.Window)
	for _, scope := range scopes {
		if a.cooldowns.active(scope) {
			continue
		}
		if failed := a.Memory.Consolidate(ctx, scope); failed != nil {
			err = errors.Join(err, fmt.Errorf("consolidate %s: %w", scope, failed))
		}
	}
	return err
}

// consolidate consolidates one batch, halved until it fits the model. It stores the
// model's answer before touching any file, so that a retry repeats the same changes.
func (a *Agent) consolidate(ctx context.Context, name string) (more bool, err error) {
	scope, err := memory.ParseScope(name)
	if err != nil {
		return false, err
	}
	limit := batchLimit
	for {
		batch, found, err := a.Store.NextBatch(ctx, name, a.Model.Window, limit)
		if err != nil || !found {
			return false, err
		}
		err = a.consolidateBatch(ctx, scope, batch)
		if errors.Is(err, llm.ErrTooLong) && len(batch.Turns) > 1 {
			limit = max(len(batch.Messages)/2, 1)
			continue
		}
		return err == nil, err
	}
}

func (a *Agent) consolidateBatch(ctx context.Context, scope memory.Scope, batch store.Batch) error {
	for range consolidationTries {
		c, err := a.consolidation(ctx, scope, batch)
		if err != nil {
			return err
		}
		failpoint.Hit("consolidate.stored")
		err = a.Memory.Files.Update(ctx, scope, c.Base, c.Memory)
		if errors.Is(err, memory.ErrChanged) {
			if err := a.askToConsolidate(ctx, scope, batch); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("write the memory: %w", err)
		}
		failpoint.Hit("consolidate.written")
		last := batch.Messages[len(batch.Messages)-1]
		if err := a.Memory.Files.AppendHistory(ctx, scope, batch.ID, c.Entry, last.CreatedAt.In(time.Local)); err != nil {
			return fmt.Errorf("write the history: %w", err)
		}
		failpoint.Hit("consolidate.logged")
		return a.Store.MarkConsolidated(ctx, batch.Turns)
	}
	return fmt.Errorf("write the memory: %w", memory.ErrChanged)
}

// consolidation returns the model's answer for a batch, stored or new.
func (a *Agent) consolidation(ctx context.Context, scope memory.Scope, batch store.Batch) (store.Consolidation, error) {
	stored, err := a.Store.Consolidation(ctx, batch.ID)
	if !errors.Is(err, domain.ErrNotFound) {
		return stored, err
	}
	if err := a.askToConsolidate(ctx, scope, batch); err != nil {
		return store.Consolidation{}, err
	}
	return a.Store.Consolidation(ctx, batch.ID)
}

// askToConsolidate asks the model for the new memory, given a batch and the current
// memory, and stores the answer.
func (a *Agent) askToConsolidate(ctx context.Context, scope memory.Scope, batch store.Batch) error {
	current, base, err := a.Memory.Files.Read(ctx, scope)
	if err != nil {
		return fmt.Errorf("read the memory: %w", err)
	}
	messages := []domain.Message{
		{Role: domain.RoleSystem, Content: "You maintain an assistant's memory. Answer only by calling the tool save_memory."},
		{Role: domain.RoleUser, Content: memory.Request(current, batch.Messages, time.Local)},
	}
	var refusal error
	for range consolidationTries {
		started := time.Now()
		response, err := a.callModel(ctx, a.Model.Model, llm.Request{
			Messages: messages, Tools: []llm.ToolSpec{memory.Tool()}, MaxTokens: max(a.Model.MaxTokens, consolidationTokens),
		}, nil)
		if err != nil {
			return fmt.Errorf("ask the model to consolidate: %w", err)
		}
		entry, update, bad := parseConsolidation(response, current)
		if bad == nil {
			c, call := store.Consolidation{
				ID: batch.ID, Scope: batch.Scope, Session: batch.Session, Entry: entry, Memory: update, Base: base,
			}, a.completion(response, started)
			return save(ctx, func(ctx context.Context) error { return a.Store.SaveConsolidation(ctx, c, call) })
		}
		refusal = bad
		messages = append(messages, domain.Message{Role: domain.RoleAssistant, Content: text.Cut(said(response), badAnswerLimit)},
			domain.Message{Role: domain.RoleUser, Content: "Invalid answer: " + bad.Error() + ". Answer again, with save_memory."})
	}
	return fmt.Errorf("%w: %w", errAnswer, refusal)
}

// parseConsolidation parses a model's answer. It rejects truncated answers and those that
// would drop most of the memory or make it too long for the next consolidation.
func parseConsolidation(response llm.Response, current string) (entry, update string, err error) {
	if response.FinishReason == finishLength {
		return "", "", errors.New("it was truncated at the token limit; be shorter")
	}
	if entry, update, err = memory.ParseAnswer(said(response)); err != nil {
		return "", "", err
	}
	if len(update) >= memory.Limit {
		return "", "", fmt.Errorf("memory_update is longer than %d KB; shorten it", memory.Limit>>10)
	}
	before, after := utf8.RuneCountInString(current), utf8.RuneCountInString(update)
	if after > 0 && before > shrinkFrom && after < before/shrinkTo {
		return "", "", fmt.Errorf("memory_update has %d characters, but the memory has %d; give the whole memory, including the changes", after, before)
	}
	return entry, update, nil
}

const (
	// A memory longer than shrinkFrom characters must keep at least 1/shrinkTo of
	// them.
	shrinkFrom = 400
	shrinkTo   = 4
)

// said returns the text of a model's answer: the arguments of its first call or the content.
func said(response llm.Response) string {
	if len(response.ToolCalls) > 0 {
		return response.ToolCalls[0].Arguments
	}
	if response.Content == "" {
		return "(nothing)"
	}
	return response.Content
}
