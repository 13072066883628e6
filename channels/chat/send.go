package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// lookBack is how far back a message is looked for if nothing says when it was first sent: a
// delivery is tried for a day, and a machine may be off for a weekend in between.
const lookBack = 14 * 24 * time.Hour

// Send implements [channels.Sender]. The message's draft becomes the message, so that
// a lost answer does no harm, unless something was posted below it since, or an edit of
// it may still take effect: then it is replaced.
func (o *Outbound) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	at := placeOf(msg)
	if id, is := strings.CutPrefix(msg.Draft, uploadMark); is {
		return o.publish(ctx, at, id, msg)
	}
	if msg.Draft == "" || o.editor == nil {
		return o.post(ctx, at, msg)
	}
	replace, err := o.takeOver(ctx, msg.Chat, msg.Draft)
	if err != nil {
		return channels.Sent{}, err
	}
	if replace || msg.Replace || msg.File != "" {
		if err := o.editor.Delete(ctx, at, msg.Draft); err != nil {
			return channels.Sent{}, err
		}
		return o.post(ctx, at, msg)
	}
	err = o.editor.Edit(ctx, at, msg.Draft, o.message(msg))
	switch gone := errors.Is(err, ErrNoMessage); {
	case gone && o.placeholders:
		return channels.Sent{}, fmt.Errorf("%w: %w", channels.ErrNoDraft, err)
	case gone:
		return o.post(ctx, at, msg)
	}
	return channels.Sent{PlatformID: msg.Draft}, err
}

// Placeholder implements [channels.Placeholders]. A draft that stays where it is needs no
// other placeholder; that of a file is its upload.
func (o *Outbound) Placeholder(ctx context.Context, msg domain.Outbound) (string, error) {
	if msg.File != "" {
		return o.upload(ctx, msg)
	}
	if !o.placeholders {
		return "", nil
	}
	at := placeOf(msg)
	if msg.Draft != "" {
		replace, err := o.takeOver(ctx, msg.Chat, msg.Draft)
		if err != nil || !replace && !msg.Replace {
			return "", err
		}
		if err := o.editor.Delete(ctx, at, msg.Draft); err != nil {
			return "", err
		}
	}
	return o.p.Post(ctx, at, Message{ID: msg.ID, Draft: true, Part: max(msg.Part, 1), Text: "…"})
}

func (o *Outbound) post(ctx context.Context, at Place, msg domain.Outbound) (channels.Sent, error) {
	if err := o.space(ctx, at, msg); err != nil {
		return channels.Sent{}, err
	}
	id, err := o.p.Post(ctx, at, o.message(msg))
	o.spacing.posted(at.Chat, o.pace.Part)
	return channels.Sent{PlatformID: id}, err
}

// space waits until a part of a reply may follow the one before it.
func (o *Outbound) space(ctx context.Context, at Place, msg domain.Outbound) error {
	if msg.Part < 2 {
		return nil
	}
	return o.spacing.wait(ctx, o.p.Name(), at.Chat)
}

// message returns an outbound message as the platform is given it.
func (o *Outbound) message(msg domain.Outbound) Message {
	m := Message{ID: msg.ID, Part: max(msg.Part, 1), Text: msg.Text, File: msg.File, Content: msg.Content, Approval: msg.Approval}
	if msg.Ratable {
		m.Rate = msg.Turn
	}
	if msg.Approval == "" {
		return m
	}
	if !o.limits.Buttons {
		m.Text += "\n\n" + channels.HowToAnswer(msg.Approval)
		return m
	}
	m.Buttons = QuestionButtons(msg.Approval)
	return m
}

// QuestionButtons returns the buttons that answer an approval.
func QuestionButtons(approval string) []Button {
	return []Button{{ActionApprove, approval, "Approve"}, {ActionDeny, approval, "Deny"}}
}

func placeOf(msg domain.Outbound) Place {
	return Place{Chat: msg.Chat, Thread: msg.Thread, ReplyTo: msg.ReplyTo}
}

// CloseQuestion implements [channels.Questioner]. It reports false where a message
// cannot be changed.
func (o *Outbound) CloseQuestion(ctx context.Context, msg domain.Outbound, outcome string) (bool, error) {
	if o.editor == nil {
		return false, nil
	}
	err := o.editor.Edit(ctx, placeOf(msg), msg.PlatformID, Message{ID: msg.ID, Text: msg.Text, Note: outcome, Approval: msg.Approval})
	return err == nil, err
}

// TellSender implements [channels.Questioner].
func (o *Outbound) TellSender(ctx context.Context, to domain.Inbound, text string) error {
	w, ok := o.p.(Whisperer)
	if !ok {
		return nil
	}
	return w.Whisper(ctx, Place{Chat: to.Chat, Thread: to.Thread, ReplyTo: to.PlatformID}, to.Sender, text)
}

// Find implements [channels.Finder].
func (o *Outbound) Find(ctx context.Context, msg domain.Outbound) (channels.Found, error) {
	if o.history == nil {
		return channels.Found{}, nil
	}
	after := time.Now().Add(-lookBack)
	if first := msg.FirstClaimedAt.Add(-inFlight); first.After(after) {
		after = first
	}
	posted, err := o.history.History(ctx, placeOf(msg), Query{After: after, ID: msg.ID})
	if err != nil {
		return channels.Found{}, fmt.Errorf("look for the reply: %w", err)
	}
	if id, is := strings.CutPrefix(msg.PlatformID, uploadMark); is {
		return findFile(posted, id), nil
	}
	return find(posted, msg.ID), nil
}
