package chat

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Inbox takes what a platform delivers. Nil means that a delivery may be acknowledged;
// after an error the platform is to deliver it again.
type Inbox interface {
	// Post takes a message that somebody wrote.
	Post(ctx context.Context, msg domain.Inbound) error
	// Click takes a click on a button.
	Click(ctx context.Context, c Click) error
	// Command takes a command that was not written as a message, and returns what to tell
	// the caller.
	Command(ctx context.Context, msg domain.Inbound) (reply string, err error)
}

// Click is a click on a [Button].
type Click struct {
	Message domain.Inbound // who clicked and where; PlatformID is the click's, the same in a redelivery
	Action  Action
	Value   string
}
