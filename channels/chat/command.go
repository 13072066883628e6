package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	newAnswer   = "Each thread is a separate conversation. Mention me in a new message to start one, or mention me with `new` in a thread to clear its history."
	idleAnswer  = "I am not working on anything here."
	otherThread = "Each thread is a separate conversation: mention me in it with `%s`."
)

// slash executes a command and returns the response for the caller; empty if the reply
// arrives as a message.
func (h *handler) slash(ctx context.Context, c *Command) (string, error) {
	why, err := h.access(ctx, &c.Origin)
	if err != nil {
		return "", err
	}
	if why != "" {
		h.log.Info("command refused", "why", string(why), "chat", bare(c.Chat), "user_id", c.Sender)
		return h.explanation(ctx, &c.Origin, why)
	}
	command, arguments := domain.ParseCommand("/" + strings.TrimPrefix(strings.TrimSpace(c.Text), "/"))
	if command == domain.CommandNone || command == domain.CommandHelp {
		return h.helpAnswer(), nil
	}
	text := strings.TrimSpace("/" + string(command) + " " + arguments)
	// It is a command of the conversation if we take part in it: where each message opens a
	// thread, the chat itself is none, and a direct chat may be one between others.
	ours, err := h.known(ctx, c.Chat, c.Thread)
	if err != nil {
		return "", fmt.Errorf("look up whether the chat is known: %w", err)
	}
	if ours {
		return "", h.command(ctx, text, "command-"+c.PlatformID, c.Thread, &c.Origin)
	}
	switch command {
	case domain.CommandNew:
		return newAnswer, nil
	case domain.CommandApprove, domain.CommandDeny:
		return h.answerIn(ctx, c, text)
	case domain.CommandStatus, domain.CommandStop:
	default:
		return fmt.Sprintf(otherThread, text), nil
	}
	waiting, err := h.unanswered(ctx, c.Chat)
	if err != nil {
		return "", err
	}
	if command == domain.CommandStatus {
		return h.statusAnswer(waiting), nil
	}
	return h.stopOwn(ctx, c, waiting)
}

// helpAnswer explains how to use the agent and lists the commands.
func (h *handler) helpAnswer() string {
	group := wordsOf(h.platform).Group
	var b strings.Builder
	if group != "" {
		fmt.Fprintf(&b, "Mention me in a %s or send me a direct message. Each thread is a separate conversation.\n", group)
	}
	var names []string
	for _, command := range domain.Commands() {
		fmt.Fprintf(&b, "• `%s`: %s\n", command.Form(h.o.CommandPrefix), command.Description)
		names = append(names, string(command.Name))
	}
	if group != "" {
		fmt.Fprintf(&b, "In a %s, `status` and `stop` apply to the requests made there. "+
			"In a thread, mention me with one of these words alone: `%s`.", group, strings.Join(names, "`, `"))
	}
	return b.String()
}

// stopOwn stops the conversations in which the caller waits for a reply.
func (h *handler) stopOwn(ctx context.Context, c *Command, waiting []domain.Inbound) (string, error) {
	stopped := map[string]bool{}
	for _, w := range waiting {
		thread := w.Thread
		if w.Sender != c.Sender || stopped[thread] {
			continue
		}
		if err := h.command(ctx, "/stop", "stop-"+c.PlatformID+"-"+thread, thread, &c.Origin); err != nil {
			return "", err
		}
		stopped[thread] = true
	}
	switch len(stopped) {
	case 0:
		return "I am not working on anything that you asked for here.", nil
	case 1:
		return "Stopping what you asked for.", nil
	}
	return fmt.Sprintf("Stopping what you asked for in %d threads.", len(stopped)), nil
}

func (h *handler) statusAnswer(waiting []domain.Inbound) string {
	if len(waiting) == 0 {
		return idleAnswer
	}
	return "I am working on:" + list(waiting, func(w domain.Inbound) string {
		return fmt.Sprintf("%s, %s ago: %s", h.mention(w), age(w.SentAt), h.preview(w.Text))
	})
}
