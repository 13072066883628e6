package wechat

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// lastNote is below the last message that WeChat takes.
const lastNote = "\n\n(WeChat takes no more messages until you write again.)"

// maxPace is how long a message waits for its turn; a longer wait is left to the caller.
const maxPace = 5 * time.Second

// Post implements [chat.Platform]. A file is one message, its description another.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	key := msg.Key()
	if msg.ID == "" {
		key = rand.Text()
	}
	if msg.File == "" {
		return p.send(ctx, at, key, func(context.Context, Account) (item, error) { return textItemOf(msg.Text), nil })
	}
	if strings.TrimSpace(msg.Text) != "" {
		if _, err := p.send(ctx, at, key+"-text", func(context.Context, Account) (item, error) { return textItemOf(msg.Text), nil }); err != nil {
			return "", err
		}
	}
	return p.send(ctx, at, key, func(ctx context.Context, account Account) (item, error) { return p.upload(ctx, account, at.Chat, msg) })
}

func textItemOf(text string) item {
	return item{Type: itemText, Text: &textItem{cmp.Or(markdown.Plain(text), text)}}
}

// send sends a message that make makes, unless it was sent in the same window before.
func (p *platform) send(ctx context.Context, at chat.Place, key string, make func(context.Context, Account) (item, error)) (string, error) {
	account, err := p.account(ctx)
	if err != nil {
		return "", err
	}
	if err := p.turn(ctx); err != nil {
		return "", err
	}
	c, err := p.claim(ctx, at.Chat, at.ReplyTo, key)
	if err != nil || c.posted != "" {
		return c.posted, err
	}
	content, err := make(ctx, account)
	if err != nil { // nothing was sent
		return "", errors.Join(p.waiting(ctx, account, err), p.settle(ctx, c, "", &remote.Error{Status: http.StatusConflict, Err: err}))
	}
	if c.last && content.Text != nil {
		content.Text.Text += lastNote
	}
	posted, err := p.sendItem(ctx, account, c, content)
	if err := p.settle(ctx, c, posted, err); err != nil {
		p.o.Logger.Error("a message to WeChat was not recorded, it may be sent again after a crash", "err", err)
	}
	return posted, p.waiting(ctx, account, err)
}

// sendItem makes the call that sends a message.
func (p *platform) sendItem(ctx context.Context, account Account, c claim, content item) (string, error) {
	var answer struct {
		MessageID id `json:"message_id"`
	}
	err := p.limits.Do(ctx, "sendmessage", "", false, func(ctx context.Context) error {
		err := p.client.call(ctx, account, "sendmessage", map[string]any{"msg": map[string]any{
			"from_user_id": "", "to_user_id": c.chat, "client_id": "holdfast-" + c.key, "message_type": fromBot, "message_state": stateFinished,
			"item_list": []item{content}, "context_token": c.Token,
		}}, &answer)
		if errors.Is(err, errRefused) {
			remote.As(err).RetryAfter = p.throttled
		}
		return err
	})
	if c.stale(err) {
		return "", closed("WeChat refuses messages, and the person wrote at " + c.Since.Format(time.RFC3339))
	}
	return cmp.Or(string(answer.MessageID), c.key), err
}

// turn waits until the next message may be sent: WeChat refuses all of them for up to an
// hour after a burst.
func (p *platform) turn(ctx context.Context) error {
	p.mu.Lock()
	now := time.Now()
	wait := max(p.next.Sub(now), 0)
	if wait > maxPace {
		p.mu.Unlock()
		return &remote.Error{Service: Name, Status: http.StatusTooManyRequests, RetryAfter: wait, Err: errors.New("other messages are sent first")}
	}
	p.next = now.Add(wait + p.o.Pause)
	p.mu.Unlock()
	if !chat.Sleep(ctx, wait) {
		return &remote.Error{Service: Name, Status: http.StatusTooManyRequests, Err: ctx.Err()}
	}
	return nil
}
