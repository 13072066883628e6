package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	// tellEvery limits how often a sender is told that they are not allowed.
	tellEvery = time.Hour
	// tellTimeout bounds notifying them.
	tellTimeout = 30 * time.Second
	// maxTelling bounds concurrent notifications.
	maxTelling = 8
)

// refusal is the reason why a sender is not answered; empty: they are.
type refusal string

const (
	refusedChat   refusal = "the channel is not allowed"
	refusedSender refusal = "the user is not allowed"
)

// access decides who is answered: senders who are on the list or were paired, in chats
// that are on the list or direct.
func (h *handler) access(ctx context.Context, o *Origin) (refusal, error) {
	if !o.Direct && !listed(h.o.Chats, bare(o.Chat)) {
		return refusedChat, nil
	}
	if o.Bot {
		return "", nil
	}
	included, failed := h.o.includes(ctx, h.platform, o)
	if included {
		return "", nil
	}
	if h.pairing != nil {
		paired, err := h.pairing.Paired(ctx, h.platform.Name(), o.Sender)
		if err != nil {
			return "", fmt.Errorf("look up whether the sender is paired: %w", err)
		}
		if paired {
			return "", nil
		}
	}
	if failed != nil {
		return "", fmt.Errorf("look up whether the sender is allowed: %w", failed)
	}
	return refusedSender, nil
}

// LetsIn implements [Inbox].
func (h *handler) LetsIn(ctx context.Context, person string) (bool, error) {
	why, err := h.access(ctx, &Origin{Inbound: domain.Inbound{Sender: person}, Direct: true})
	return why == "", err
}

// includes reports whether the list of users includes the sender of a delivery.
func (a Access) includes(ctx context.Context, p Writer, o *Origin) (bool, error) {
	if o.Outsider {
		a.Users = slices.DeleteFunc(slices.Clone(a.Users), func(entry string) bool { return entry == channels.Anyone })
	}
	return a.includesPerson(ctx, p, o.Sender)
}

// includesPerson reports whether the list of users includes a person, by ID or by what the
// platform knows of them.
func (a Access) includesPerson(ctx context.Context, p Writer, person string) (bool, error) {
	if slices.Contains(a.Users, person) {
		return true, nil
	}
	roster, ok := p.(Roster)
	if !ok {
		return slices.Contains(a.Users, channels.Anyone), nil
	}
	var failed error
	for _, entry := range a.Users {
		included, err := roster.Includes(ctx, entry, person)
		if included {
			return true, nil
		}
		failed = errors.Join(failed, err)
	}
	return false, failed
}

// allowsBot reports whether a bot is answered.
func (h *handler) allowsBot(o *Origin) bool {
	return slices.ContainsFunc(append(o.BotIDs, o.Sender), func(id string) bool { return id != "" && slices.Contains(h.o.Bots, id) })
}

func listed(list []string, id string) bool {
	return slices.Contains(list, channels.Anyone) || slices.Contains(list, id)
}

// bare returns the ID of a chat without the workspace or server, as people know it.
func bare(chat string) string { return chat[strings.LastIndexByte(chat, '/')+1:] }

// refuse logs that a sender is not answered, and occasionally tells them if they expect
// an answer.
func (h *handler) refuse(o *Origin, why refusal, expected bool) {
	chat := bare(o.Chat)
	h.log.Info("sender refused", "why", string(why), "chat", chat, "user_id", o.Sender)
	if o.Bot || !expected && !o.Direct {
		return
	}
	key := chat + "/" + o.Sender
	if !h.told.first(key, tellEvery) {
		return
	}
	started := h.telling.TryGo(func() error {
		ctx, cancel := context.WithTimeout(h.background, tellTimeout)
		defer cancel()
		if err := h.tellRefused(ctx, o, why); err != nil {
			h.told.undo(key)
			h.log.Warn("rejected sender not notified", "user_id", o.Sender, "err", err)
		}
		return nil
	})
	if !started {
		h.told.undo(key)
	}
}

// tellRefused tells a sender why they are not answered; unseen by others if possible.
func (h *handler) tellRefused(ctx context.Context, o *Origin, why refusal) error {
	text, err := h.explanation(ctx, o, why)
	if err != nil {
		return err
	}
	at := Place{Chat: o.Chat, Thread: o.Thread, ReplyTo: o.PlatformID, Person: o.Sender}
	if o.Direct { // nobody else sees it
		at.Thread = o.thread()
	}
	if whisperer, ok := h.platform.(Whisperer); ok {
		return whisperer.Whisper(ctx, at, o.Sender, text)
	}
	_, err = h.platform.Post(ctx, at, Message{Text: text})
	return err
}

// explanation returns what a sender can do to be answered.
func (h *handler) explanation(ctx context.Context, o *Origin, why refusal) (string, error) {
	name := h.platform.Name()
	switch {
	case why == refusedChat:
		words := wordsOf(h.platform)
		return fmt.Sprintf("I don't answer in this %s yet. My operator can add `%s` to `channels.%s.%s`.", words.Group, bare(o.Chat), name, words.allow()), nil
	case !o.Direct || h.pairing == nil:
		return fmt.Sprintf("I don't know you yet, so I may not answer. Send me a direct message to request access, "+
			"or ask my operator to add `%s` to `channels.%s.allow_users`.", o.Sender, name), nil
	}
	if directory, ok := h.platform.(Directory); ok && o.SenderName == "" {
		if who, err := directory.Who(ctx, o.Sender); err == nil { // the name is optional: it is only for the operator
			o.SenderName = who.Name
		}
	}
	code, err := h.pairing.Pair(ctx, name, o.Sender, cmp.Or(o.SenderName, o.Sender))
	if err != nil {
		return "", fmt.Errorf("get a pairing code: %w", err)
	}
	return "I don't know you yet, so I may not answer. Ask my operator to run\n```holdfast pairing approve " + code + "```", nil
}
