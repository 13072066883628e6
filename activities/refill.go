package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// refillLimit bounds the messages of one refill.
	refillLimit = 100
	// refillSize bounds their size in the payload, in bytes.
	refillSize = protocol.PayloadLimit - 200
)

// Refill returns the next pending messages of a session whose queue was full. Commands are
// not among them: a session takes them however full its queue is.
func (a *Agent) Refill(ctx context.Context, in protocol.RefillInput) (result protocol.RefillResult, err error) {
	defer recoverPanic(ctx, &err)
	pending, err := a.Store.Pending(ctx, in.Session, in.After, math.MaxInt64, refillLimit)
	if err != nil {
		return result, failure(ctx, ctx, fmt.Errorf("refill the queue: %w", err))
	}
	result.More = len(pending) == refillLimit
	size := 0
	for _, m := range pending {
		if m.Command == domain.CommandNone {
			ref := protocol.NewMessageRef(m)
			encoded, err := json.Marshal(ref)
			if err != nil {
				return result, err
			}
			if size += len(encoded) + 1; size > refillSize && len(result.Messages) > 0 {
				result.More = true
				return result, nil
			}
			result.Messages = append(result.Messages, ref)
		}
		result.Seq = m.Seq
	}
	return result, nil
}
