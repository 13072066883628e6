package channeltest

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// deadline is generous: only a hanging test reaches it.
const deadline = 20 * time.Second

// Platform is a channel under test with controls of its platform. Fields that only the
// other half of the suite uses may be nil.
type Platform struct {
	// Name is the channel's name, as in [domain.Inbound.Channel].
	Name string
	// Push is whether replies are sent, not fetched.
	Push bool

	Receiver channels.Receiver
	// Deliver delivers a message once, with its ID, Chat, Thread, Sender and Text. It
	// returns nil if the channel acknowledged the message, and an error if it did not, at
	// the latest when ctx ends.
	Deliver func(ctx context.Context, msg domain.Inbound) error
	// Threads is whether messages can be in threads.
	Threads bool

	Sender channels.Sender
	// Posted returns the messages in the platform's chats, in order. ID and Thread may be
	// empty if the platform does not keep them.
	Posted func() []domain.Outbound
	// Fail makes the next n posts fail with a temporary error. It and the following
	// functions are nil if not supported.
	Fail func(n int)
	// LoseResponse drops the responses to the next n posts; the posts are kept.
	LoseResponse func(n int)
	// Close closes a chat permanently.
	Close func(chat string)
	// Limit makes a chat accept n more posts and refuse later ones until somebody writes.
	Limit func(chat string, n int)
}

// Run is [RunReceiver] and [RunSender].
func Run(t *testing.T, open func(t *testing.T) Platform) {
	t.Helper()
	t.Run("receiver", func(t *testing.T) { RunReceiver(t, open) })
	t.Run("sender", func(t *testing.T) { RunSender(t, open) })
}

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	return ctx
}
