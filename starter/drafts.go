package starter

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
)

// ClaimDraft implements [channels.Drafts].
func (s *Starter) ClaimDraft(ctx context.Context, message string) (reply string, err error) {
	failpoint.Hit("draft.start")
	claimed, err := s.o.Store.ClaimDraft(ctx, message)
	if err != nil || !claimed {
		return "", err
	}
	failpoint.Hit("draft.claimed")
	return domain.OutboxID(message), nil
}

// PostedDraft implements [channels.Drafts].
func (s *Starter) PostedDraft(ctx context.Context, message, platformID string) (bool, error) {
	failpoint.Hit("draft.posted")
	kept, err := s.o.Store.PostedDraft(ctx, message, platformID)
	failpoint.Hit("draft.stored")
	return kept, err
}

// DropDraft implements [channels.Drafts].
func (s *Starter) DropDraft(ctx context.Context, message string) error {
	return s.o.Store.DropDraft(ctx, message)
}

// StaleDrafts implements [channels.Drafts].
func (s *Starter) StaleDrafts(ctx context.Context, channel string) ([]channels.Draft, error) {
	rows, err := s.o.Store.StaleDrafts(ctx, channel)
	if err != nil {
		return nil, fmt.Errorf("look for drafts left behind: %w", err)
	}
	drafts := make([]channels.Draft, len(rows))
	for i, row := range rows {
		drafts[i] = channels.Draft{
			Message: row.Turn, Reply: row.Reply(), PlatformID: row.PlatformID, Chat: row.Chat, Thread: row.Thread, ClaimedAt: row.ClaimedAt,
		}
	}
	return drafts, nil
}
