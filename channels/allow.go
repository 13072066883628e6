package channels

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ErrNotAllowed is returned by the backend of [AllowFrom] for a message whose
// sender is not on the list. A channel acknowledges such a message and drops it;
// delivering it again cannot help.
var ErrNotAllowed = errors.New("this sender is not allowed")

// Anyone is the entry of an allow list that lets every sender in.
const Anyone = "*"

// AllowFrom returns next, but for messages of senders that are not in senders:
// those are refused with [ErrNotAllowed]. An entry is the platform's ID of a
// sender, or [Anyone]. An empty list refuses everybody.
func AllowFrom(senders []string, next Backend) Backend {
	if slices.Contains(senders, Anyone) {
		return next
	}
	allowed := make(map[string]bool, len(senders))
	for _, sender := range senders {
		allowed[sender] = true
	}
	return allowList{Backend: next, allowed: allowed}
}

type allowList struct {
	Backend
	allowed map[string]bool
}

// Accept implements [Backend].
func (l allowList) Accept(ctx context.Context, msg domain.Inbound) (Accepted, error) {
	if msg.Sender == "" || !l.allowed[msg.Sender] {
		return Accepted{}, ErrNotAllowed
	}
	return l.Backend.Accept(ctx, msg)
}
