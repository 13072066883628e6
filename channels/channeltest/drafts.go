package channeltest

import (
	"context"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Drafts is a [channels.Drafts] in memory, in which each turn runs until [Drafts.End].
// Safe for concurrent use.
type Drafts struct {
	mu    sync.Mutex
	all   map[string]domain.Draft // by turn
	ended map[string]bool
}

// NewDrafts returns an empty one.
func NewDrafts() *Drafts { return &Drafts{all: map[string]domain.Draft{}, ended: map[string]bool{}} }

// ClaimDraft implements [channels.Drafts].
func (d *Drafts) ClaimDraft(_ context.Context, turn string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, found := d.all[turn]; found || d.ended[turn] {
		return false, nil
	}
	d.all[turn] = domain.Draft{Turn: turn, ClaimedAt: time.Now()}
	return true, nil
}

// Draft implements [channels.Drafts].
func (d *Drafts) Draft(_ context.Context, turn string) (domain.Draft, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	draft, found := d.all[turn]
	if !found {
		return domain.Draft{}, domain.ErrNotFound
	}
	return draft, nil
}

// PostedDraft implements [channels.Drafts].
func (d *Drafts) PostedDraft(_ context.Context, turn, platformID string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	draft, found := d.all[turn]
	if !found || draft.Taken {
		return false, nil
	}
	draft.PlatformID = platformID
	d.all[turn] = draft
	return true, nil
}

// DropDraft implements [channels.Drafts].
func (d *Drafts) DropDraft(_ context.Context, turn string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.all, turn)
	return nil
}

// Take has the turn's reply take its draft over, and returns where that is; empty if
// it does not exist or its place is unknown.
func (d *Drafts) Take(turn string) (platformID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended[turn] = true
	draft := d.all[turn]
	draft.Taken = true
	d.all[turn] = draft
	return draft.PlatformID
}

// End ends a turn: its draft can no longer be claimed.
func (d *Drafts) End(turn string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended[turn] = true
}
