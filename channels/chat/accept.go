package chat

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// acceptedFor is how long an accepted message is remembered. Platforms may deliver the
// same message as two events in quick succession.
const acceptedFor = time.Minute

// handler handles the deliveries of one [Receiver.Run].
type handler struct {
	platform Platform
	o        ReceiverOptions
	backend  channels.Backend
	requests channels.Requests // nil if the backend is none
	pairing  channels.Pairing  // nil if the backend is none
	ratings  channels.Ratings  // nil if the backend is none
	homes    channels.Homes    // nil if the backend is none
	log      *slog.Logger

	accepted throttle  // recently accepted messages
	told     *throttle // senders recently told that they are not allowed

	background context.Context // for notices to people that no caller waits for
	telling    errgroup.Group
}

// accept is store, but drops a message whose ID was used for another text: another delivery
// would not help.
func (h *handler) accept(ctx context.Context, msg domain.Inbound) error {
	err := h.store(ctx, msg)
	if errors.Is(err, domain.ErrConflict) {
		h.log.Warn("message delivered again with different text, keeping the first", "chat", msg.Chat, "id", msg.PlatformID)
		return nil
	}
	return err
}

// revise accepts a version of a message that was edited: as a new request if another version
// was accepted before. Platforms also deliver edits that do not change the text.
func (h *handler) revise(ctx context.Context, msg domain.Inbound, revision string) error {
	err := h.store(ctx, msg)
	if !errors.Is(err, domain.ErrConflict) {
		return err
	}
	msg.PlatformID += fmt.Sprintf("-%s-%d", revision, crc32.ChecksumIEEE([]byte(msg.Text))) // platforms count in seconds
	if command, _ := domain.ParseCommand(msg.Text); command == domain.CommandNone {
		msg.Text = "I edited my message. It now reads:\n\n" + msg.Text
	}
	return h.accept(ctx, msg)
}

// store passes a message to the backend. A message that was just accepted is not
// accepted again: each signal costs its session a workflow task.
func (h *handler) store(ctx context.Context, msg domain.Inbound) error {
	msg.Channel = h.platform.Name()
	key := fmt.Sprintf("%s/%s/%x", msg.Scope, msg.PlatformID, sha256.Sum256([]byte(msg.Text)))
	if h.accepted.recent(key) {
		return nil
	}
	if _, err := h.backend.Accept(ctx, msg); err != nil {
		return fmt.Errorf("accept a message: %w", err)
	}
	h.accepted.first(key, acceptedFor)
	return nil
}

// command accepts a command that was not written as a message.
func (h *handler) command(ctx context.Context, text, id, thread string, by *Origin) error {
	return h.accept(ctx, by.command(text, id, thread))
}

// command returns a command as a message.
func (o *Origin) command(text, id, thread string) domain.Inbound {
	return domain.Inbound{
		Scope: o.Chat, PlatformID: id, Chat: o.Chat, Thread: thread, Sender: o.Sender, SenderName: o.SenderName, Text: text, Push: true,
	}
}

// known reports whether a message was ever accepted in this conversation.
func (h *handler) known(ctx context.Context, chat, thread string) (bool, error) {
	if h.requests == nil {
		return false, nil
	}
	return h.requests.Known(ctx, h.platform.Name(), chat, thread)
}
