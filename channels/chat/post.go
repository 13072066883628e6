package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// post accepts a message if it is for us and its sender is allowed.
func (h *handler) post(ctx context.Context, p *Post) error {
	if why := h.ignored(p); why != "" {
		h.log.Debug("message ignored", "why", why, "chat", p.Chat, "id", p.PlatformID)
		return nil
	}
	addressed, err := h.addressed(ctx, p)
	if err != nil || !addressed {
		return err
	}
	why, err := h.access(ctx, &p.Origin)
	if err != nil {
		return err
	}
	if why != "" {
		h.refuse(&p.Origin, why, p.Mentioned) //nolint:contextcheck // the sender is told in the background
		return nil
	}
	msg := p.Inbound
	msg.Thread, msg.Push = p.thread(), true
	if command, ok := bareCommand(msg.Text); ok && !p.Direct && p.Mentioned {
		msg.Text = command
	}
	if p.Revision != "" {
		return h.revise(ctx, msg, p.Revision)
	}
	return h.accept(ctx, msg)
}

// ignored returns why a message is never answered; empty if it may be.
func (h *handler) ignored(p *Post) string {
	switch {
	case p.Own:
		return "it is our own"
	case p.Bot && !h.allowsBot(&p.Origin):
		return "it is another bot's"
	case p.Text == "" && len(p.Files) == 0:
		return "it is empty"
	}
	return ""
}

// addressed reports whether a message is one that we answer.
func (h *handler) addressed(ctx context.Context, p *Post) (bool, error) {
	respond := respondIn(h.o.RespondIn, p.Chat, h.o.Respond)
	switch {
	case p.Direct, p.Mentioned, respond == RespondAll:
		return true, nil
	case respond != RespondThread || p.Thread == "":
		return false, nil
	case p.Replies:
		return true, nil
	}
	known, err := h.known(ctx, p.Chat, p.Thread)
	if err != nil {
		return false, fmt.Errorf("look up whether the thread is known: %w", err)
	}
	return known, nil
}

// bareCommand returns the command that a whole text is, with or without a slash.
func bareCommand(text string) (command string, ok bool) {
	word := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "/")
	_, known := domain.LookupCommand(domain.Command(word))
	return "/" + word, known
}
