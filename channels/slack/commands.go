package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	maxListed   = 10 // requests in an answer: Slack drops acknowledgements of 20 KB
	maxPreview  = 80 // characters of a request
	newAnswer   = "Each thread is a conversation of its own: mention me in a new message to begin one, or mention me with `new` in a thread to forget what was said there."
	idleAnswer  = "I am not working on anything here."
	otherAnswer = "I belong to another workspace."
)

// bareCommand returns the command that a whole text is, with or without a slash.
func bareCommand(text string) (command string, ok bool) {
	word := strings.TrimPrefix(strings.ToLower(strings.TrimSpace(text)), "/")
	_, known := domain.LookupCommand(domain.Command(word))
	return "/" + word, known
}

// helpAnswer says how to get to work, and the commands.
func helpAnswer() string {
	var b strings.Builder
	b.WriteString("Mention me in a channel, or send me a direct message, and I get to work. Each thread is a conversation of its own.\n")
	var words []string
	for _, command := range domain.Commands() {
		fmt.Fprintf(&b, "• `%s`: %s\n", command.Form("/holdfast "), command.Description)
		words = append(words, string(command.Name))
	}
	fmt.Fprintf(&b, "In a channel, `status` and `stop` are about what was asked for there. "+
		"In a thread, mention me with one of these words alone: `%s`.", strings.Join(words, "`, `"))
	return b.String()
}

// threadAnswer says where a command belongs that is about one conversation.
func threadAnswer(command string) string {
	return fmt.Sprintf("Each thread is a conversation of its own: mention me in it with `%s`.", command)
}

// slash is a slash command.
type slash struct {
	Text      string `json:"text"`
	ChannelID string `json:"channel_id"`
	UserID    string `json:"user_id"`
	UserName  string `json:"user_name"`
	TeamID    string `json:"team_id"`
	TriggerID string `json:"trigger_id"`
}

func (r *receiver) readCommand(payload []byte) (job, error) {
	var s slash
	if err := json.Unmarshal(payload, &s); err != nil {
		return job{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	if s.ChannelID == "" || s.UserID == "" || s.TriggerID == "" {
		return job{}, fmt.Errorf("%w: a command without channel, user or trigger", errMalformed)
	}
	self, err := r.known()
	if err != nil {
		return job{}, err
	}
	chat := chatOf(self.TeamID, s.ChannelID)
	return job{lane: lane(chat, ""), do: func(ctx context.Context) (any, error) {
		if s.TeamID != self.TeamID {
			return ephemeral(otherAnswer), nil
		}
		text, err := r.answer(ctx, s, chat)
		if err != nil || text == "" {
			return nil, err
		}
		return ephemeral(text), nil
	}}, nil
}

// ephemeral is the payload of an acknowledgement that only the caller sees.
func ephemeral(text string) any {
	return map[string]string{"response_type": "ephemeral", "text": text}
}

// answer does what a slash command says and returns what to tell the caller; empty
// if the reply comes as a message.
func (r *receiver) answer(ctx context.Context, s slash, chat string) (string, error) {
	by := asker{channel: s.ChannelID, direct: isDirect(s.ChannelID), user: s.UserID, name: s.UserName}
	why, err := r.access(ctx, by)
	if err != nil {
		return "", err
	}
	if why != "" {
		r.log.Info("command refused", "why", string(why), "channel_id", by.channel, "user_id", by.user)
		return r.explanation(ctx, by, why)
	}
	command, arguments := domain.ParseCommand("/" + strings.TrimPrefix(strings.TrimSpace(s.Text), "/"))
	if command == domain.CommandNone || command == domain.CommandHelp {
		return helpAnswer(), nil
	}
	text := strings.TrimSpace("/" + string(command) + " " + arguments)
	if by.direct {
		// A direct message between others has the same kind of ID, and the command may
		// be given there too.
		ours, err := r.b.Known(ctx, Name, chat, "")
		if err != nil {
			return "", fmt.Errorf("look whether the chat is known: %w", err)
		}
		if ours {
			return "", r.order(ctx, text, "command-"+s.TriggerID, chat, "", by)
		}
	}
	switch command {
	case domain.CommandNew:
		return newAnswer, nil
	case domain.CommandApprove, domain.CommandDeny:
		return r.decideIn(ctx, s, chat, text, by)
	case domain.CommandStatus, domain.CommandStop:
	default:
		return threadAnswer(text), nil
	}
	waiting, err := r.waitingIn(ctx, chat)
	if err != nil {
		return "", err
	}
	if command == domain.CommandStatus {
		return statusAnswer(waiting), nil
	}
	return r.stopOwn(ctx, s.TriggerID, waiting, by)
}

// waitingIn returns the requests in a chat whose reply is still to come.
func (r *receiver) waitingIn(ctx context.Context, chat string) ([]domain.Inbound, error) {
	all, err := r.b.Unanswered(ctx, Name)
	if err != nil {
		return nil, fmt.Errorf("list what is unanswered: %w", err)
	}
	var here []domain.Inbound
	for _, w := range all {
		if command, _ := domain.ParseCommand(w.Text); w.Chat == chat && command == domain.CommandNone {
			here = append(here, w)
		}
	}
	return here, nil
}

// stopOwn stops the conversations in which a reply to the caller is still to come.
func (r *receiver) stopOwn(ctx context.Context, trigger string, waiting []domain.Inbound, by asker) (string, error) {
	stopped := map[string]bool{}
	for _, m := range waiting {
		if m.Sender != by.user || stopped[m.Thread] {
			continue
		}
		if err := r.order(ctx, "/stop", "stop-"+trigger+"-"+m.Thread, m.Chat, m.Thread, by); err != nil {
			return "", err
		}
		stopped[m.Thread] = true
	}
	switch len(stopped) {
	case 0:
		return "I am not working on anything that you asked for here.", nil
	case 1:
		return "Stopping what you asked for.", nil
	}
	return fmt.Sprintf("Stopping what you asked for in %d threads.", len(stopped)), nil
}

func statusAnswer(waiting []domain.Inbound) string {
	if len(waiting) == 0 {
		return idleAnswer
	}
	lines := []string{"I am working on:"}
	for i, m := range waiting {
		if i == maxListed {
			lines = append(lines, fmt.Sprintf("… and %d more", len(waiting)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("• <@%s>, %s ago: %s", m.Sender, age(m.SentAt), slackutilsx.EscapeMessage(preview(m.Text))))
	}
	return strings.Join(lines, "\n")
}

// preview is the beginning of a text on one line.
func preview(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= maxPreview {
		return text
	}
	return string([]rune(text)[:maxPreview]) + "…"
}

func age(since time.Time) string {
	passed := max(0, time.Since(since))
	if passed < time.Minute {
		return passed.Truncate(time.Second).String()
	}
	return strings.TrimSuffix(passed.Truncate(time.Minute).String(), "0s")
}
