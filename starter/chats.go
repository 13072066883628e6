package starter

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// OpenChat implements [channels.Chats].
func (s *Starter) OpenChat(ctx context.Context, request domain.ChatRequest) (domain.Chat, error) {
	return s.o.Store.OpenChat(ctx, request)
}

// AnsweredChat implements [channels.Chats].
func (s *Starter) AnsweredChat(ctx context.Context, session, request, said string) error {
	return s.o.Store.AnsweredChat(ctx, session, request, said)
}

// ReceivedChat implements [channels.Chats].
func (s *Starter) ReceivedChat(ctx context.Context, session, request string) error {
	return s.o.Store.ReceivedChat(ctx, session, request)
}
