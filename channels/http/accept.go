package http

import (
	"cmp"
	"context"
	"errors"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// accept checks a message, fills in defaults, and passes it to the backend. It
// continues if the client disconnects or the server shuts down.
func (a *api) accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	msg.Chat, msg.Sender = cmp.Or(msg.Chat, defaultSession), cmp.Or(msg.Sender, DefaultSender)
	err := errors.Join(checkName("id", msg.PlatformID), checkName("session", msg.Chat), checkName("sender", msg.Sender), a.checkText("text", msg.Text))
	if err != nil {
		return channels.Accepted{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTimeout)
	defer cancel()
	return a.backend.Accept(ctx, msg)
}

// message returns the message that a client knows by this ID.
func (a *api) message(ctx context.Context, id string) (domain.Reply, error) {
	state, err := a.backend.Message(ctx, domain.MessageID(Name, "", id))
	state.Message = id
	return state, err
}
