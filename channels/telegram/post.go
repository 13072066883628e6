package telegram

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strconv"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Post implements [chat.Platform].
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	if msg.File != "" {
		return p.sendFile(ctx, at, msg)
	}
	if err := p.pacer.Wait(ctx, at.Chat); err != nil {
		return "", err
	}
	var sent sent
	err := p.write(ctx, "sendMessage", at, with(p.to(at, msg), args{"reply_markup": keyboard(at, msg.Buttons)}), msg, &sent)
	return sent.id(), err
}

// sent is the part of a sent message that we read.
type sent struct {
	ID int64 `json:"message_id"`
}

func (s sent) id() string {
	if s.ID == 0 {
		return ""
	}
	return id(s.ID)
}

// Edit implements [chat.Editor]. What only shows progress leaves the pace of a chat to the
// replies.
func (p *platform) Edit(ctx context.Context, at chat.Place, message string, msg chat.Message) error {
	if msg.Draft {
		if err := p.pacer.Wait(ctx, at.Chat); err != nil {
			return err
		}
	}
	err := p.write(ctx, "editMessageText", at, args{"chat_id": at.Chat, "message_id": messageID(message), "reply_markup": keyboard(at, msg.Buttons)}, msg, nil)
	switch {
	case says(err, unmodified...):
		return nil
	case says(err, lostTexts...):
		return fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

// Delete implements [chat.Editor].
func (p *platform) Delete(ctx context.Context, at chat.Place, message string) error {
	err := p.limited(ctx, "messages", at.Chat, func(ctx context.Context) error {
		return p.call(ctx, "deleteMessage", args{"chat_id": at.Chat, "message_id": messageID(message)}, nil)
	})
	if says(err, undeletable...) || says(err, goneTexts...) {
		return nil
	}
	return err
}

// Busy implements [chat.Throttled].
func (p *platform) Busy(at chat.Place) bool { return p.limits.Busy("messages", at.Chat) }

// limited makes a call, unless Telegram asked to wait with such calls: with all that write
// to a chat, or with others of the method.
func (p *platform) limited(ctx context.Context, method, chat string, call func(context.Context) error) error {
	return p.limits.Do(ctx, method, chat, chat != "", call)
}

// to returns where a message goes. In groups the reply quotes what it answers.
func (p *platform) to(at chat.Place, msg chat.Message) args {
	a := args{"chat_id": at.Chat}
	if topic, err := strconv.ParseInt(at.Thread, 10, 64); err == nil {
		a["message_thread_id"] = topic
	}
	if answered := messageID(at.ReplyTo); answered != 0 && msg.Part <= 1 && !isDirect(at.Chat) {
		a["reply_parameters"] = args{"message_id": answered, "allow_sending_without_reply": true}
	}
	return a
}

// numbered matches our IDs of messages: Telegram's, perhaps with the last one of an album or
// the time of an edit.
var numbered = regexp.MustCompile(`^([0-9]{1,18})(?:-[0-9]+)*$`)

// messageID returns Telegram's ID of a message; 0 if it has none, such as a click.
func messageID(of string) int64 {
	found := numbered.FindStringSubmatch(of)
	if found == nil {
		return 0
	}
	n, _ := strconv.ParseInt(found[1], 10, 64)
	return n
}

// with returns parameters with others. Those that are nil are left out.
func with(a, more args) args {
	all := maps.Clone(a)
	maps.Copy(all, more)
	maps.DeleteFunc(all, func(_ string, value any) bool {
		nested, is := value.(args)
		return is && nested == nil
	})
	return all
}

// write makes a call that writes a text: formatted or, if Telegram does not understand that,
// as it is.
func (p *platform) write(ctx context.Context, method string, at chat.Place, a args, msg chat.Message, result any) error {
	formatted, plain := content(msg)
	err := p.migrating(ctx, method, at, with(a, args{"text": formatted, "parse_mode": "HTML", "link_preview_options": args{"is_disabled": true}}), result)
	if says(err, unparsable...) {
		return p.migrating(ctx, method, at, with(a, args{"text": plain, "link_preview_options": args{"is_disabled": true}}), result)
	}
	return err
}

// migrating makes a call for a chat: if that is a group which became a supergroup, with its new
// ID.
func (p *platform) migrating(ctx context.Context, method string, at chat.Place, a args, result any) error {
	return p.limited(ctx, "messages", at.Chat, func(ctx context.Context) error {
		err := p.call(ctx, method, a, result)
		if r, is := errors.AsType[*refusal](err); is && r.migrateTo != 0 {
			return p.call(ctx, method, with(a, args{"chat_id": id(r.migrateTo)}), result)
		}
		return err
	})
}
