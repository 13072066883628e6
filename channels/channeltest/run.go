package channeltest

import (
	"context"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// deadline is generous: it is reached only by what hangs.
const deadline = 20 * time.Second

// Platform is a channel under test and what stands behind it. What only the
// other half of the suite uses may be nil.
type Platform struct {
	// Name is the channel's name, as in [domain.Inbound.Channel].
	Name string
	// Push is whether replies are sent, not fetched.
	Push bool

	Receiver channels.Receiver
	// Deliver has the platform deliver a message once: ID, Chat, Thread, Sender and
	// Text count. Nil means that the channel acknowledged it; it returns an error
	// once it is clear that the channel does not, at the latest when ctx ends.
	Deliver func(ctx context.Context, msg domain.Inbound) error
	// Threads is whether messages can be in threads.
	Threads bool

	Sender channels.Sender
	// Posted returns what is in the platform's chats, in order. ID and Thread may
	// be missing where the platform keeps none.
	Posted func() []domain.Outbound
	// Fail makes the platform refuse the next n posts for now. This and what
	// follows is nil if the platform does not do such things.
	Fail func(n int)
	// LoseResponse makes the platform not answer the next n posts, but keep them.
	LoseResponse func(n int)
	// Close makes a chat permanently unreachable.
	Close func(chat string)
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
