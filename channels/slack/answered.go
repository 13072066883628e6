package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// verdict is how a question stands, in words for its message; empty if it waits still.
func verdict(a *domain.AnsweredApproval) string {
	switch {
	case a == nil:
		return ""
	case a.Status == domain.ApprovalApproved:
		return "Approved by " + mentioned(a.By)
	case a.Status == domain.ApprovalDenied:
		return "Denied by " + mentioned(a.By)
	case a.Status == domain.ApprovalExpired:
		return "Nobody answered in time"
	case a.Status == domain.ApprovalDropped:
		return "Not asked any more"
	}
	return ""
}

// mentioned is who answered (CHANNEL:SENDER) in Slack's markup.
func mentioned(by string) string {
	if id, ours := strings.CutPrefix(by, Name+":"); ours && isUser(id) {
		return "<@" + id + ">"
	}
	return slackutilsx.EscapeMessage(by)
}

// endAnswer shows what came of an answer to a question: the question's message says
// who answered and loses its buttons. Who clicked, and whose answer did not count or
// cannot be shown there, is told so. Whatever fails here, the answer counts, and
// another click shows it.
func (f *follower) endAnswer(ctx context.Context, state domain.Reply) {
	if command, _ := domain.ParseAnswer(f.msg.Text); !isAnswer(command) || state.Text == "" {
		return
	}
	shown := false
	if words := verdict(state.Answered); words != "" {
		shown = f.closeQuestion(ctx, state.Answered.ID, words)
	}
	if f.msg.Push || shown && state.Answered.Counts {
		return
	}
	whole, stop := f.whole(ctx)
	defer stop()
	at := chat.Place{Chat: f.msg.Chat, Thread: f.msg.Thread}
	if err := (platform{f.c}).Whisper(whole, at, f.msg.Sender, withApprovers(state.Text)); err != nil {
		f.c.log.Warn("who answered a question was not told what came of it", "message", f.id, "user_id", f.msg.Sender, "err", err)
	}
}

// closeQuestion replaces the buttons of a question by words. It reports whether the
// question has none any more.
func (f *follower) closeQuestion(ctx context.Context, id, words string) (closed bool) {
	whole, stop := f.whole(ctx)
	defer stop()
	self, err := f.c.Identify(whole)
	var messages []posted
	if err == nil {
		messages, err = f.c.read(whole, span{channel: f.channel, thread: f.msg.Thread, oldest: tsAt(time.Now().Add(-lookBack))})
	}
	if err != nil {
		f.c.log.Debug("looking for a question failed", "channel", Name, "approval", id, "err", err)
		return false
	}
	for _, m := range messages {
		if !m.of(self) || m.Metadata.Type != replyEvent || m.Metadata.Payload["approval"] != id {
			continue
		}
		if closed = f.replaceButtons(ctx, m, words); !closed {
			return false
		}
	}
	return closed
}

// replaceButtons has a question say in words how it stands, unless it does. All else
// stays as Slack has it.
func (f *follower) replaceButtons(ctx context.Context, m posted, words string) bool {
	var parts []slack.Block
	buttons := false
	for _, b := range m.Blocks {
		if b.kind == slack.MBTAction {
			buttons = true
			continue
		}
		parts = append(parts, b)
	}
	if !buttons {
		return true
	}
	parts = append(parts, slack.NewContextBlock("", slack.NewTextBlockObject(slack.MarkdownType, words, false, false)))
	text := cutMarkup(m.Text, textLimit-len(words)-2) + "\n\n" + words
	metadata := slack.SlackMetadata{EventType: m.Metadata.Type, EventPayload: m.Metadata.Payload}
	err := f.try(ctx, "chat.update", func(ctx context.Context) error {
		_, _, _, err := f.c.api.UpdateMessageContext(ctx, f.channel, m.TS,
			slack.MsgOptionText(text, false), slack.MsgOptionBlocks(parts...), slack.MsgOptionMetadata(metadata))
		return err
	})
	return err == nil
}

// postedBlock is a block of a message, as Slack gave it.
type postedBlock struct {
	json.RawMessage
	kind slack.MessageBlockType
}

// UnmarshalJSON implements json.Unmarshaler. It takes anything: most messages are
// not read for their blocks.
func (b *postedBlock) UnmarshalJSON(raw []byte) error {
	var known struct {
		Type slack.MessageBlockType `json:"type"`
	}
	_ = json.Unmarshal(raw, &known)
	b.RawMessage, b.kind = bytes.Clone(raw), known.Type
	return nil
}

// BlockType implements [slack.Block].
func (b postedBlock) BlockType() slack.MessageBlockType { return b.kind }

// ID implements [slack.Block].
func (b postedBlock) ID() string { return "" }
