package activities

import (
	"context"
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// reasonLimit bounds, in bytes, what the log quotes of why a turn failed.
const reasonLimit = 200

// turnEnded counts and logs a turn that this activity has ended. Messages are those of the
// turn, and may include others.
func (a *Agent) turnEnded(ctx context.Context, channel string, turn domain.Turn, messages []domain.Message) {
	took := turn.EndedAt.Sub(turn.StartedAt)
	a.Metrics.TurnEnded(channel, turn.Status, took)
	tools := 0
	for _, m := range messages {
		if m.Turn == turn.ID && m.Role == domain.RoleTool && !m.Filled {
			tools++
		}
	}
	attrs := []slog.Attr{
		slog.String("session", turn.Session), slog.String("turn", turn.ID), slog.String("outcome", string(turn.Status)),
		slog.Int("steps", turn.Steps), slog.Int("tools", tools),
		slog.Int("prompt_tokens", turn.PromptTokens), slog.Int("completion_tokens", turn.CompletionTokens),
		slog.String("cost", domain.Dollars(turn.Cost, turn.Unpriced)), slog.String("duration", took.Round(time.Millisecond).String()),
	}
	if turn.Status == domain.TurnFailed {
		attrs = append(attrs, slog.String("reason", text.Cut(text.Line(turn.Reply), reasonLimit)))
	}
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "turn ended", attrs...)
}
