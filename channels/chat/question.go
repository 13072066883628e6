package chat

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// question is an approval that a conversation waits for.
type question struct {
	domain.Approval
	thread string
}

// answerIn answers the question of a chat that a command (text) names, or the only one:
// a slash command does not say in which thread it was given. It returns what to tell the
// caller.
func (h *handler) answerIn(ctx context.Context, c *Command, text string) (string, error) {
	waiting, err := h.questions(ctx, c.Chat)
	if err != nil {
		return "", err
	}
	command, id := domain.ParseAnswer(text)
	var meant []question
	for _, q := range waiting {
		if id == "" || q.ID == id {
			meant = append(meant, q)
		}
	}
	switch {
	case len(meant) == 1:
		text := "/" + string(command) + " " + meant[0].ID
		return "The answer is in its thread.", h.command(ctx, text, "command-"+c.PlatformID, meant[0].thread, &c.Origin)
	case len(meant) > 1:
		return "Which one? Add its ID to the command." + list(meant, func(q question) string {
			return fmt.Sprintf("`%s`: `%s`: %s", q.ID, q.Tool, h.preview(q.Title))
		}), nil
	case id != "":
		return fmt.Sprintf("No question with the ID `%[1]s` is waiting in this %[3]s. If it is in a thread, use its buttons, or mention me there with `%[2]s %[1]s`.",
			h.escape(id), command, wordsOf(h.platform).Group), nil
	}
	return "Nothing is waiting for approval here.", nil
}

// questions returns the approvals that the conversations of a chat wait for.
func (h *handler) questions(ctx context.Context, chat string) ([]question, error) {
	unanswered, err := h.unanswered(ctx, chat)
	if err != nil {
		return nil, err
	}
	var found []question
	seen := map[string]bool{}
	for _, w := range unanswered {
		state, err := h.backend.Message(ctx, w.ID)
		if err != nil {
			return nil, fmt.Errorf("look up what a message waits for: %w", err)
		}
		for _, a := range state.Approvals {
			if !seen[a.ID] {
				seen[a.ID] = true
				found = append(found, question{a, w.Thread})
			}
		}
	}
	return found, nil
}

// unanswered returns the requests in a chat that wait for their reply.
func (h *handler) unanswered(ctx context.Context, chat string) ([]domain.Inbound, error) {
	if h.requests == nil {
		return nil, nil
	}
	all, err := h.requests.Unanswered(ctx, h.platform.Name())
	if err != nil {
		return nil, fmt.Errorf("list unanswered messages: %w", err)
	}
	var here []domain.Inbound
	for _, w := range all {
		if command, _ := domain.ParseCommand(w.Text); w.Chat == chat && command == domain.CommandNone {
			here = append(here, w)
		}
	}
	return here, nil
}
